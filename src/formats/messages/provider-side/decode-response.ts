/** Reads a provider's complete message into the hub. */
import type { AnswerBlock, ChatResponse } from '@/chat/response'
import { decodeFinish } from '@/formats/messages/finish-reason'
import { formatArguments } from '@/formats/messages/tool-arguments'
import { decodeUsage } from '@/formats/messages/usage'
import { isJsonObject, type JsonValue } from '@/lib/json'

/** Returns undefined where `body` is no message of this format. Blocks of unknown types are left out. */
export function decodeResponse(body: JsonValue): ChatResponse | undefined {
  if (!isJsonObject(body) || !Array.isArray(body.content)) return undefined
  if (body.type !== 'message' && body.role !== 'assistant') return undefined
  const content = body.content.flatMap(decodeBlock)
  const hasToolCalls = content.some((block) => block.type === 'tool-call')
  return {
    id: text(body.id),
    created: 0,
    model: text(body.model),
    choices: [{ index: 0, content, finish: decodeFinish(body.stop_reason, body.stop_sequence, hasToolCalls) }],
    usage: decodeUsage(body.usage) ?? null,
  }
}

function decodeBlock(block: JsonValue): AnswerBlock[] {
  if (!isJsonObject(block)) return []
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: text(block.text) }]
    case 'thinking': {
      const signature = text(block.signature)
      const signed = signature !== '' && { signature: { format: 'messages' as const, value: signature } }
      return [{ type: 'reasoning', text: text(block.thinking), ...signed }]
    }
    case 'redacted_thinking':
      return [{ type: 'reasoning', text: '', redacted: { format: 'messages', value: text(block.data) } }]
    case 'tool_use':
      return [
        {
          type: 'tool-call',
          id: text(block.id),
          name: text(block.name),
          argumentsText: formatArguments(block.input),
        },
      ]
    default:
      return []
  }
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
