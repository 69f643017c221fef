/** The raw figures of a run, as they are collected, written to a file and read again. */

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
  | 'redisMicroseconds'
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
  mode: 'quick' | 'full'
  seconds: number
  machine: Machine
  peers: PeerEntry[]
  scenarios: { id: string; title: string; unit: string }[]
  rows: Row[]
  /** Everything that was left out or went wrong, in words. */
  notes: string[]
}

/** Collects rounds under their scenario and peer. */
export function addRound(rows: Row[], scenario: string, peer: string, figures: Figures): void {
  const row = rows.find((candidate) => candidate.scenario === scenario && candidate.peer === peer)
  if (row) row.rounds.push(figures)
  else rows.push({ scenario, peer, rounds: [figures] })
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
