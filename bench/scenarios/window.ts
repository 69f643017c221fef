/** One measurement: a job against one peer, and what everybody's processors did meanwhile. */

import type { Job, JobResult } from '@bench/load/job'
import type { LoadClient } from '@bench/machine/load-client'
import { microsecondsBetween, microsecondsByName, readTree } from '@bench/machine/proc'
import { type Parties, type PartyName, readUsage, usageBetween } from '@bench/machine/usage'
import type { Figures } from '@bench/report/results'

/** `threads` are the peer's, in µs per request or piece by their names. */
type Window = { figures: Figures; threads: Record<string, number>; failures: Record<string, number> }

/**
 * After each window, for every peer alike: records reach the history within a linger and a transaction of the answer, and their work
 * belongs to the requests that made it.
 */
const PAUSE_MS = 1_300
const QUIET_PATIENCE_MS = 5_000
const QUIET_SAMPLE_MS = 30
/** Of one core. */
const QUIET_SHARE = 0.3
const MICROSECONDS_PER_MS = 1_000

/** Runs the job. Figures of stores appear only where the peer uses them. */
export async function measureWindow(
  client: LoadClient,
  job: Job,
  parties: Parties,
  unit: 'request' | 'chunk',
  logBytes: () => Promise<number | undefined>,
): Promise<Window> {
  await untilQuiet(parties.peer)
  const logBefore = await logBytes()
  const before = readUsage(parties)
  const result = await client.run(job)
  const atEnd = readUsage(parties)
  await Bun.sleep(PAUSE_MS)
  const after = readUsage(parties)
  const usesStores = parties.redis.length > 0
  const logAfter = await logBytes()
  const used = usageBetween(before, after)
  const count = Math.max(1, unit === 'chunk' ? result.chunks : result.answered)
  const threads = microsecondsByName(before.byParty.peer, after.byParty.peer)
  const later = usageBetween(atEnd, after)
  const figures = figuresOf(result, used, later, { unit, usesStores, hasProcess: parties.peer.length > 0 })
  const hasLog = usesStores && logBefore !== undefined && logAfter !== undefined
  return {
    figures: hasLog ? { ...figures, redisLogBytes: (logAfter - logBefore) / count } : figures,
    threads: Object.fromEntries(Object.entries(threads).map(([name, spent]) => [name, spent / count])),
    failures: result.failures,
  }
}

/** Some servers go on for long with what nobody waits for any more; the next measurement begins when they are done. */
async function untilQuiet(pids: readonly number[]): Promise<void> {
  const deadlineMs = performance.now() + QUIET_PATIENCE_MS
  while (pids.length > 0 && performance.now() < deadlineMs) {
    const [before, startedMs] = [readTree(pids), performance.now()]
    await Bun.sleep(QUIET_SAMPLE_MS)
    const spanMicroseconds = (performance.now() - startedMs) * MICROSECONDS_PER_MS
    if (microsecondsBetween(before, readTree(pids)) < spanMicroseconds * QUIET_SHARE) return
  }
}

/** Figures per request or per piece of a stream. `used` is the processor time of the window and the pause after it, `later` of the pause. */
export function figuresOf(
  result: JobResult,
  used: Record<PartyName, number>,
  later: Record<PartyName, number>,
  { unit, usesStores, hasProcess }: { unit: 'request' | 'chunk'; usesStores: boolean; hasProcess: boolean },
): Figures {
  const { answered, chunks, seconds, latency, firstToken, chunkDelay } = result
  const failed = Object.values(result.failures).reduce((sum, count) => sum + count, 0)
  const count = unit === 'chunk' ? chunks : answered
  const failedShare = failed / Math.max(1, failed + answered)
  if (count === 0) return { failedShare: failed === 0 ? 1 : failedShare }
  const withStores = ({ peer, redis, postgres }: Record<PartyName, number>) => {
    return peer + (usesStores ? redis + postgres : 0)
  }
  const common: Figures = {
    failedShare,
    ...(hasProcess && {
      cpuMicroseconds: used.peer / count,
      allMicroseconds: withStores(used) / count,
      afterMs: withStores(later) / MICROSECONDS_PER_MS,
    }),
    clientMicroseconds: used.client / count,
    upstreamMicroseconds: used.upstream / count,
    ...(usesStores && { redisMicroseconds: used.redis / count, postgresMicroseconds: used.postgres / count }),
  }
  if (unit === 'request') {
    return { ...common, requestsPerSecond: answered / seconds, p50Ms: latency.p50, p99Ms: latency.p99 }
  }
  return {
    ...common,
    firstTokenP50Ms: firstToken.p50,
    firstTokenP99Ms: firstToken.p99,
    chunkDelayP99Ms: chunkDelay.p99,
    worstDelayMs: chunkDelay.worst,
  }
}
