/** What the benchmark of the books says on standard output. */

/** Figures by name; seconds, milliseconds, bytes and rates as the names say. */
export type Result = { accounts: number; records: number } & Record<string, number>

/** Writes a line. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** A table with one row per figure and one column per size. */
export function printTable(results: readonly Result[]): void {
  const names = Object.keys(results[0] ?? {}).filter((name) => name !== 'accounts' && name !== 'records')
  const headings = results.map(({ accounts, records }) => `${group(accounts)} accounts, ${group(records)} records`)
  print(`\n| figure | ${headings.join(' | ')} |`)
  print(`|---|${'---:|'.repeat(results.length)}`)
  for (const name of names) print(`| ${name} | ${results.map((result) => show(result[name] ?? 0)).join(' | ')} |`)
  print('')
}

/** The value below which `share` (0 to 1) of `values` lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function show(value: number): string {
  if (value >= 100) return group(Math.round(value))
  return value.toFixed(2)
}

function group(value: number): string {
  return value.toLocaleString('en-US')
}
