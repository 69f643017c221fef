/** The usual latency of targets: measured, shared and expired. */
import { expect, test } from 'bun:test'
import { manualClock } from '@test/routing/world'
import { createLatencies, FORGOTTEN_AFTER_MS } from '@/routing/health/latency'

test('latencies follow the measurements, are separate for streams, and expire', () => {
  const clock = manualClock()
  const latencies = createLatencies(clock)
  expect(latencies.usual('p1/a', true)).toBeUndefined()
  latencies.note('p1/a', true, 100)
  expect(latencies.usual('p1/a', true)).toBe(100)
  expect(latencies.usual('p1/a', false)).toBeUndefined()
  for (let index = 0; index < 50; index++) latencies.note('p1/a', true, 1_000)
  expect(latencies.usual('p1/a', true)).toBeGreaterThan(990)
  clock.advance(FORGOTTEN_AFTER_MS + 1)
  expect(latencies.usual('p1/a', true)).toBeUndefined()
  latencies.note('p1/a', true, 50)
  expect(latencies.usual('p1/a', true)).toBe(50)
})

test('the 99th percentile needs a few values, is published once, and other gateways’ values count until then', () => {
  const clock = manualClock()
  const latencies = createLatencies(clock)
  for (let index = 0; index < 4; index++) latencies.note('p1/a', true, 100)
  expect(latencies.slowest('p1/a', true)).toBeUndefined()
  latencies.adopt('p1/a', true, 700)
  expect(latencies.slowest('p1/a', true)).toBe(700)
  latencies.note('p1/a', true, 300)
  expect(latencies.slowest('p1/a', true)).toBe(300)
  expect(latencies.takeNews()).toEqual([{ id: 'p1/a', stream: true, slowestMs: 300 }])
  expect(latencies.takeNews()).toEqual([])
  for (let index = 0; index < 200; index++) latencies.note('p1/a', true, index === 150 ? 9_000 : 50)
  expect(latencies.slowest('p1/a', true)).toBe(50)
  expect(latencies.slowest('p1/a', false)).toBeUndefined()
  clock.advance(FORGOTTEN_AFTER_MS + 1)
  expect(latencies.slowest('p1/a', true)).toBeUndefined()
})
