/** Token usage in five classes that don't overlap, however the provider counts, and counts in other units. */
import type { UnitCount } from './units'

/** Non-negative integers. `output` includes `reasoning`. The first four add up to the input. */
export type Usage = {
  uncached: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  output: number
  /** The part of `output` that was reasoning. For information only: it has no price of its own. */
  reasoning: number
  /** Whether the provider itself reported which cache writes are for five minutes and which for an hour. */
  areWritesSplit?: true
  /** Parts of `uncached` and `output` that are sounds or pictures, and counts in other units. Missing in most answers. */
  units?: readonly UnitCount[]
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

/** A provider's count; undefined if it is not a non-negative safe integer. JSON's minus zero becomes zero. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? Math.abs(value) : undefined
}

/** `usage` with these units; the same object if there are none. */
export function withUnits(usage: Usage, ...lists: readonly (readonly UnitCount[] | undefined)[]): Usage {
  const units = lists.flatMap((list) => list ?? [])
  return units.length > 0 ? { ...usage, units } : usage
}
