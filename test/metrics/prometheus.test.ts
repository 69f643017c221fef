/** The metrics module: routing events, ledger flags, violations, and the label of processes. */
import { expect, test } from 'bun:test'
import { testLine } from '@test/gateway/answer-parts'
import { loadCatalog } from '@/catalog/catalog'
import { ZERO_USAGE } from '@/chat/usage'
import type { CountGap } from '@/ledger/usage-record'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'
import { createPrometheusMetrics, type PrometheusMetrics } from '@/metrics/prometheus'
import type { RoutingEvent } from '@/routing/failover/routing-events'
import { readSeries } from './metric-series'

const loaded = loadCatalog(await Bun.file('config/catalog.json').text(), {}, { sandboxBaseUrl: 'http://127.0.0.1:9' })
assert(loaded.kind === 'loaded', 'config/catalog.json is sound')
const { catalog } = loaded

const seriesOf = async (metrics: PrometheusMetrics) => readSeries(await metrics.exposition())

test('every routing event has its counter', async () => {
  const metrics = createPrometheusMetrics({ catalog: { current: catalog } })
  const events: RoutingEvent[] = [
    { type: 'attempt', model: 'svc/a', provider: 'provider1', outcome: 'transient', milliseconds: 250 },
    { type: 'attempt', model: 'svc/a', provider: 'provider1', outcome: 'transient', milliseconds: 250 },
    { type: 'attempt', model: 'svc/a', provider: 'provider2', outcome: 'answered', milliseconds: 100 },
    { type: 'fallback', from: 'svc/a', to: 'svc/b', reason: 'timeout' },
    { type: 'retry', provider: 'provider1' },
    { type: 'broken', model: 'svc/a', provider: 'provider1' },
    { type: 'circuit', target: 'provider1/a', state: 'open' },
    { type: 'key-out', provider: 'provider2', key: 'provider2/0a1b', status: 401 },
    { type: 'key-cooling', key: 'provider2/0a1b', forMs: 100 },
    { type: 'shed', provider: 'provider3' },
  ]
  for (const event of events) metrics.routed(event)
  const series = await seriesOf(metrics)
  const expected: Record<string, number> = {
    'svc_upstream_attempts_total{provider="provider1",outcome="transient"}': 2,
    'svc_upstream_attempts_total{provider="provider2",outcome="answered"}': 1,
    'svc_upstream_wait_seconds_total{provider="provider1",outcome="transient"}': 0.5,
    'svc_fallbacks_total{from="svc/a",to="svc/b",reason="timeout"}': 1,
    'svc_upstream_retries_total{provider="provider1"}': 1,
    'svc_upstream_retries_total{provider="provider2"}': 0,
    'svc_upstream_broken_total{provider="provider1"}': 1,
    'svc_circuit_changes_total{state="open"}': 1,
    'svc_circuit_changes_total{state="closed"}': 0,
    'svc_provider_key_refused_total{provider="provider1"}': 0,
    'svc_provider_key_refused_total{provider="provider2"}': 1,
    'svc_provider_shed_total{provider="provider3"}': 1,
  }
  for (const [name, value] of Object.entries(expected)) expect([name, series.get(name)]).toEqual([name, value])
})

test('metrics give margins: charged amounts, provider costs, and amounts with unknown provider cost', async () => {
  const metrics = createPrometheusMetrics({ catalog: { current: catalog } })
  const answer = {
    ...({ format: 'messages', model: 'svc/alpha', provider: 'provider1', status: 200, ending: 'complete' } as const),
    ...{ firstTokenMs: null, durationMs: 5, attempts: 1, routeReason: 'requested', line: testLine() },
    ...{ usage: null, finish: undefined, answeredAs: { id: '', model: '' } },
  }
  const charge = { kind: 'charge', usage: ZERO_USAGE, rule: 'usage', flags: [] } as const
  const counts = (...gaps: CountGap[]) => ({ gaps, providerInput: 0, providerOutput: 0, localInput: 0, localOutput: 0 })
  const charged = (cost: number) => ({ ...answer, charge: { ...charge, cost: nano(cost), flags: [] } })
  metrics.answered({ ...charged(5e9), providerCost: nano(3e9) })
  metrics.answered({ ...charged(1e9), counts: counts('input_over', 'clamped') })
  metrics.answered({ ...answer, charge: { kind: 'free' }, providerCost: nano(5e8), counts: counts('input_over') })
  // Of an answer that broke off, what is charged is not what its provider says of it anyway.
  for (const ending of ['complete', 'broken'] as const) {
    metrics.answered({ ...answer, ending, charge: { ...charge, cost: nano(0), flags: ['clamped'] } })
  }
  const series = await seriesOf(metrics)
  const labels = 'format="messages",model="svc/alpha",provider="provider1"'
  const expected: Record<string, number> = {
    [`svc_cost_usd_total{${labels}}`]: 6,
    [`svc_provider_cost_usd_total{${labels}}`]: 3.5,
    [`svc_uncosted_usd_total{${labels}}`]: 1,
    [`svc_count_gaps_total{${labels},gap="input_over"}`]: 2,
    [`svc_count_gaps_total{${labels},gap="clamped"}`]: 1,
    [`svc_count_gaps_total{${labels},gap="output_under"}`]: 0,
    [`svc_sold_short_total{${labels}}`]: 1,
  }
  for (const [name, value] of Object.entries(expected)) expect([name, series.get(name)]).toEqual([name, value])
})

test('state such as routing health is read at the scrape', async () => {
  const metrics = createPrometheusMetrics({ catalog: { current: catalog } })
  let open = 3
  metrics.watch({
    openStreams: () => open,
    openHolds: () => 0,
    unacknowledgedSettlements: () => 7,
    isJournalSound: () => false,
    flusher: () => ({
      lagRecords: 5,
      lagSeconds: 12.5,
      lastError: 'down',
      healthy: false,
      insertedRecords: 11,
      deadLetters: 2,
    }),
    store: () => ({ partFault: 'full', memoryShare: 0.93 }),
    mails: () => ({ mails: 2, seconds: 90 }),
    lostFailures: () => 3,
    routing: () => ({
      circuits: [{ id: 'provider1/a', state: 'open', isAdopted: false, totals: {} as never }],
      keys: new Map([['provider1/0a1b', { state: 'out', forMs: 1 }]]),
      draining: new Map([['provider1/9f9f', 6]]),
      providers: [{ provider: 'provider1', inFlight: 4, queued: 1, limit: 4 }],
    }),
  })
  const values = async (...names: string[]) => {
    const series = await seriesOf(metrics)
    return names.map((name) => series.get(name))
  }
  expect(await values('svc_open_streams', 'svc_unacknowledged_settlements')).toEqual([3, 7])
  expect(await values('svc_settlement_journal_sound')).toEqual([0])
  expect(await values('svc_flusher_lag_records', 'svc_flusher_lag_seconds')).toEqual([5, 12.5])
  expect(await values('svc_store_memory_ratio', 'svc_store_takes_requests')).toEqual([0.93, 0])
  expect(await values('svc_mails_waiting', 'svc_mails_waiting_seconds')).toEqual([2, 90])
  open = 1
  expect(await values('svc_open_streams', 'svc_flusher_healthy', 'svc_flusher_dead_letters_total')).toEqual([1, 0, 2])
  expect(
    await values(
      'svc_circuit_state{target="provider1/a"}',
      'svc_provider_key_resting{key="provider1/0a1b"}',
      'svc_provider_calls_in_flight{provider="provider1"}',
      'svc_provider_calls_queued{provider="provider1"}',
    ),
  ).toEqual([2, 2, 4, 1])
})

test('violations are shown by kind until a later check finds none', async () => {
  const metrics = createPrometheusMetrics({ catalog: { current: catalog } })
  metrics.watch({
    openStreams: () => 0,
    openHolds: () => 0,
    unacknowledgedSettlements: () => 0,
    isJournalSound: () => true,
    flusher: () => ({
      lagRecords: 0,
      lagSeconds: 0,
      lastError: undefined,
      healthy: true,
      insertedRecords: 0,
      deadLetters: 0,
    }),
    store: () => ({ partFault: undefined, memoryShare: 0 }),
    mails: () => ({ mails: 2, seconds: 90 }),
    lostFailures: () => 0,
  })
  metrics.drift({ atMs: 1_000_000, durationMs: 500, accounts: 9, violations: { overdrawn: 2, key_held: 1 } })
  const series = await seriesOf(metrics)
  expect(series.get('svc_ledger_drift_violations{kind="overdrawn"}')).toBe(2)
  expect(series.get('svc_ledger_drift_violations{kind="total"}')).toBe(3)
  expect(series.get('svc_ledger_check_timestamp_seconds')).toBe(1_000)
  metrics.drift({ atMs: 2_000_000, durationMs: 500, accounts: 9, violations: {} })
  const later = await seriesOf(metrics)
  expect(later.has('svc_ledger_drift_violations{kind="overdrawn"}')).toBe(false)
  expect(later.get('svc_ledger_drift_violations{kind="total"}')).toBe(0)
})
