/** The data of a stacked bar chart, limited to as many series as there are colours. */

export type Bucket = {
  /** The bucket's unique key, such as the day. */
  key: string
  label: string
  longLabel?: string
  /** Values by series name; a missing value counts as 0. Only for the drawing: the table beside it has exact figures. */
  values: Readonly<Record<string, number>>
}

/** The number of colours. The last colour is for the sum of the series that have none. */
const MAX_SERIES = 8
const OTHER = 'Other'

export type ChartData = { series: string[]; buckets: Bucket[] }

/** Keeps the series with the largest sums, and adds up all smaller series as {@link OTHER}. */
export function topSeries(buckets: readonly Bucket[]): ChartData {
  const sums = new Map<string, number>()
  for (const { values } of buckets) {
    for (const [name, value] of Object.entries(values)) sums.set(name, (sums.get(name) ?? 0) + value)
  }
  const ordered = [...sums].sort((one, other) => other[1] - one[1]).map(([name]) => name)
  if (ordered.length <= MAX_SERIES) return { series: ordered, buckets: [...buckets] }
  const kept = ordered.slice(0, MAX_SERIES - 1)
  return { series: [...kept, OTHER], buckets: buckets.map((bucket) => fold(bucket, kept)) }
}

/** The sum of a bucket over all series. */
export function totalOf({ values }: Bucket): number {
  return Object.values(values).reduce((sum, value) => sum + value, 0)
}

/** The colour of the series at `index`. */
export function colorOf(index: number): string {
  return `var(--series-${(index % MAX_SERIES) + 1})`
}

function fold(bucket: Bucket, kept: readonly string[]): Bucket {
  const values: Record<string, number> = { [OTHER]: 0 }
  for (const [name, value] of Object.entries(bucket.values)) {
    const column = kept.includes(name) ? name : OTHER
    values[column] = (values[column] ?? 0) + value
  }
  return { ...bucket, values }
}
