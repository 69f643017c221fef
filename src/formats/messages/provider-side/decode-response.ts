/** Reads a provider's complete message into the hub. */
import type { AnswerBlock, ChatResponse } from '@/chat/response'
import { decodeFinish } from '@/formats/messages/finish-reason'
import { formatArguments } from '@/formats/messages/tool-arguments'
import { decodeUsage } from '@/formats/messages/usage'
import { isJsonObject, type JsonValue, textOf } from '@/lib/json'

/** Returns undefined where `body` is no message of this format. Blocks of unknown types are left out. */
export function decodeResponse(body: JsonValue): ChatResponse | undefined {
  if (!isJsonObject(body) || !Array.isArray(body.content)) return undefined
  if (body.type !== 'message' && body.role !== 'assistant') return undefined
  const content = body.content.flatMap(decodeBlock)
  const hasToolCalls = content.some((block) => block.type === 'tool-call')
  return {
    id: textOf(body.id) ?? '',
    created: 0,
    model: textOf(body.model) ?? '',
    choices: [{ index: 0, content, finish: decodeFinish(body.stop_reason, body.stop_sequence, hasToolCalls) }],
    usage: decodeUsage(body.usage) ?? null,
  }
}

function decodeBlock(block: JsonValue): AnswerBlock[] {
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
          argumentsText: formatArguments(block.input),
        },
      ]
    default:
      return []
  }
}
