/** Prompt-cache hints for a messages provider: `cache_control`, and no more of them than the API takes. */
import type { CacheHint } from '@/chat/request'
import { isJsonObject, type JsonObject } from '@/lib/json'

/** The most breakpoints a request may hold; the API refuses more. */
const MAX_BREAKPOINTS = 4

/** The field to spread into a wire object: nothing where there is no hint. */
export function encodeCache(cache: CacheHint | undefined): JsonObject {
  if (!cache) return {}
  return { cache_control: cache.ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
}

/**
 * Takes breakpoints away until no more than the API allows are left, the earliest ones first, since a later breakpoint
 * covers the prompt before it. `blocks` are in the order of the prompt, and lose the field in place. Returns how many did.
 * An hour after five minutes would be refused, too: it becomes five minutes, which cost less.
 */
export function limitBreakpoints(blocks: readonly JsonObject[]): number {
  const marked = blocks.flatMap(withInnerBlocks).filter((block) => block.cache_control !== undefined)
  const excess = Math.max(0, marked.length - MAX_BREAKPOINTS)
  for (const block of marked.slice(0, excess)) delete block.cache_control
  const isShort = ({ cache_control: control }: JsonObject) => isJsonObject(control) && control.ttl !== '1h'
  const kept = marked.slice(excess)
  const firstShort = kept.findIndex(isShort)
  if (firstShort >= 0) for (const block of kept.slice(firstShort)) block.cache_control = { type: 'ephemeral' }
  return excess
}

/** A tool result's own content comes before the end of the result. */
function withInnerBlocks(block: JsonObject): JsonObject[] {
  return Array.isArray(block.content) ? [...block.content.filter(isJsonObject), block] : [block]
}
