/** One timer for many items: each is called once its time has come, and no longer once it is not watched. */
import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { dueIn, type Timed, unwatch, watch } from '@/lib/wait/coarse-time'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

function timed(milliseconds: number, everyMs = Number.POSITIVE_INFINITY): Timed & { calls: number } {
  const one = {
    calls: 0,
    dueAtMs: dueIn(milliseconds),
    onDue() {
      one.calls++
      one.dueAtMs = dueIn(everyMs)
    },
  }
  watch(one)
  return one
}

test('a watched item is called once its time has come', () => {
  const [early, late] = [timed(200), timed(1_000)]
  jest.advanceTimersByTime(150)
  expect([early.calls, late.calls]).toEqual([0, 0])
  jest.advanceTimersByTime(150)
  expect([early.calls, late.calls]).toEqual([1, 0])
  jest.advanceTimersByTime(800)
  expect([early.calls, late.calls]).toEqual([1, 1])
  unwatch(early)
  unwatch(late)
})

test('an item that sets a new time is called again at that time', () => {
  const one = timed(100, 100)
  jest.advanceTimersByTime(1_000)
  expect(one.calls).toBeGreaterThan(3)
  unwatch(one)
})

test('an item that is no longer watched is not called', () => {
  const first = timed(100)
  const second = timed(100)
  first.onDue = () => {
    unwatch(first)
    unwatch(second)
  }
  jest.advanceTimersByTime(1_000)
  expect(second.calls).toBe(0)
})

test('the shared timer starts again when there is something to watch', () => {
  const first = timed(100)
  unwatch(first)
  jest.advanceTimersByTime(500)
  const second = timed(100)
  jest.advanceTimersByTime(200)
  expect([first.calls, second.calls]).toEqual([0, 1])
  unwatch(second)
})
