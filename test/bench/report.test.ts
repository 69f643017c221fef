/** The benchmark's report: goals, comparison with an earlier run, tables, plots, and the page in the docs. */
import { describe, expect, test } from 'bun:test'
import { baselineOf, compare } from '@bench/report/baseline'
import { GOALS, standings } from '@bench/report/goals'
import { markdownOf, number, publishedOf } from '@bench/report/markdown'
import { drawPlot, PLOTS } from '@bench/report/plot'
import { between } from '@bench/report/publish'
import { AGAINST, addRound, addThreads, failingScenarios, OURS, type Results, type Row } from '@bench/report/results'
import { summaryOf } from '@bench/report/summary'

function results(ourMicroseconds: number[], bareMicroseconds: number[]): Results {
  const rows: Row[] = []
  for (const cpuMicroseconds of ourMicroseconds) addRound(rows, 'json-64', 'svc-gateway', { cpuMicroseconds })
  for (const cpuMicroseconds of bareMicroseconds) addRound(rows, 'json-64', 'bare Bun', { cpuMicroseconds })
  return {
    ...{ mode: 'quick', seconds: 1, rows, threads: [], notes: [] },
    machine: {
      ...{ processor: 'P', cores: 2, bun: '1', at: '2026-01-01T00:00:00Z', loadBefore: 0, loadAfter: 0 },
      othersPercent: 0,
    },
    peers: [
      { name: 'bare Bun', state: 'bare' },
      { name: 'Bifrost', state: 'all on', absent: 'not | here' },
      { name: 'svc-gateway', state: 'all on' },
    ],
    scenarios: [{ id: 'json-64', title: 'JSON', unit: 'request' }],
  }
}

const standing = (of: Results, id: string) => standings(of).find(({ goal }) => goal.id === id)

describe('goals', () => {
  test('a benchmark goal is a ratio of figures from the same round', () => {
    const reached = standing(results([60, 600, 66], [30, 300, 30]), 'cpu-json')
    expect(reached?.spread).toEqual({ median: 2, low: 2, high: 2.2, rounds: 3 })
    expect(reached?.isReached).toBe(true)
    expect(standing(results([400], [30]), 'cpu-json')?.isReached).toBe(false)
  })

  test('a benchmark goal also shows the ratio of the lean server', () => {
    const of = results([60], [30])
    addRound(of.rows, 'json-64', 'lean', { cpuMicroseconds: 45, redisMicroseconds: 9 })
    expect(standing(of, 'cpu-json')?.floor?.median).toBe(1.5)
    expect(standing(of, 'cpu-redis')?.floor?.median).toBe(9)
    expect(standing(of, 'prompt-100k')?.floor).toBeUndefined()
  })

  test('a benchmark goal that was not measured shows the reason', () => {
    const of = results([60], [30])
    expect(standing(of, 'rate-bifrost')?.why).toBe('Bifrost took no part')
    expect(standing(of, 'second-process')?.why).toBe('svc-gateway × 2 was not part of this run')
    expect(standing(of, 'idle-cpu')?.why).toBe('idle was not part of this run')
  })

  test('benchmark goals have unique ids', () => {
    expect(new Set(GOALS.map(({ id }) => id)).size).toBe(GOALS.length)
  })
})

describe('the comparison with an earlier run', () => {
  const baseline = baselineOf(standings(results([60], [20])), { at: '', processor: '', bun: '' })

  test('the comparison finds figures that became worse by more than the noise', () => {
    const outcome = (ours: number) => compare(baseline, standings(results([ours], [20])))[0]?.isWorse
    expect(baseline.medians['cpu-json']).toBe(3)
    expect(outcome(74)).toBe(false)
    expect(outcome(76)).toBe(true)
    expect(outcome(20)).toBe(false)
  })

  test('the comparison omits figures that only one run has', () => {
    const medians = { 'cpu-json': 3, 'idle-cpu': 1, gone: 1 }
    const compared = compare({ ...baseline, medians }, standings(results([60], [20])))
    expect(compared.map(({ id }) => id)).toEqual(['cpu-json'])
  })
})

describe('the report', () => {
  const of = results([60, 70, 65], [30, 30, 30])
  const markdown = markdownOf(of, standings(of))

  test('the benchmark report has medians with their spread, and lists servers that did not take part', () => {
    expect(markdown).toContain('| svc-gateway | 65.0 (60.0–70.0) |')
    expect(markdown).toContain('| Bifrost | took no part: not / here |')
    expect(markdown).toContain('not measured: Bifrost took no part')
  })

  test('the docs omit the report’s tables of scenarios', () => {
    expect(markdown).toContain('| JSON | CPU µs |')
    const published = publishedOf(of, standings(of))
    expect(published).not.toContain('| JSON | CPU µs |')
    expect(published).toContain('| goal | measured |')
  })

  test('the benchmark report compares two checkouts by thread', () => {
    const two = results([60, 90], [30, 30])
    for (const cpuMicroseconds of [80, 90]) addRound(two.rows, 'json-64', AGAINST, { cpuMicroseconds })
    addThreads(two.threads, 'json-64', OURS, { 'HTTP Client': 20, idle: 0.1 })
    addThreads(two.threads, 'json-64', AGAINST, { 'HTTP Client': 30 })
    const text = markdownOf(two, standings(two))
    expect(text).toContain('| CPU µs, ratio | 0.88 (0.75–1.00) | |')
    expect(text).toContain('| thread HTTP Client, µs | 20.0 | 30.0 |')
    expect(text).not.toContain('thread idle')
  })

  test('the benchmark report draws only servers with a figure, and no plot without a comparison', () => {
    const [plot] = PLOTS.filter(({ scenario, figure }) => scenario === 'json-64' && figure === 'cpuMicroseconds')
    const drawing = plot && drawPlot(of, plot)
    expect(drawing?.match(/<rect /g)).toHaveLength(3)
    expect(drawing).toContain('65.0 µs')
    expect(drawing).not.toContain('Bifrost')
    expect(plot && drawPlot(results([60], []), plot)).toBeUndefined()
  })

  test('figures of the report have three significant digits', () => {
    expect([12_345.6, 123.4, 12.34, 1.234, 0.0123, 0].map(number)).toEqual([
      '12,346',
      '123',
      '12.3',
      '1.23',
      '0.012',
      '0',
    ])
  })

  test('the short benchmark report has a row for each server that took part', () => {
    const summary = summaryOf(of)
    expect(summary).toContain('| svc-gateway | – | 65.0 | – |')
    expect(summary).not.toContain('| Bifrost |')
    expect(summary).toContain('Took no part: Bifrost.')
  })

  test('the benchmark report replaces the text between the page’s marks, and refuses a page without marks', () => {
    const page = 'a\n<!-- bench: begin -->\nold\n<!-- bench: end -->\nb'
    expect(between(page, 'bench', 'new')).toBe('a\n<!-- bench: begin -->\nnew\n<!-- bench: end -->\nb')
    expect(() => between('a', 'bench', 'new')).toThrow('lacks')
  })
})

test('the report names a scenario in which the gateway failed to answer', () => {
  const rows: Row[] = []
  addRound(rows, 'whole', OURS, { failedShare: 0 })
  addRound(rows, 'cut', OURS, { failedShare: 0 })
  addRound(rows, 'cut', OURS, { failedShare: 0.01 })
  addRound(rows, 'not ours', 'nginx', { failedShare: 1 })
  expect(failingScenarios({ rows })).toEqual(['cut'])
})
