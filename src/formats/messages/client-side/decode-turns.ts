/** Decodes the messages and system prompt of a messages request into turns. */
import { invalidRequest } from '@/chat/error'
import type { ContentBlock, TextBlock, ToolCallBlock, Turn } from '@/chat/request'
import { isClientMark } from '@/formats/client-marks'
import { decodeSignature, type Mark } from '@/formats/messages/signature'
import { decodeArguments } from '@/formats/messages/tool-calls'
import { decodeCache, decodeMedia, decodeResultContent } from './decode-content'
import { checkBlock, isKnownBlock, type WireCountRequest, type WireMessage } from './wire'
import type { WireBlock } from './wire-blocks'

/** Block types that only one role may send. */
const SPEAKERS: { [T in WireBlock['type']]?: 'user' | 'assistant' } = {
  thinking: 'assistant',
  redacted_thinking: 'assistant',
  tool_use: 'assistant',
  tool_result: 'user',
}

/** Reads the `system` field. */
export function decodeSystem(system: WireCountRequest['system']): TextBlock[] {
  return decodeTexts(system ?? [], 'system').filter((block) => !isClientMark(block.text))
}

/** System messages before any other message are added to the system prompt. Throws `invalid_request` that names the faulty block. */
export function decodeTurns(messages: readonly WireMessage[]): { system: TextBlock[]; turns: Turn[] } {
  const system: TextBlock[] = []
  const turns: Turn[] = []
  const names = new Map<string, string>()
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}].content`
    if (message.role !== 'system') {
      turns.push(decodeTurn(message.role, message.content, path, names))
      continue
    }
    const content = decodeTexts(message.content, path)
    if (turns.length === 0) system.push(...content)
    else turns.push({ role: 'system', content })
  }
  return { system, turns }
}

function decodeTexts(content: WireMessage['content'], path: string): TextBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.map((block, index) => {
    if (block.type !== 'text') throw invalidRequest(`${path}[${index}] must be a text block`, `${path}[${index}]`)
    return decodeText(checkBlock('text', block, `${path}[${index}]`))
  })
}

function decodeText(block: WireBlock<'text'>): TextBlock {
  return { type: 'text', text: block.text, cache: decodeCache(block.cache_control) }
}

function decodeTurn(
  role: 'user' | 'assistant',
  content: WireMessage['content'],
  path: string,
  names: Map<string, string>,
): Turn {
  if (typeof content === 'string') return { role, content: content === '' ? [] : [{ type: 'text', text: content }] }
  const blocks: ContentBlock[] = []
  let callMark: Mark | undefined
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`
    if (!isKnownBlock(block)) continue
    const speaker = SPEAKERS[block.type]
    if (speaker !== undefined && speaker !== role) {
      throw invalidRequest(`${at} of type ${block.type} must be in a message of role ${speaker}`, at)
    }
    checkBlock(block.type, block, at)
    const mark: Mark | undefined = block.type === 'thinking' ? decodeSignature(block.signature) : undefined
    if (block.type === 'tool_use') {
      names.set(block.id, block.name)
      blocks.push(decodeToolUse(block, callMark))
    } else if (block.type === 'thinking') applyThinking(block, mark, blocks)
    else blocks.push(...decodeBlock(block, at, names))
    callMark = mark?.signs === 'call' ? mark : undefined
  }
  return { role, content: blocks } as Turn
}

/** A marked thinking block right before a call contains the call's signature. */
function decodeToolUse(block: WireBlock<'tool_use'>, mark: Mark | undefined): ToolCallBlock {
  return {
    type: 'tool-call',
    id: block.id,
    name: block.name,
    argumentsText: decodeArguments(block.input as never),
    signature: mark?.signature,
    cache: decodeCache(block.cache_control),
  }
}

/** A thinking block that only contains a neighbour's signature is no reasoning; the signature moves to that neighbour. */
function applyThinking(block: WireBlock<'thinking'>, mark: Mark | undefined, blocks: ContentBlock[]): void {
  const previous = blocks.at(-1)
  if (mark?.signs === 'text' && previous?.type === 'text') previous.signature = mark.signature
  else if (mark?.signs === 'reasoning' || block.thinking !== '') {
    const signature = mark?.signs === 'reasoning' ? mark.signature : undefined
    if (block.thinking !== '' || signature) blocks.push({ type: 'reasoning', text: block.thinking, signature })
  }
}

function decodeBlock(
  block: Exclude<WireBlock, { type: 'tool_use' | 'thinking' }>,
  path: string,
  names: ReadonlyMap<string, string>,
): ContentBlock[] {
  switch (block.type) {
    case 'text':
      return [decodeText(block)]
    case 'redacted_thinking': {
      const { signature } = decodeSignature(block.data)
      return signature ? [{ type: 'reasoning', text: '', redacted: signature }] : []
    }
    case 'tool_result':
      return [
        {
          type: 'tool-result',
          callId: block.tool_use_id,
          name: names.get(block.tool_use_id),
          content: decodeResultContent(block.content ?? [], `${path}.content`),
          isError: block.is_error ?? false,
          cache: decodeCache(block.cache_control),
        },
      ]
    default:
      return decodeMedia(block, path)
  }
}
