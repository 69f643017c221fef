/** Prompt-cache hints for a chat-completions provider that reads `cache_control`, and no more of them than those take. */
import type { CacheHint } from '@/chat/request'
import { QUIRKS } from '@/formats/chat-completions/quirks'
import { isJsonObject, type JsonObject } from '@/lib/json'

/** The most breakpoints that the models behind such services take. */
const MAX_BREAKPOINTS = 4

/** The field to spread into a wire object: nothing where there is no hint, or where the provider would refuse it. */
export function encodeCache(cache: CacheHint | undefined, quirks: ReadonlySet<string>): JsonObject {
  if (!cache || !quirks.has(QUIRKS.cacheControl)) return {}
  return { cache_control: cache.ttl === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' } }
}

/** Takes the earliest breakpoints away where there are too many, since a later one covers the prompt before it. */
export function limitBreakpoints(tools: readonly JsonObject[], messages: readonly JsonObject[]): number {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []))
  const marked = [...tools, ...parts].filter((object) => object.cache_control !== undefined)
  const excess = Math.max(0, marked.length - MAX_BREAKPOINTS)
  for (const object of marked.slice(0, excess)) delete object.cache_control
  return excess
}
