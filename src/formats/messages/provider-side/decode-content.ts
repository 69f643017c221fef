/** The content blocks of a messages provider's complete answer, as blocks of the hub. */
import type { AnswerBlock } from '@/chat/response'
import { decodeArguments } from '@/formats/messages/tool-arguments'
import { isJsonObject, type JsonValue, textOf } from '@/lib/json'

/** The block of the hub for one of an answer; none where its type is unknown. */
export function decodeContent(block: JsonValue): AnswerBlock[] {
  if (!isJsonObject(block)) return []
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: textOf(block.text) ?? '' }]
    case 'thinking': {
      const signature = textOf(block.signature) ?? ''
      const signed = signature !== '' && { signature: { format: 'messages' as const, value: signature } }
      return [{ type: 'reasoning', text: textOf(block.thinking) ?? '', ...signed }]
    }
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', redacted: { format: 'messages', value: textOf(block.data) ?? '' } }]
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          id: textOf(block.id) ?? '',
          name: textOf(block.name) ?? '',
          argumentsText: decodeArguments(block.input),
        },
      ]
    default:
      return []
  }
}
