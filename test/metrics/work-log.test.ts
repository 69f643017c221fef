/** What the event loop took up last, and who is told of the next. */
import { expect, test } from 'bun:test'
import { lastWorkMs, longestWorkSince, noteWork, onNextWork } from '@/metrics/work-log'

test('a waiting worker gets the next job once', () => {
  const startedMs = performance.now()
  let told = 0
  onNextWork(() => void told++)
  expect(told).toBe(0)
  noteWork('/one')
  noteWork('/two')
  expect(told).toBe(1)
  expect(lastWorkMs()).toBeGreaterThanOrEqual(startedMs)
  expect(['/one', '/two']).toContain(longestWorkSince(startedMs) ?? '')
})
