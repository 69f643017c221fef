/** Days in UTC, as the daily sums of usage are kept. */

export const MS_PER_HOUR = 3_600_000
export const MS_PER_DAY = 86_400_000

/** The day of a moment as yyyy-mm-dd. */
export function utcDayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** The first millisecond of the moment's day. */
export function startOfUtcDay(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY) * MS_PER_DAY
}
