/** Prompt-cache hints of a messages request: `cache_control` on a block, a tool or the whole request. */
import type { CacheHint } from '@/chat/request'
import type { WireCacheControl } from './wire-blocks'

/** Reads `cache_control`; the time to live is five minutes unless it says otherwise. */
export function decodeCache(control: WireCacheControl | undefined): CacheHint | undefined {
  return control ? { ttl: control.ttl ?? '5m' } : undefined
}
