/** Writes an answer of the hub as a message. */
import type { AnswerBlock, ChatResponse } from '@/chat/response'
import type { AnswerContext } from '@/formats/format'
import { type Emitted, encodeFinish, type StopFields } from '@/formats/messages/finish-reason'
import { parseArguments } from '@/formats/messages/tool-arguments'
import { createToolIds } from '@/formats/messages/tool-ids'
import { encodeUsage, estimatedUsage } from '@/formats/messages/usage'
import type { JsonObject } from '@/lib/json'
import { encodeReasoningBlock, markerBlock } from './encode-reasoning'

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
  const stop = encodeFinish(choice?.finish ?? { kind: 'stop' }, emitted)
  return encodeMessage(
    context,
    content,
    stop,
    encodeUsage(response.usage ?? estimatedUsage(context.estimatedInputTokens)),
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

function encodeBlock(block: AnswerBlock, newId: (id: string) => string, context: AnswerContext): JsonObject[] {
  switch (block.type) {
    case 'text': {
      const texts = block.text === '' ? [] : [{ type: 'text', text: block.text }]
      return context.wantsReasoning ? [...texts, ...markerBlock(block.signature, 'text')] : texts
    }
    case 'refusal':
      return block.text === '' ? [] : [{ type: 'text', text: block.text }]
    case 'reasoning':
      return encodeReasoningBlock(block, context.wantsReasoning)
    case 'tool-call': {
      const input = parseArguments(block.argumentsText)
      return [
        ...markerBlock(block.signature, 'call'),
        { type: 'tool_use', id: newId(block.id), name: block.name, input },
      ]
    }
    case 'image':
    case 'audio':
      return [{ type: 'text', text: omittedMedia(block.type) }]
  }
}

/** The format has no media in answers. The bytes would be unreadable as text, and costly when the client sends them back. */
export function omittedMedia(type: 'image' | 'audio'): string {
  return `[${type} omitted: this API carries only text]`
}
