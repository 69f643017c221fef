/** Parts of a messages request that only providers of the format support. */
import { findMedia } from '@/formats/native-media'
import type { JsonObject } from '@/lib/json'
import { isBuiltIn } from './decode-tools'
import { isKnownBlock, type WireCountRequest } from './wire'
import type { WireBlock, WireTypedBlock } from './wire-blocks'

/** Fields for services that only this format's providers have. With one of the idle values, they have no effect. */
const NATIVE_FIELDS = ['container', 'mcp_servers', 'inference_geo', 'thread', 'compaction'] as const
const IDLE_VALUES: readonly unknown[] = [undefined, null, 'global']

/** Blocks with actions of provider-run tools in earlier answers. */
const HOSTED_HISTORY = /^(?:server_tool_use|mcp_tool_use|mcp_tool_listing|\w+_tool_result)$/

/** Lists the fields that only this format has, each with its kind, such as `tools[1] (web_search_20250305)`. */
export function listNativeOnly(request: WireCountRequest, body: JsonObject): string[] {
  const found: string[] = []
  request.tools?.forEach((tool, index) => {
    if (isBuiltIn(tool)) found.push(`tools[${index}] (${tool.type})`)
  })
  request.messages.forEach(({ role, content }, message) => {
    if (role === 'system' || typeof content === 'string') return
    content.forEach((block, index) => {
      if (!isKnownBlock(block) && !isHosted(role, block.type))
        found.push(`messages[${message}].content[${index}] (${block.type})`)
    })
  })
  for (const field of NATIVE_FIELDS) if (!isIdle(body[field])) found.push(field)
  if (body.max_tokens === 0) found.push('max_tokens 0 (warms the cache)')
  return found
}

/** The {@link HOSTED_HISTORY} blocks in a request, such as `messages.server_tool_use`. */
export function listHostedHistory({ messages }: WireCountRequest): string[] {
  const found = new Set<string>()
  for (const { role, content } of messages) {
    if (typeof content === 'string') continue
    for (const { type } of content) if (isHosted(role, type)) found.add(`messages.${type}`)
  }
  return [...found]
}

/** Images and files in blocks unknown to the hub, in messages and results. */
export function listNativeMedia({ messages }: WireCountRequest) {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  const results = blocks.flatMap((block) =>
    isKnownBlock(block) && block.type === 'tool_result' ? contentOf(block) : [],
  )
  return findMedia(
    [...blocks, ...results].filter((block) => !isKnownBlock(block)),
    'messages',
  )
}

function contentOf({ content }: WireBlock<'tool_result'>): readonly WireTypedBlock[] {
  return Array.isArray(content) ? content : []
}

function isHosted(role: string, type: string): boolean {
  return role === 'assistant' && HOSTED_HISTORY.test(type)
}

function isIdle(value: unknown): boolean {
  return IDLE_VALUES.includes(value) || (Array.isArray(value) && value.length === 0)
}
