/** What a soak looks at every few seconds: the gateway from outside and by its own metrics, and both stores. */
import { readdirSync } from 'node:fs'
import { readTree } from '@bench/machine/proc'
import type { BenchStores } from '@bench/machine/stores'

/** One look. What could not be had is NaN, which JSON writes as null. */
export type Sample = {
  /** Since the load began. */
  seconds: number
  residentBytes: number
  heapBytes: number
  descriptors: number
  /** Of the event loop since the sample before: the mean, and what 99 of 100 timers stayed below. */
  lagMeanMs: number
  lagP99Ms: number
  openStreams: number
  openHolds: number
  /** Settlements that the ledger has not acknowledged, and records that are not in the history yet. */
  unacknowledged: number
  unwrittenRecords: number
  redisBytes: number
  redisKeys: number
  postgresConnections: number
  postgresBytes: number
  /** Clients whose requests are under way, and how many there were so far. */
  underWay: number
  sent: number
}

/** What is read of the gateway itself. */
type GatewaySample = Omit<
  Sample,
  'seconds' | 'redisBytes' | 'redisKeys' | 'postgresConnections' | 'postgresBytes' | 'underWay' | 'sent'
>

export interface GatewayProbe {
  read(): Promise<GatewaySample>
}

const SCRAPE_TIMEOUT_MS = 8_000
const LAG = 'svc_event_loop_lag_seconds'
const MOST_TIMERS = 0.99
const MS_PER_SECOND = 1000

/** Watches the gateway on `port`, whose process is `pid`. */
export function createGatewayProbe(port: number, pid: number): GatewayProbe {
  let earlier = new Map<string, number>()

  return {
    async read() {
      const metrics = await scrape(port)
      const since = (name: string) => (metrics.get(name) ?? Number.NaN) - (earlier.get(name) ?? 0)
      const of = (name: string) => metrics.get(name) ?? Number.NaN
      const sample: GatewaySample = {
        residentBytes: readTree([pid]).residentBytes,
        heapBytes: of('process_heap_used_bytes'),
        descriptors: openDescriptors(pid),
        lagMeanMs: (since(`${LAG}_sum`) / since(`${LAG}_count`)) * MS_PER_SECOND,
        lagP99Ms: lagBelow([...metrics.keys()], since) * MS_PER_SECOND,
        openStreams: of('svc_open_streams'),
        openHolds: of('svc_open_holds'),
        unacknowledged: of('svc_unacknowledged_settlements'),
        unwrittenRecords: of('svc_flusher_lag_records'),
      }
      earlier = metrics
      return sample
    },
  }
}

/** The upper bound of the bucket that the slowest but one of a hundred timers fell into. */
function lagBelow(names: readonly string[], since: (name: string) => number): number {
  const wanted = since(`${LAG}_count`) * MOST_TIMERS
  const bucket = names.find((name) => name.startsWith(`${LAG}_bucket`) && since(name) >= wanted)
  return Number(/le="([^"]+)"/.exec(bucket ?? '')?.[1] ?? Number.NaN)
}

async function scrape(port: number): Promise<Map<string, number>> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS) })
    return parseMetrics(await response.text())
  } catch {
    return new Map()
  }
}

/** Prometheus' text as values by name with labels, in their order. */
export function parseMetrics(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

/** Open descriptors of a process; none where it is gone. */
function openDescriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return 0
  }
}

type StoresSample = Pick<Sample, 'redisBytes' | 'redisKeys' | 'postgresConnections' | 'postgresBytes'>

/** What both stores hold now; NaN where one of them gave no answer in time, as on a machine that is busy elsewhere. */
export async function readStores({ bank }: BenchStores): Promise<StoresSample> {
  try {
    const info = String(await bank.redis.call('INFO', 'memory'))
    const [row] = await bank.database.sql<{ connections: number; bytes: number }[]>`
      SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
        pg_database_size(current_database())::float8 AS bytes`
    return {
      redisBytes: Number(/used_memory:(\d+)/.exec(info)?.[1]),
      redisKeys: Number(await bank.redis.call('DBSIZE')),
      postgresConnections: row?.connections ?? Number.NaN,
      postgresBytes: row?.bytes ?? Number.NaN,
    }
  } catch {
    return { redisBytes: Number.NaN, redisKeys: Number.NaN, postgresConnections: Number.NaN, postgresBytes: Number.NaN }
  }
}
