/** The last work of the event loop, and the notice of the next work. */
import { expect, test } from 'bun:test'
import { lastWorkMs, longestWorkSince, noteWork, onNextWork } from '@/metrics/work-log'

test('a listener for the next work of the event loop is called once', () => {
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
