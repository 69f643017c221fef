/** Prompt-cache hints for a responses provider that reads `prompt_cache_breakpoint`. */
import type { CacheHint } from '@/chat/request'
import { QUIRKS } from '@/formats/responses/quirks'
import type { JsonObject } from '@/lib/json'

/** The field to spread into a part: nothing where there is no hint, or where the provider would refuse it. */
export function encodeCache(cache: CacheHint | undefined, quirks: ReadonlySet<string>): JsonObject {
  if (!cache || !quirks.has(QUIRKS.cacheBreakpoints)) return {}
  return { prompt_cache_breakpoint: { mode: 'explicit', ttl: cache.ttl === '1h' ? '12h' : '30m' } }
}
