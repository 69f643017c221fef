/** The usual number of tokens per second of targets: measured and expired. */
import { expect, test } from 'bun:test'
import { manualClock } from '@test/routing/world'
import { createThroughputs } from '@/routing/health/throughput'

test('tokens per second are measured by answers that are long enough, and expire', () => {
  const clock = manualClock()
  const throughputs = createThroughputs(clock)
  throughputs.note('p1/a', 31, 1)
  throughputs.note('p1/a', 1_000, 0)
  expect(throughputs.usual('p1/a')).toBeUndefined()
  throughputs.note('p1/a', 100, 2_000)
  expect(throughputs.usual('p1/a')).toBe(50)
  for (let index = 0; index < 50; index++) throughputs.note('p1/a', 1_000, 10_000)
  expect(throughputs.usual('p1/a')).toBeGreaterThan(99)
  expect(throughputs.usual('p1/b')).toBeUndefined()
  clock.advance(10 * 60_000 + 1)
  expect(throughputs.usual('p1/a')).toBeUndefined()
  throughputs.note('p1/a', 100, 10_000)
  expect(throughputs.usual('p1/a')).toBe(10)
})
