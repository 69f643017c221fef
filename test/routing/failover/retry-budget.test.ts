/** The limit on retries keeps them within their share of the traffic. */
import { expect, test } from 'bun:test'
import { manualClock } from '@test/routing/world'
import { fc } from '@test/support/property'
import { createRetryBudget, MIN_RETRIES_PER_MINUTE, RETRY_SHARE } from '@/routing/failover/retry-budget'

function takeAll(budget: { takeRetry(): boolean }): number {
  let taken = 0
  while (budget.takeRetry()) taken++
  return taken
}

test('a quiet gateway may retry a few times a minute', () => {
  const clock = manualClock()
  const budget = createRetryBudget(clock)
  expect(takeAll(budget)).toBe(MIN_RETRIES_PER_MINUTE)
  clock.advance(30_000)
  expect(takeAll(budget)).toBe(0)
  clock.advance(35_000)
  expect(takeAll(budget)).toBe(MIN_RETRIES_PER_MINUTE)
})

test('a busy gateway may retry a tenth of its requests', () => {
  const budget = createRetryBudget(manualClock())
  for (let index = 0; index < 1_000; index++) budget.noteRequest()
  expect(takeAll(budget)).toBe(100)
})

test('in any minute retries never exceed the larger of share and minimum', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ waitMs: fc.integer({ min: 0, max: 4_000 }), wantsRetry: fc.boolean() }), {
        minLength: 50,
        maxLength: 400,
      }),
      (steps) => {
        const clock = manualClock()
        const budget = createRetryBudget(clock)
        const requests: number[] = []
        const retries: number[] = []
        for (const { waitMs, wantsRetry } of steps) {
          clock.advance(waitMs)
          budget.noteRequest()
          requests.push(clock.monotonic())
          if (wantsRetry && budget.takeRetry()) retries.push(clock.monotonic())
          const since = clock.monotonic() - 55_000
          const recentRetries = retries.filter((at) => at >= since).length
          const allowed = Math.max(MIN_RETRIES_PER_MINUTE, requests.length * RETRY_SHARE)
          expect(recentRetries).toBeLessThanOrEqual(allowed)
        }
      },
    ),
  )
})
