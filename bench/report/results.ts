/** The raw figures of a run, as they are collected, written to a file and read again. */

import type { Mode } from './scenario-names'

/** What one measurement says; a figure that makes no sense for it is missing. Times are milliseconds, processor times µs. */
export type Figures = Partial<Record<FigureName, number>>

export type FigureName =
  | 'requestsPerSecond'
  | 'p50Ms'
  | 'p99Ms'
  | 'firstTokenP50Ms'
  | 'firstTokenP99Ms'
  | 'chunkDelayP99Ms'
  | 'worstDelayMs'
  | 'cpuMicroseconds'
  /** Of the server and its stores. */
  | 'allMicroseconds'
  /** Of the server and its stores in the pause after a window, in milliseconds in all. */
  | 'afterMs'
  | 'redisMicroseconds'
  /** What Redis appends to its file of writes. */
  | 'redisLogBytes'
  | 'postgresMicroseconds'
  | 'clientMicroseconds'
  | 'upstreamMicroseconds'
  | 'failedShare'
  | 'kilobytesPerStream'
  | 'memoryLeftShare'
  | 'openStreams'
  | 'cpuPercent'
  | 'redisCommandsPerSecond'
  | 'startMs'
  | 'refused'
  | 'megabytesPerReader'
  | 'recordsPerSecond'

/** All rounds of one scenario at one peer. */
export type Row = { scenario: string; peer: string; rounds: Figures[] }

/** What the threads of one name cost. */
type ThreadRow = { scenario: string; peer: string; thread: string; rounds: number[] }

/** A peer and what of it was on, or why it took no part. */
export type PeerEntry = { name: string; state: string; absent?: string }

type Machine = {
  processor: string
  cores: number
  bun: string
  at: string
  loadBefore: number
  loadAfter: number
  /** Of all cores: what programs that have nothing to do with the run used meanwhile. */
  othersPercent: number
}

export type Results = {
  mode: Mode
  seconds: number
  machine: Machine
  peers: PeerEntry[]
  scenarios: { id: string; title: string; unit: string }[]
  rows: Row[]
  /** Processor time by the names of threads, of all rounds together, in µs per request or piece. */
  threads: ThreadRow[]
  /** Everything that was left out or went wrong, in words. */
  notes: string[]
}

/** The name of this gateway among the peers. */
export const OURS = 'svc-gateway'

/** The name of the gateway of another checkout. */
export const AGAINST = 'the other checkout'

/** The scenarios in which this gateway left an answer out: figures of answers that were refused or cut say nothing. */
export function failingScenarios({ rows }: Pick<Results, 'rows'>): string[] {
  const failing = rows.filter(
    ({ peer, rounds }) => peer === OURS && rounds.some(({ failedShare = 0 }) => failedShare > 0),
  )
  return failing.map(({ scenario }) => scenario)
}

/** Collects rounds under their scenario and peer. */
export function addRound(rows: Row[], scenario: string, peer: string, figures: Figures): void {
  const row = rows.find((candidate) => candidate.scenario === scenario && candidate.peer === peer)
  if (row) row.rounds.push(figures)
  else rows.push({ scenario, peer, rounds: [figures] })
}

/** Collects what the threads of a peer cost in a round. */
export function addThreads(rows: ThreadRow[], scenario: string, peer: string, threads: Record<string, number>): void {
  for (const [thread, spent] of Object.entries(threads)) {
    const row = rows.find((one) => one.scenario === scenario && one.peer === peer && one.thread === thread)
    if (row) row.rounds.push(spent)
    else rows.push({ scenario, peer, thread, rounds: [spent] })
  }
}

/** One figure of every round; undefined where there are no such rounds. */
export function seriesOf(
  rows: readonly Row[],
  scenario: string,
  peer: string,
  figure: FigureName,
): (number | undefined)[] | undefined {
  const row = rows.find((candidate) => candidate.scenario === scenario && candidate.peer === peer)
  return row?.rounds.map((figures) => figures[figure])
}
