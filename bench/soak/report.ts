/** Says in Markdown what a soak showed, and puts it with its plot into the docs. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { number } from '@bench/report/markdown'
import { between } from '@bench/report/publish'
import { median } from '@bench/report/statistics'
import { drawSoak } from './plot'
import { growthOf, type SoakResults, sentOf, verdictsOf } from './results'
import type { Sample } from './sample'

type Row = { title: string; read(sample: Sample): number }

const MEGABYTE = 1e6
const PERCENT = 100
const IMAGE = 'images/soak.svg'

const ROWS: readonly Row[] = [
  { title: 'memory of the gateway, MB', read: ({ residentBytes }) => residentBytes / MEGABYTE },
  { title: 'heap, MB', read: ({ heapBytes }) => heapBytes / MEGABYTE },
  { title: 'descriptors', read: ({ descriptors }) => descriptors },
  { title: 'lag of the event loop, mean, ms', read: ({ lagMeanMs }) => lagMeanMs },
  { title: 'lag of the event loop, 99 of 100 below, ms', read: ({ lagP99Ms }) => lagP99Ms },
  { title: 'open streams', read: ({ openStreams }) => openStreams },
  { title: 'open holds', read: ({ openHolds }) => openHolds },
  { title: 'memory of Redis, MB', read: ({ redisBytes }) => redisBytes / MEGABYTE },
  { title: 'keys in Redis', read: ({ redisKeys }) => redisKeys },
  { title: 'connections to Postgres', read: ({ postgresConnections }) => postgresConnections },
  { title: 'size of the database, MB', read: ({ postgresBytes }) => postgresBytes / MEGABYTE },
]

/** The whole report, for the terminal. */
export function soakMarkdown(results: SoakResults): string {
  return [headOf(results), sampleTable(results.samples), endingTable(results)].join('\n\n')
}

function headOf(results: SoakResults): string {
  const { at, minutes, ratePerSecond, keys, bun, processor, commit } = results
  const intro = `Run of ${at.slice(0, 10)} at ${commit}: ${minutes} minutes, ${ratePerSecond} clients a second and a burst of a hundred each minute, ${number(sentOf(results))} in all with ${keys} keys; ${processor}, Bun ${bun}.`
  return [intro, verdictTable(results)].join('\n\n')
}

/** Writes the promises and the plot into the docs below `root`. */
export async function publishSoak(results: SoakResults, root: string): Promise<void> {
  const page = join(root, 'docs', 'PERFORMANCE.md')
  await mkdir(join(root, 'docs', 'images'), { recursive: true })
  await Bun.write(join(root, 'docs', IMAGE), drawSoak(results))
  const content = `![a soak of ${results.minutes} minutes](${IMAGE})\n\n${headOf(results)}`
  await Bun.write(page, between(await Bun.file(page).text(), 'soak', content))
}

function verdictTable(results: SoakResults): string {
  const rows = verdictsOf(results).map(({ promise, measured, isKept }) => {
    return `| ${promise} | ${measured} | ${isKept ? 'kept' : '**broken**'} |`
  })
  return ['| promise | measured | |', '|---|---|---|', ...rows].join('\n')
}

/** Medians by quarter: what grows is seen at once. */
function sampleTable(samples: readonly Sample[]): string {
  const rows = ROWS.map(({ title, read }) => {
    const cells = [0, 1, 2, 3].map((quarter) => number(middleOf(samples, quarter, read)))
    return `| ${title} | ${cells.join(' | ')} |`
  })
  const growth = growthOf(samples, 'heapBytes') * PERCENT
  const head = '| median of each quarter | first | second | third | last |\n|---|---:|---:|---:|---:|'
  return `${head}\n${rows.join('\n')}\n\nThe heap of the last quarter is ${growth.toFixed(1)} % above that of the second.`
}

function middleOf(samples: readonly Sample[], quarter: number, read: Row['read']): number {
  const part = samples.slice((samples.length * quarter) / 4, (samples.length * (quarter + 1)) / 4)
  return median(part.map(read).filter((value) => Number.isFinite(value)))
}

function endingTable({ endings }: SoakResults): string {
  const rows = Object.entries(endings).map(([name, byEnding]) => {
    const sorted = Object.entries(byEnding).sort(([, one], [, other]) => other - one)
    return `| ${name} | ${sorted.map(([ending, count]) => `${count.toLocaleString('en-US')} × ${ending}`).join(', ')} |`
  })
  return ['| clients | how it ended |', '|---|---|', ...rows].join('\n')
}
