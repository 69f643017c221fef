/** Finds a request's cache hints, and places hints that apply to a whole message or request. */
import type { CacheHint, ChatRequest, ContentBlock, Turn } from './request'

/** Whether any hint asks to cache for an hour, which costs more. */
export function asksForHour(request: ChatRequest): boolean {
  return hints(request).some(({ ttl }) => ttl === '1h')
}

function* hints({ tools, system, turns }: ChatRequest): Generator<CacheHint, undefined> {
  for (const tool of tools) if (tool.cache) yield tool.cache
  for (const block of system) if (block.cache) yield block.cache
  for (const { content } of turns) yield* hintsOf(content)
  return undefined
}

function* hintsOf(content: readonly ContentBlock[]): Generator<CacheHint, undefined> {
  for (const block of content) {
    if ('cache' in block && block.cache) yield block.cache
    if (block.type === 'tool-result') yield* hintsOf(block.content)
  }
  return undefined
}

/** Puts the hint of a whole message on the last block that can have a hint. Returns whether both exist. */
export function markLastBlock(content: readonly ContentBlock[], cache: CacheHint | undefined): boolean {
  const last = cache && content.findLast((block) => block.type !== 'reasoning' && block.type !== 'refusal')
  if (!last) return false
  last.cache ??= cache
  return true
}

/** Puts a whole request's hint on the last turn that has a block for it. */
export function markLastTurn(turns: readonly Turn[], cache: CacheHint | undefined): void {
  if (!cache) return
  for (const turn of turns.toReversed()) if (markLastBlock(turn.content, cache)) return
}
