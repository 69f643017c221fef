/** Prompt-cache hints for a responses provider that reads `prompt_cache_breakpoint`. */
import { hasCacheHint } from '@/chat/cache-hints'
import type { CacheHint, ChatRequest, Warning } from '@/chat/request'
import { QUIRKS } from '@/formats/responses/quirks'
import type { JsonObject } from '@/lib/json'

/** The field to spread into a part: nothing where there is no hint, or where the provider would refuse it. */
export function encodeCache(cache: CacheHint | undefined, quirks: ReadonlySet<string>): JsonObject {
  if (!cache || !quirks.has(QUIRKS.cacheBreakpoints)) return {}
  return { prompt_cache_breakpoint: { mode: 'explicit', ttl: cache.ttl === '1h' ? '12h' : '30m' } }
}

/** Says that hints were left out, if any were. */
export function warnOfCache(request: ChatRequest, quirks: ReadonlySet<string>, warnings: Warning[]): void {
  if (quirks.has(QUIRKS.cacheBreakpoints) || !hasCacheHint(request)) return
  warnings.push({ feature: 'cache_control', detail: 'the provider takes no cache hints' })
}
