/** The arithmetic of the benchmark: medians, percentiles, ratios round by round. */
import { describe, expect, test } from 'bun:test'
import { createSamples, percentilesOf } from '@bench/load/samples'
import { median, ratioSpread, spreadOf } from '@bench/report/statistics'

describe('median and spread', () => {
  test('the median is the middle value, or the mean of the two middle values', () => {
    expect(median([9, 1, 5])).toBe(5)
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(median([7])).toBe(7)
    expect(median([])).toBeNaN()
  })

  test('statistics omit non-numbers, and an empty list has no median', () => {
    expect(spreadOf([3, undefined, 1, Number.NaN, 2])).toEqual({ median: 2, low: 1, high: 3, rounds: 3 })
    expect(spreadOf([undefined, Number.POSITIVE_INFINITY])).toBeUndefined()
  })

  test('a ratio is computed within each round, so that a slow round cancels out', () => {
    expect(ratioSpread([30, 300, 45], [10, 100, 10])).toEqual({ median: 3, low: 3, high: 4.5, rounds: 3 })
    expect(ratioSpread([10, 20], [0, 5])).toEqual({ median: 4, low: 4, high: 4, rounds: 1 })
    expect(ratioSpread([10], [])).toBeUndefined()
  })
})

describe('percentiles', () => {
  test('percentiles take the nearest rank', () => {
    const values = Float64Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(percentilesOf(values)).toEqual({ p50: 50, p90: 90, p99: 99, worst: 100 })
    expect(percentilesOf(new Float64Array([4]))).toEqual({ p50: 4, p90: 4, p99: 4, worst: 4 })
    expect(percentilesOf(new Float64Array())).toEqual({ p50: 0, p90: 0, p99: 0, worst: 0 })
  })

  test('the list of benchmark samples grows beyond its first capacity', () => {
    const samples = createSamples()
    for (let value = 1; value <= 10_000; value++) samples.add(value)
    expect(samples.percentiles()).toEqual({ p50: 5_000, p90: 9_000, p99: 9_900, worst: 10_000 })
  })
})
