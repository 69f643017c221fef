/** Prompt-cache hints of a responses request: `prompt_cache_breakpoint` on a part, whose time to live is the provider's own. */
import type { CacheHint } from '@/chat/request'
import type { WirePart } from './wire-items'

/** The hint of one part; the longer of the two times is the longer of ours. */
export function decodeCache({ prompt_cache_breakpoint: breakpoint }: WirePart): CacheHint | undefined {
  if (!breakpoint) return undefined
  return { ttl: breakpoint.ttl === '12h' ? '1h' : '5m' }
}
