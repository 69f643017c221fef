/** A provider of each format behind one address, which says what a test has it say, in its own format, signed with its own proofs. */
import type { CatalogFile } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'
import { FORMAT_NAMES } from '@/chat/format-name'
import type { Signature } from '@/chat/request'
import type { AnswerBlock, ChatResponse } from '@/chat/response'
import { unfold } from '@/chat/unfold'
import type { Format } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'

/** Sells `svc/{format}` for each format. */
export function sellAllFormats(file: CatalogFile): void {
  const root = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
  const [alpha] = file.models
  for (const format of FORMAT_NAMES) {
    const version = format === 'chat-completions' || format === 'responses' ? '/v1' : ''
    file.providers[format] = { ...file.providers.provider1, format, baseUrl: `${root}/${format}${version}` }
    file.models.push({ ...alpha, id: `svc/${format}`, targets: [{ provider: format, model: format }] })
  }
}

/** Who is asked, and what it signs with. */
type Speaker = { format: Format; signature: Signature }

/** What the called provider answers: `say` in its own format, as a stream where one is asked for. */
export function answerAs(call: UpstreamCall, say: (speaker: Speaker) => AnswerBlock[]): Response {
  const { path, body } = call
  const name = FORMAT_NAMES.find((format) => path.startsWith(`/${format}/`))
  const format = name && FORMATS.get(name)
  assert(format && name, 'a known provider is asked')
  const signature = { format: name, value: name === 'responses' ? 'rs_own:proof' : 'cHJvb2Y=' }
  const content = say({ format, signature })
  const calls = content.some((block) => block.type === 'tool-call')
  const response: ChatResponse = {
    ...{ id: 'answer-1', created: 1_760_000_000, model: name },
    usage: { uncached: 10, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 20, reasoning: 5 },
    choices: [{ index: 0, finish: { kind: calls ? 'tool-calls' : 'stop' }, content }],
  }
  const context = {
    ...{ id: 'answer-1', model: name, created: 1_760_000_000, estimatedInputTokens: 10 },
    ...{ wantsUsage: true, wantsReasoning: true, wantsEncryptedReasoning: true },
  }
  if (!body.stream && !path.includes('streamGenerateContent')) {
    return Response.json(format.encodeResponse(response, context))
  }
  const encoder = format.createStreamEncoder(context)
  const events = unfold(response).filter(({ type }) => type !== 'end')
  const frames = [...events.flatMap((event) => encoder.push(event)), ...encoder.end()]
  const { framing } = format
  const text = frames.map((frame, index) => framing.format(frame, index)).join('')
  // An encoder of ours has told the id of a thought before it knows the proof, which it then marks; a provider's own is bare.
  const bare = text.replace(/"encrypted_content":"svc1\.[^"]*"/g, '"encrypted_content":"proof"')
  return new Response(framing.open + bare + framing.close, { headers: { 'content-type': framing.contentType } })
}
