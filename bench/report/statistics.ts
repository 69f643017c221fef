/** The arithmetic of repeated measurements: the middle of some rounds and how far they lie apart. */

/** Of one figure over all rounds. */
export type Spread = { median: number; low: number; high: number; rounds: number }

/** The middle of `values`, the mean of the two middle ones where their number is even; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = Math.floor(sorted.length / 2)
  const [below, above] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN]
  return sorted.length % 2 === 1 ? above : (below + above) / 2
}

/** Median, least and most of the values that are numbers; undefined where there is none. */
export function spreadOf(values: readonly (number | undefined)[]): Spread | undefined {
  const known = values.filter((value): value is number => value !== undefined && Number.isFinite(value))
  if (known.length === 0) return undefined
  return { median: median(known), low: Math.min(...known), high: Math.max(...known), rounds: known.length }
}

/** How one series stands to another, round by round: what disturbs a whole round cancels out. */
export function ratioSpread(
  over: readonly (number | undefined)[],
  under: readonly (number | undefined)[],
): Spread | undefined {
  return spreadOf(over.map((value, round) => ratio(value, under[round])))
}

function ratio(over: number | undefined, under: number | undefined): number | undefined {
  return over === undefined || under === undefined || under === 0 ? undefined : over / under
}
