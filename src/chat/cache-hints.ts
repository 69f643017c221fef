/** Finds the cache hints of a request, wherever they stand in it. */
import type { CacheHint, ChatRequest, ContentBlock } from './request'

/** Whether anything of `request` is to be kept for an hour, which costs more. */
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
