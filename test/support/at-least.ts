/** The one thing about time that a test may expect: that something is not done too soon. No load makes anything quicker. */
import { expect } from 'bun:test'

/** Does `work`, which takes so long at least: the one bound of time that no load can break. */
export async function expectAtLeast<T>(milliseconds: number, work: () => T | Promise<T>): Promise<T> {
  const startedMs = performance.now()
  const value = await work()
  // A timer counts whole milliseconds.
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(milliseconds - 1)
  return value
}
