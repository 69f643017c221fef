/** Reads the text that Prometheus would read, for tests of metrics. */

/** Values by series: the name with its labels, as the text writes it. */
export type Series = Map<string, number>

/** Every sample of `text`. Throws on a line that is none. */
export function readSeries(text: string): Series {
  const series: Series = new Map()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const match = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line)
    if (!match?.[1] || Number.isNaN(Number(match[2]))) throw new Error(`no sample: ${line}`)
    series.set(match[1], Number(match[2]))
  }
  return series
}

/** By how much each series that matches `pattern` has changed. */
export function changes(before: Series, after: Series, pattern: RegExp): Record<string, number> {
  const differences: Record<string, number> = {}
  for (const [name, value] of after) {
    const difference = value - (before.get(name) ?? 0)
    if (pattern.test(name) && difference !== 0) differences[name] = difference
  }
  return differences
}
