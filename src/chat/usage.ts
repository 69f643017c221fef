/** Token usage in five classes that never overlap, whatever the provider's own way of counting. */

/** Non-negative integers. `output` includes `reasoning`. Input is the sum of the first four. */
export type Usage = {
  uncached: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  output: number
  /** How much of `output` was reasoning; informative, never priced on its own. */
  reasoning: number
  /** Whether the provider itself said of the writes to a cache which are for five minutes and which for an hour. */
  areWritesSplit?: true
}

export const ZERO_USAGE: Usage = {
  uncached: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
}

/** All input tokens, cached or not. */
export function inputTokens(usage: Usage): number {
  return usage.uncached + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h
}

/** A count as a provider states it, or undefined if it is no non-negative safe integer. JSON knows a minus zero: it is zero. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? Math.abs(value) : undefined
}
