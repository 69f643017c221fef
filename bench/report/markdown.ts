/** The results as Markdown tables, the same on the terminal and in the docs. */
import type { Comparison } from './baseline'
import type { Standing } from './goals'
import { AGAINST, type FigureName, OURS, type Results, seriesOf } from './results'
import { COLD, FLUSHER, IDLE, MEMORY, OPEN_STREAMS, START, STOPPED } from './scenario-names'
import { ratioSpread, type Spread, spreadOf } from './statistics'

type Column = [title: string, figure: FigureName]

const REQUEST_COLUMNS: readonly Column[] = [
  ['requests/s', 'requestsPerSecond'],
  ['p50 ms', 'p50Ms'],
  ['p99 ms', 'p99Ms'],
  ['CPU µs', 'cpuMicroseconds'],
  ['Redis µs', 'redisMicroseconds'],
  ['Redis log bytes', 'redisLogBytes'],
  ['Postgres µs', 'postgresMicroseconds'],
  ['with stores µs', 'allMicroseconds'],
  ['in the pause after, ms in all', 'afterMs'],
]
const CHUNK_COLUMNS: readonly Column[] = [
  ['first token p50 ms', 'firstTokenP50Ms'],
  ['p99 ms', 'firstTokenP99Ms'],
  ['piece late p99 ms', 'chunkDelayP99Ms'],
  ['CPU µs/piece', 'cpuMicroseconds'],
  ['Redis µs/piece', 'redisMicroseconds'],
  ['Postgres µs/piece', 'postgresMicroseconds'],
  ['with stores µs/piece', 'allMicroseconds'],
  ['in the pause after, ms in all', 'afterMs'],
]
const OTHER_TABLES: readonly { id: string; title: string; columns: readonly Column[] }[] = [
  {
    ...{ id: OPEN_STREAMS, title: 'Open streams, each with a piece a second' },
    columns: [
      ['open', 'openStreams'],
      ['KB each', 'kilobytesPerStream'],
      ['first token p50 ms', 'firstTokenP50Ms'],
      ['piece late p99 ms', 'chunkDelayP99Ms'],
      ['worst ms', 'worstDelayMs'],
    ],
  },
  {
    ...{ id: MEMORY, title: 'Memory a minute after the open streams' },
    columns: [['share above that before', 'memoryLeftShare']],
  },
  {
    ...{ id: STOPPED, title: 'Clients that stop reading' },
    columns: [['MB each', 'megabytesPerReader']],
  },
  {
    ...{ id: FLUSHER, title: 'Usage records from the ledger to the history, one worker' },
    columns: [['records/s', 'recordsPerSecond']],
  },
  {
    ...{ id: COLD, title: 'Keys used for the first time since the store was lost' },
    columns: [
      ['refused', 'refused'],
      ['answered/s', 'requestsPerSecond'],
      ['p50 ms', 'p50Ms'],
      ['p99 ms', 'p99Ms'],
    ],
  },
  {
    ...{ id: IDLE, title: 'Idle' },
    columns: [
      ['% of a core', 'cpuPercent'],
      ['Redis commands/s', 'redisCommandsPerSecond'],
    ],
  },
  { id: START, title: 'Start to the first good answer', columns: [['ms', 'startMs']] },
]

/** Threads below it are noise. */
const LEAST_THREAD_MICROSECONDS = 0.5

/** Goals that no figure of this run can say anything about. */
const ELSEWHERE = [
  "Goals that are shown elsewhere: no refusal because of the gateway's own stalls by fault F19 of `bun run faults`, the ledger's",
  "independence of accounts and records by `bun run bench:books`; that gateways on a Redis Cluster share nothing but an account's",
  "shard is how the ledger's names are made.",
].join(' ')

/** The whole report, as the terminal shows it. */
export function markdownOf(results: Results, standings: readonly Standing[]): string {
  return joined([
    headOf(results, standings),
    ...results.scenarios.map(({ id, title, unit }) => {
      return figureTable(results, id, title, unit === 'chunk' ? CHUNK_COLUMNS : REQUEST_COLUMNS)
    }),
    ...results.scenarios.map((scenario) => checkoutsTable(results, scenario)),
    ...OTHER_TABLES.map(({ id, title, columns }) => figureTable(results, id, title, columns)),
    notesOf(results),
  ])
}

/** The part of the report that the docs show: the goals. The plots and the raw figures have the rest. */
export function publishedOf(results: Results, standings: readonly Standing[]): string {
  return joined([headOf(results, standings), notesOf(results)])
}

function headOf(results: Results, standings: readonly Standing[]): string {
  return joined([machineLine(results), peerTable(results), goalTable(standings), ELSEWHERE])
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n')
}

/** What became of each ratio since the baseline was taken. */
export function comparisonTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map(({ title, before, now, isWorse }) => {
    return `| ${title} | ${number(before)} | ${number(now)} | ${isWorse ? '**worse**' : 'as good'} |`
  })
  return ['| ratio | committed | now | |', '|---|---:|---:|---|', ...rows].join('\n')
}

/** When and where it was measured. */
export function machineLine({ mode, seconds, machine }: Results): string {
  const { processor, cores, bun, at, loadBefore, loadAfter, othersPercent } = machine
  const load = `load average ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`
  const others = `other programs used ${othersPercent.toFixed(0)} % of the machine meanwhile`
  const caveat = mode === 'quick' ? ' Its windows are too short to quote.' : ''
  return `Run of ${at.slice(0, 10)} (${mode}, ${Math.round(seconds)} s): ${cores} × ${processor}, Bun ${bun}; ${load}; ${others}.${caveat}`
}

function peerTable({ peers }: Results): string {
  const rows = peers.map(({ name, state, absent }) => {
    return `| ${name} | ${absent === undefined ? state : `took no part: ${cell(absent)}`} |`
  })
  return ['| server | what was on |', '|---|---|', ...rows].join('\n')
}

function goalTable(standings: readonly Standing[]): string {
  const rows = standings.map(({ goal, spread, floor, isReached, why }) => {
    const sign = goal.better === 'lower' ? '≤' : '≥'
    const target = `${sign} ${number(goal.goal)} ${goal.unit}`
    const least = floor ? `${number(floor.median)} ${goal.unit}` : ''
    if (!spread) return `| ${goal.title} | not measured: ${why} | ${least} | ${target} | |`
    return `| ${goal.title} | ${spreadText(spread)} ${goal.unit} | ${least} | ${target} | ${isReached ? 'reached' : missedBy(goal.goal, spread)} |`
  })
  return ['| goal | measured | lean | goal | |', '|---|---|---|---|---|', ...rows].join('\n')
}

function missedBy(goal: number, { median }: Spread): string {
  if (goal === 0) return 'missed'
  return `missed, ${number(Math.max(median / goal, goal / median))} times off`
}

function figureTable(results: Results, id: string, title: string, columns: readonly Column[]): string {
  const peers = results.peers.filter(({ name }) => results.rows.some((row) => row.scenario === id && row.peer === name))
  if (peers.length === 0) return ''
  const used = columns.filter(([, figure]) => peers.some(({ name }) => spreadAt(results, id, name, figure)))
  const rows = peers.map(({ name }) => {
    const cells = used.map(([, figure]) => {
      const spread = spreadAt(results, id, name, figure)
      return spread ? spreadText(spread) : '–'
    })
    return `| ${name} | ${cells.join(' | ')} |`
  })
  const head = `| ${title} | ${used.map(([heading]) => heading).join(' | ')} |`
  return [head, `|---|${'---:|'.repeat(used.length)}`, ...rows].join('\n')
}

/** What a scenario costs in this checkout and in the other, as a ratio of rounds side by side and by thread. */
function checkoutsTable(results: Results, { id, title, unit }: Results['scenarios'][number]): string {
  const ratios = (unit === 'chunk' ? CHUNK_COLUMNS : REQUEST_COLUMNS).flatMap(([heading, figure]) => {
    const [own, other] = [OURS, AGAINST].map((peer) => seriesOf(results.rows, id, peer, figure))
    const ratio = own && other && ratioSpread(own, other)
    return ratio ? [`| ${heading}, ratio | ${spreadText(ratio)} | |`] : []
  })
  if (ratios.length === 0) return ''
  const names = [...new Set(results.threads.filter(({ scenario }) => scenario === id).map(({ thread }) => thread))]
  const threads = names.flatMap((name) => {
    const [own, other] = [OURS, AGAINST].map((peer) => {
      const row = results.threads.find((one) => one.scenario === id && one.peer === peer && one.thread === name)
      return spreadOf(row?.rounds ?? [])
    })
    const isWorthTelling =
      (own?.median ?? 0) >= LEAST_THREAD_MICROSECONDS || (other?.median ?? 0) >= LEAST_THREAD_MICROSECONDS
    if (!isWorthTelling) return []
    return [`| thread ${cell(name)}, µs | ${own ? spreadText(own) : '–'} | ${other ? spreadText(other) : '–'} |`]
  })
  return [`| ${title} | this checkout | the other |`, '|---|---:|---:|', ...ratios, ...threads].join('\n')
}

function spreadAt(results: Results, scenario: string, peer: string, figure: FigureName): Spread | undefined {
  return spreadOf(seriesOf(results.rows, scenario, peer, figure) ?? [])
}

/** The middle of the rounds, with the least and the most in brackets. */
function spreadText({ median, low, high, rounds }: Spread): string {
  return rounds === 1 ? number(median) : `${number(median)} (${number(low)}–${number(high)})`
}

function notesOf({ notes }: Results): string {
  return notes.length === 0 ? '' : ['Left out or gone wrong:', ...notes.map((note) => `- ${note}`)].join('\n')
}

/** Three digits that matter. */
export function number(value: number): string {
  const size = Math.abs(value)
  if (size >= 1000) return Math.round(value).toLocaleString('en-US')
  if (size >= 100 || value === 0) return value.toFixed(0)
  return value.toFixed(size >= 10 ? 1 : size >= 0.1 ? 2 : 3)
}

function cell(text: string): string {
  return text.replaceAll('|', '/').replaceAll(/\s+/g, ' ')
}
