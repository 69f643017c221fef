/** An answer of the hub as a complete message of the messages format. */
import type { ChatResponse } from '@/chat/response'
import type { AnswerContext } from '@/formats/format'
import { type Emitted, encodeFinishReason, type StopFields } from '@/formats/messages/finish-reason'
import { createToolIds } from '@/formats/messages/tool-calls'
import { encodeEstimate, encodeUsage } from '@/formats/messages/usage'
import type { JsonObject } from '@/lib/json'
import { encodeBlock } from './encode-content'

/** What ids of ours begin with, e.g. `req_`; this format's say `msg_`. */
const PREFIX = /^[a-z]+_/

/** The format knows one choice: the first. An answer without content is legal. */
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

/** A whole message, or the empty one that opens a stream (`stop` undefined). */
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
