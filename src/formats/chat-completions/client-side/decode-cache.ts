/** Prompt-cache hints of a chat-completions request: `prompt_cache_breakpoint` on a content part. */
import type { CacheHint } from '@/chat/request'
import { isJsonObject } from '@/lib/json'
import type { WireContentPart } from './wire'

/** The hint of one part; the time to live is five minutes unless it says an hour. */
export function decodeCache(breakpoint: WireContentPart['prompt_cache_breakpoint']): CacheHint | undefined {
  if (!isJsonObject(breakpoint)) return undefined
  return { ttl: breakpoint.ttl === '1h' ? '1h' : '5m' }
}
