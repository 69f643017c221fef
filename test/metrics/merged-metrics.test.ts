/** Metrics of several processes merged: counters that never fall, and a merge rule for every gauge. */
import { describe, expect, test } from 'bun:test'
import { startGateway } from '@test/support/gateway'
import { loadCatalog } from '@/catalog/catalog'
import { assert } from '@/lib/assert'
import { createMergedMetrics, GAUGE_RULES } from '@/metrics/merged-metrics'
import { createPrometheusMetrics } from '@/metrics/prometheus'
import { readSeries } from './metric-series'

const loaded = loadCatalog(await Bun.file('config/catalog.json').text(), {}, { sandboxBaseUrl: 'http://127.0.0.1:9' })
assert(loaded.kind === 'loaded', 'config/catalog.json is sound')
const { catalog } = loaded

type Sample = { labels: Record<string, string>; value: number }

function snapshot(name: string, type: 'counter' | 'gauge', ...values: Sample[]): string {
  return JSON.stringify([{ name, help: 'Help.', type, aggregator: 'sum', values }])
}

const seriesOf = async (merged: ReturnType<typeof createMergedMetrics>) =>
  readSeries(await merged.exposition(new Map()))

describe('a counter', () => {
  test('a merged counter never falls when a process dies and its replacement starts at zero', async () => {
    const merged = createMergedMetrics()
    const cost = (value: number) => snapshot('svc_cost_usd_total', 'counter', { labels: { model: 'a' }, value })
    // Added up in another order these are 0.6 and 0.6000000000000001.
    const lives = [0.1, 0.2, 0.3].map((value, index) => {
      const life = merged.start(String(index))
      life.update(cost(value))
      return life
    })
    const before = (await seriesOf(merged)).get('svc_cost_usd_total{model="a"}') ?? 0
    expect(before).toBeCloseTo(0.6, 12)
    lives[0]?.end()
    merged.start('0').update(cost(0))
    expect((await seriesOf(merged)).get('svc_cost_usd_total{model="a"}')).toBe(before)
  })

  test('a merged counter counts a process’s last report once, even if sent twice', async () => {
    const merged = createMergedMetrics()
    const life = merged.start('1')
    const count = (value: number) => snapshot('svc_x_total', 'counter', { labels: {}, value })
    life.update(count(5))
    life.end()
    life.update(count(8))
    life.update(count(8))
    expect((await seriesOf(merged)).get('svc_x_total')).toBe(8)
  })

  test('a merged counter is one series for any order of labels', async () => {
    const merged = createMergedMetrics()
    for (const labels of [
      { a: '1', b: '2' },
      { b: '2', a: '1' },
    ])
      merged.start(JSON.stringify(labels)).update(snapshot('svc_x_total', 'counter', { labels, value: 1 }))
    expect([...(await seriesOf(merged))].filter(([name]) => name.startsWith('svc_x'))).toEqual([
      ['svc_x_total{a="1",b="2"}', 2],
    ])
  })
})

describe('a gauge', () => {
  const values: [name: string, expected: Record<string, number>][] = [
    ['svc_open_streams', { svc_open_streams: 5 }],
    ['svc_flusher_lag_records', { svc_flusher_lag_records: 3 }],
    ['svc_flusher_healthy', { svc_flusher_healthy: 2 }],
    ['process_open_fds', { 'process_open_fds{process="1"}': 2, 'process_open_fds{process="2"}': 3 }],
    ['svc_new', { 'svc_new{process="1"}': 2, 'svc_new{process="2"}': 3 }],
  ]
  test.each(values)('the gauge %s is merged by its rule', async (name, expected) => {
    const merged = createMergedMetrics()
    for (const [process, value] of [
      ['1', 2],
      ['2', 3],
    ] as const)
      merged.start(process).update(snapshot(name, 'gauge', { labels: {}, value }))
    const found = [...(await seriesOf(merged))].filter(([series]) => series.startsWith(name))
    expect(Object.fromEntries(found)).toEqual(expected)
  })

  test('a gauge of an ended process is removed, even if it reports again', async () => {
    const merged = createMergedMetrics()
    const life = merged.start('1')
    life.update(snapshot('svc_open_streams', 'gauge', { labels: {}, value: 2 }))
    life.end()
    life.update(snapshot('svc_open_streams', 'gauge', { labels: {}, value: 2 }))
    expect((await seriesOf(merged)).has('svc_open_streams')).toBe(false)
  })
})

test('every gauge has a merge rule, and every rule a gauge', async () => {
  const gateway = await startGateway({ respond: () => new Response(), reloads: true })
  const metrics = JSON.parse(await gateway.gateway.deps.metrics.snapshot()) as { name: string; type: string }[]
  await gateway.stop()
  const gauges = metrics.filter(({ type }) => type === 'gauge').map(({ name }) => name)
  expect(gauges.sort()).toEqual(Object.keys(GAUGE_RULES).sort())
})

test('the documentation has the merge rule of every gauge', async () => {
  const text = await Bun.file('docs/operations/observing.md').text()
  const starts = { sum: '| sum', max: '| highest', min: '| lowest', each: '| one per process' }
  for (const [rule, start] of Object.entries(starts)) {
    const row = text.split('\n').find((line) => line.startsWith(start)) ?? ''
    const named = [...row.matchAll(/`((?:svc|process)_\w+)`/g)].map(([, name = '']) => name)
    const ruled = Object.keys(GAUGE_RULES).filter((name) => GAUGE_RULES[name] === rule)
    expect([rule, named.sort()]).toEqual([rule, ruled.sort()])
  }
})

test('merged histograms have the form of a single process', async () => {
  const metrics = createPrometheusMetrics({ catalog: { current: catalog } })
  metrics.overhead(3)
  const merged = createMergedMetrics()
  for (const name of ['1', '2']) merged.start(name).update(await metrics.snapshot())
  const [one, both] = [readSeries(await metrics.exposition()), await seriesOf(merged)]
  const own = [...one].filter(([name]) => name.startsWith('svc_overhead_seconds'))
  expect(own.length).toBeGreaterThan(10)
  for (const [name, value] of own) expect([name, both.get(name)]).toEqual([name, 2 * value])
  metrics.stop()
})
