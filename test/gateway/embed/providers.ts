/** Providers of embeddings for tests: vectors that tell which input they belong to, in the words of either format. */
import type { CatalogFile } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'

/** The vector of an input: its length (or first token), and something that 32 bits do not hold exactly. */
export function vectorOf(input: unknown): number[] {
  const first = Array.isArray(input) ? Number(input[0]) : String(input).length
  return [first, 0.1, -1 / 3]
}

type CompatibleOptions = { usage?: object | null; encoding?: 'float' | 'base64'; drop?: number }

/** What a provider like OpenAI answers, in the encoding that it was asked for unless told otherwise. */
export function compatibleAnswer({ body }: UpstreamCall, options: CompatibleOptions = {}): Response {
  const { usage = { prompt_tokens: 7, total_tokens: 7 }, drop = 0 } = options
  const input = body.input as unknown
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
  const isPacked = (options.encoding ?? body.encoding_format) === 'base64'
  const data = inputs.slice(drop).map((one, index) => {
    const vector = vectorOf(one)
    return { object: 'embedding', index, embedding: isPacked ? packed(vector) : vector }
  })
  return Response.json({ object: 'list', data, model: body.model, ...(usage && { usage }) })
}

/** What a provider like Gemini answers. */
export function geminiAnswer({ body }: UpstreamCall, promptTokenCount?: number): Response {
  const requests = body.requests as { content: { parts: { text: string }[] } }[]
  const embeddings = requests.map(({ content }) => ({
    values: vectorOf(content.parts.map(({ text }) => text).join('')),
  }))
  return Response.json({ embeddings, ...(promptTokenCount !== undefined && { usageMetadata: { promptTokenCount } }) })
}

/** Answers in the words of whichever format was spoken. */
export function answerEither(call: UpstreamCall): Response {
  return call.path.includes(':batchEmbedContents') ? geminiAnswer(call, 5) : compatibleAnswer(call)
}

/** The base64 of little-endian 32-bit floats. */
export function packed(vector: readonly number[]): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [index, value] of vector.entries()) bytes.setFloat32(index * 4, value, true)
  return Buffer.from(bytes.buffer).toString('base64')
}

/** Adds two providers and the models that embed: at 1 USD per 1,000,000 tokens, which is 1,000 nano-USD a token. */
export function sellEmbeddings(file: CatalogFile): void {
  const own = file.providers.provider1 ?? {}
  file.providers.provider3 = {
    ...own,
    format: 'generate-content',
    baseUrl: String(own.baseUrl).replace(/\/v1$/, ''),
    keys: ['gemini-secret-canary'],
  }
  file.providers.spare = { ...own, keys: ['spare-secret-canary'] }
  const common = { kind: 'embedding', created: 1_760_000_000, contextLength: 8192, tokenizerSafetyFactor: 1.5 }
  const pricing = { inputPer1mTokens: 1, costPer1mInputTokens: 0.5 }
  const models = [
    { id: 'svc/embed', targets: ['provider1'] },
    { id: 'svc/embed-gemini', targets: ['provider3'] },
    { id: 'svc/embed-two', targets: ['provider1', 'spare'] },
    { id: 'svc/embed-either', targets: ['provider3', 'provider1'] },
  ]
  for (const { id, targets } of models) {
    file.models.push({
      ...{ id, name: id, ownedBy: 'provider1', pricing, ...common },
      targets: targets.map((provider) => ({ provider, model: `${provider}-embedder` })),
    })
  }
}
