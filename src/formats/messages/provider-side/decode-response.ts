import type { AnswerBlock, ChatResponse } from '@/chat/response'
import type { ToolUses } from '@/chat/server-tools'
import { decodeCitations, readPicture } from '@/formats/messages/citations'
import { decodeFinishReason } from '@/formats/messages/finish-reason'
import { decodeToolUses, usedTool } from '@/formats/messages/server-tools'
import { decodeArguments } from '@/formats/messages/tool-calls'
import { decodeUsage, findUnknownUsage, tierOfUsage } from '@/formats/messages/usage'
import { isJsonObject, type JsonValue, textOf } from '@/lib/json'

/** Decodes a complete message; undefined if `body` is none of this format. Blocks of unknown types are omitted. */
export function decodeResponse(body: JsonValue): ChatResponse | undefined {
  if (!isJsonObject(body) || !Array.isArray(body.content)) return undefined
  if (body.type !== 'message' && body.role !== 'assistant') return undefined
  const content = body.content.flatMap(decodeContent)
  const unknownUsage = findUnknownUsage(body.usage)
  const serviceTier = tierOfUsage(body.usage)
  const toolUses = readToolUses(body.content, body.usage)
  const hasToolCalls = content.some((block) => block.type === 'tool-call')
  return {
    id: textOf(body.id) ?? '',
    created: 0,
    model: textOf(body.model) ?? '',
    choices: [{ index: 0, content, finish: decodeFinishReason(body.stop_reason, body.stop_sequence, hasToolCalls) }],
    usage: decodeUsage(body.usage) ?? null,
    ...(unknownUsage && { unknownUsage }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(toolUses && { toolUses }),
  }
}

/** Counts the use of tools by their blocks, if the usage doesn't report these tools. */
function readToolUses(content: readonly JsonValue[], usage: JsonValue | undefined): ToolUses | undefined {
  const uses: Record<string, number> = {}
  for (const block of content) {
    const tool = usedTool(block)
    if (tool !== undefined) uses[tool] = (uses[tool] ?? 0) + 1
  }
  Object.assign(uses, decodeToolUses(usage))
  return Object.keys(uses).length > 0 ? uses : undefined
}

function decodeContent(block: JsonValue): AnswerBlock[] {
  if (!isJsonObject(block)) return []
  switch (block.type) {
    case 'text': {
      const sources = decodeCitations(block.citations)
      return [{ type: 'text', text: textOf(block.text) ?? '', ...(sources.length > 0 && { sources }) }]
    }
    case 'image': {
      const image = readPicture(block)
      return image ? [{ type: 'image', source: { type: 'base64', ...image } }] : []
    }
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
