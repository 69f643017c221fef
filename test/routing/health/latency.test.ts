/** How long targets usually take, remembered and forgotten. */
import { expect, test } from 'bun:test'
import { manualClock } from '@test/routing/world'
import { createLatencies, FORGOTTEN_AFTER_MS } from '@/routing/health/latency'

test('follows what it sees, keeps streams apart, and forgets', () => {
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
