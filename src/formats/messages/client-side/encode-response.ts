/** Encodes a complete answer as a message of the messages format. */
import type { ChatResponse } from '@/chat/response'
import type { AnswerContext } from '@/formats/format'
import { type Emitted, encodeFinishReason, type StopFields } from '@/formats/messages/finish-reason'
import { createToolIds } from '@/formats/messages/tool-calls'
import { encodeEstimate, encodeUsage } from '@/formats/messages/usage'
import type { JsonObject } from '@/lib/json'
import { encodeBlock } from './encode-content'

/** Prefix of our ids, such as `req_`; this format's ids begin with `msg_`. */
const PREFIX = /^[a-z]+_/

/** Only the first choice is sent. An answer may have no content. */
export function encodeResponse(response: ChatResponse, context: AnswerContext): JsonObject {
  const choice = response.choices[0]
  const emitted: Emitted = { hasToolCalls: false, hasRefusal: false }
  const newId = createToolIds()
  const content = (choice?.content ?? []).flatMap((block) => {
    emitted.hasToolCalls ||= block.type === 'tool-call'
    emitted.hasRefusal ||= block.type === 'refusal'
    return encodeBlock(block, newId, context)
  })
  const stop = encodeFinishReason(choice?.finish ?? { kind: 'stop' }, emitted)
  return encodeMessage(
    context,
    content,
    stop,
    response.usage ? encodeUsage(response.usage) : encodeEstimate(context.estimatedInputTokens),
  )
}

/** A whole message, or the empty message at a stream's start (`stop` undefined). */
export function encodeMessage(
  context: AnswerContext,
  content: JsonObject[],
  stop: StopFields | undefined,
  usage: JsonObject,
): JsonObject {
  return {
    id: `msg_${context.id.replace(PREFIX, '')}`,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content,
    stop_reason: stop?.stop_reason ?? null,
    stop_sequence: stop?.stop_sequence ?? null,
    stop_details: null,
    container: null,
    usage,
  }
}
