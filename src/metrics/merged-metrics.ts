/**
 * Combines the metrics of several processes into one report. Counters are added, including those of ended processes. Gauges are added if
 * they count the process's own work, but not if they show shared state.
 */
import AggregatorRegistry from 'prom-client/lib/cluster.js'
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Registry from 'prom-client/lib/registry.js'

/** A metric in the library's form. For a histogram, `metricName` names the series of a value. */
type Metric = { name: string; help: string; type: string; aggregator: string; values: Value[] }
type Value = { value: number; labels: Record<string, string | number>; metricName?: string }
type Total = Omit<Metric, 'values'> & { values: Map<string, Value> }

const GAUGE = 'gauge'

interface MergedProcess {
  /** Takes the latest values. Counters may even arrive after the process has ended. */
  update(snapshot: string): void
  /** The process has ended: its gauges are removed, its counters kept. */
  end(): void
}

interface MergedMetrics {
  start(name: string): MergedProcess
  restarted(): void
  /** All metrics as text. `up`: whether each process has answered, by its name. */
  exposition(up: ReadonlyMap<string, boolean>): Promise<string>
}

/** Creates empty merged metrics. */
export function createMergedMetrics(): MergedMetrics {
  const totals = new Map<string, Total>()
  const gauges = new Map<MergedProcess, Metric[]>()
  const own = ownMetrics()

  function addRises(metric: Metric, before: Map<string, number>): void {
    const total = totals.get(metric.name) ?? { ...metric, aggregator: 'sum', values: new Map<string, Value>() }
    totals.set(metric.name, total)
    for (const value of metric.values) {
      const key = keyOf(metric.name, value)
      const known = before.get(key) ?? 0
      before.set(key, value.value)
      const rise = value.value < known ? value.value : value.value - known
      const sum = total.values.get(key)
      if (sum) sum.value += rise
      else total.values.set(key, { ...value, value: rise })
    }
  }

  return {
    start(name) {
      const before = new Map<string, number>()
      let hasEnded = false
      const process: MergedProcess = {
        update(snapshot) {
          const metrics = JSON.parse(snapshot) as Metric[]
          for (const metric of metrics) if (metric.type !== GAUGE) addRises(metric, before)
          if (hasEnded) return
          const now = metrics.filter(({ type }) => type === GAUGE)
          gauges.set(
            process,
            now.map((metric) => ruled(metric, name)),
          )
        },
        end() {
          hasEnded = true
          gauges.delete(process)
        },
      }
      return process
    },
    restarted: () => own.restarts.inc(),
    async exposition(up) {
      own.up.reset()
      for (const [process, isUp] of up) own.up.set({ process }, Number(isUp))
      const counted = [...totals.values()].map((total): Metric => ({ ...total, values: [...total.values.values()] }))
      const parts = [await own.registry.getMetricsAsJSON(), ...gauges.values(), counted]
      return AggregatorRegistry.aggregate(parts).metrics()
    },
  }
}

function ownMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    up: new Gauge({
      name: 'svc_process_up',
      help: '1 where the server process says what it counted, 0 where it hangs or is being started anew.',
      labelNames: ['process'],
      registers,
    }),
    restarts: new Counter({
      name: 'svc_process_restarts_total',
      help: 'Alert: server processes that were started in place of one that had died.',
      registers,
    }),
  }
}

/** The gauge of the process `name`, prepared for merging. */
function ruled(metric: Metric, name: string): Metric {
  const rule = gaugeRule(metric.name)
  if (rule !== 'each') return { ...metric, aggregator: rule }
  return {
    ...metric,
    aggregator: 'sum',
    values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process: name } })),
  }
}

function keyOf(name: string, { metricName = name, labels }: Value): string {
  return JSON.stringify([metricName, ...Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))])
}

/** `each`: one series per process, with the label `process`. */
type GaugeRule = 'sum' | 'max' | 'min' | 'each'

/** The rule of every gauge. For shared state, the report has the worst value of any process, so that alerts see it. */
export const GAUGE_RULES: Readonly<Record<string, GaugeRule>> = {
  svc_open_streams: 'sum',
  svc_open_holds: 'sum',
  svc_unacknowledged_settlements: 'sum',
  svc_provider_calls_in_flight: 'sum',
  svc_provider_calls_queued: 'sum',
  svc_provider_key_draining: 'sum',
  svc_redis_commands_in_flight: 'sum',
  svc_postgres_connections: 'sum',
  svc_postgres_connections_max: 'sum',
  svc_postgres_queries_waiting: 'sum',
  svc_flusher_lag_records: 'max',
  svc_flusher_lag_seconds: 'max',
  svc_flusher_healthy: 'min',
  svc_mails_waiting: 'max',
  svc_mails_waiting_seconds: 'max',
  svc_store_memory_ratio: 'max',
  svc_store_takes_requests: 'min',
  svc_settlement_journal_sound: 'min',
  svc_redis_connected: 'min',
  svc_ledger_drift_violations: 'max',
  svc_ledger_check_timestamp_seconds: 'max',
  svc_ledger_check_duration_seconds: 'max',
  svc_ledger_check_accounts: 'max',
  svc_catalog_info: 'max',
  svc_catalog_loaded_timestamp_seconds: 'min',
  svc_circuit_state: 'max',
  svc_provider_key_resting: 'max',
  svc_provider_keys_usable: 'min',
  svc_provider_credential_expires_timestamp_seconds: 'min',
  process_start_time_seconds: 'each',
  process_resident_memory_bytes: 'each',
  process_heap_used_bytes: 'each',
  process_open_fds: 'each',
  process_max_fds: 'each',
}

/** The rule of the gauge `name`. A gauge without a rule is shown per process, so that it is neither lost nor added up wrongly. */
function gaugeRule(name: string): GaugeRule {
  return GAUGE_RULES[name] ?? 'each'
}
