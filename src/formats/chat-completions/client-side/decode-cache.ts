/** Cache hints of a request: `prompt_cache_breakpoint` on a part (OpenAI), `cache_control` anywhere (OpenRouter, LiteLLM). */
import type { CacheHint, ContentBlock, Turn } from '@/chat/request'
import { isJsonObject } from '@/lib/json'
import type { WireCacheControl, WireContentPart, WireRequest } from './wire'

/** The hint of one part; the time to live is five minutes unless it says an hour. */
export function decodeCache({ prompt_cache_breakpoint: own, cache_control: common }: WireContentPart) {
  if (common) return decodeCacheControl(common)
  return isJsonObject(own) ? hintOf(own.ttl) : undefined
}

/** The hint that a message, a tool or a request carries. */
export function decodeCacheControl(control: WireCacheControl | undefined): CacheHint | undefined {
  return control ? hintOf(control.ttl) : undefined
}

/** What stands for a whole message, or for the request as a whole, stands on its last block that can carry it. */
export function markLastBlock(content: readonly ContentBlock[], control: WireCacheControl | undefined): boolean {
  const cache = decodeCacheControl(control)
  const last = cache && content.findLast((block) => block.type !== 'reasoning' && block.type !== 'refusal')
  if (!last) return false
  last.cache ??= cache
  return true
}

/** The same for all turns: the last that has such a block. */
export function markLastTurn(turns: readonly Turn[], control: WireCacheControl | undefined): void {
  if (!control) return
  for (const turn of turns.toReversed()) if (markLastBlock(turn.content, control)) return
}

/** Whether there is a `cache_control` anywhere: services that don't know it refuse the request for it. */
export function hasCacheControl({ cache_control: whole, messages, tools, functions }: WireRequest): boolean {
  if (whole || functions?.some((definition) => definition.cache_control)) return true
  if (tools?.some((tool) => tool.cache_control ?? tool.function?.cache_control)) return true
  for (const { cache_control: own, content, tool_calls: calls } of messages) {
    if (own || calls?.some((call) => call.cache_control)) return true
    if (Array.isArray(content)) for (const part of content) if (part.cache_control) return true
  }
  return false
}

function hintOf(ttl: unknown): CacheHint {
  return { ttl: ttl === '1h' ? '1h' : '5m' }
}
