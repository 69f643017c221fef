/** The sandbox's embeddings: equal for equal texts, similar for texts that share words. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

const USUAL_DIMENSIONS = 256
const MAX_DIMENSIONS = 4096
const CHARACTERS_PER_TOKEN = 4
const BATCH_PATH = /\/models\/.+:batchEmbedContents$/

/** Answers embeddings requests like a chat-completions provider. */
export async function answerEmbeddings(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const body = await readBody(request)
  const inputs = textsOf(body.input)
  const vectors = inputs.map((text) => simulateVector(text, body.dimensions))
  const tokens = countTokens(inputs)
  send(response, {
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: body.encoding_format === 'base64' ? pack(vector) : vector,
    })),
    model: body.model ?? '',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  })
  return true
}

/** Answers batches like a generate-content provider. False for any other request, which is not touched. */
export async function answerBatch(
  request: IncomingMessage,
  response: ServerResponse,
  pathname: string,
): Promise<boolean> {
  if (!BATCH_PATH.test(pathname)) return false
  const { requests } = await readBody(request)
  const all = Array.isArray(requests) ? requests.filter(isJsonObject) : []
  const texts = all.map(({ content }) => JSON.stringify(isJsonObject(content) ? content.parts : ''))
  const embeddings = all.map((one, index) => ({
    values: simulateVector(texts[index] ?? '', one.outputDimensionality),
  }))
  send(response, { embeddings, usageMetadata: { promptTokenCount: countTokens(texts) } })
  return true
}

/** A vector of length 1: the normalised sum of one fixed vector per word. */
function simulateVector(text: string, dimensions: unknown): number[] {
  const length = typeof dimensions === 'number' ? Math.min(Math.max(1, dimensions), MAX_DIMENSIONS) : USUAL_DIMENSIONS
  const sum = new Array<number>(length).fill(0)
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]
  for (const word of words) addWord(sum, word)
  const size = Math.hypot(...sum)
  return sum.map((value) => Math.fround(value / size))
}

function addWord(sum: number[], word: string): void {
  let digest = createHash('sha256').update(word).digest()
  for (const place of sum.keys()) {
    if (place > 0 && place % digest.length === 0) digest = createHash('sha256').update(digest).digest()
    // No byte minus 127.5 is zero, so no word's vector is zero.
    sum[place] = (sum[place] ?? 0) + (digest[place % digest.length] ?? 0) - 127.5
  }
}

function textsOf(input: JsonValue | undefined): string[] {
  if (!Array.isArray(input)) return [String(input ?? '')]
  if (typeof input[0] === 'number') return [input.join(' ')]
  return input.map((item) => (Array.isArray(item) ? item.join(' ') : String(item)))
}

function countTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(text.length / CHARACTERS_PER_TOKEN), 0)
}

function pack(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = parseJson(Buffer.concat(chunks).toString())
  return isJsonObject(body) ? body : {}
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
