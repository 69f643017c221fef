/** What the tests of this format's client side share: the context of an answer, and streams as they are written. */
import type { ChatEvent } from '@/chat/event'
import { type Usage, ZERO_USAGE } from '@/chat/usage'
import type { AnswerContext } from '@/formats/format'
import { decodeRequest } from '@/formats/responses/client-side/decode-request'
import { createStreamEncoder } from '@/formats/responses/client-side/encode-stream'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import type { Frame } from '@/lib/streams/sse'

export const CONTEXT: AnswerContext = {
  id: 'req_1',
  model: 'svc/alpha',
  created: 1_760_000_001,
  wantsUsage: true,
  wantsReasoning: true,
  wantsEncryptedReasoning: true,
  estimatedInputTokens: 5,
  answerEcho: { id: 'resp_1', store: false, tools: [] },
}

/** Usage in which only `counts` is not zero. */
export function usageOf(counts: Partial<Usage>): Usage {
  return { ...ZERO_USAGE, ...counts }
}

/** What the request `body` has the answer's encoder know. */
export function contextFor(body: JsonObject): AnswerContext {
  const { toolOrigins, answerEcho, reasoning } = decodeRequest({ model: 'svc/alpha', input: 'Hi', ...body })
  return {
    ...CONTEXT,
    ...(toolOrigins && { toolOrigins }),
    ...(answerEcho && { answerEcho }),
    wantsReasoning: reasoning?.visible ?? false,
  }
}

/** The events of a stream that ends well. */
export function encodeEvents(events: readonly ChatEvent[], context = CONTEXT): JsonObject[] {
  const encoder = createStreamEncoder(context)
  return [...events.flatMap((event) => encoder.push(event)), ...encoder.end()].map(readFrame)
}

/** One event, which must have the name of its type. */
export function readFrame({ event, data }: Frame): JsonObject {
  const json = parseJson(data)
  assert(isJsonObject(json), 'an event is an object')
  assert(json.type === event, 'an event has the name of its type')
  return json
}

export const START: ChatEvent = { type: 'start', id: 'x', model: 'm', created: 1 }
