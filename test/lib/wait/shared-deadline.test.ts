/** Tests the one timer of many waits: who is late, who is not, and what a process that stood still owes to whom it waits for. */

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { spend, standStill } from '@test/support/delays'
import { createSharedDeadline, SharedWait } from '@/lib/wait/shared-deadline'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

class CountedWait extends SharedWait {
  late = 0

  constructor(private readonly tell: () => void = () => undefined) {
    super()
  }

  onLate(): void {
    this.late += 1
    this.tell()
  }
}

/** Begins a wait that counts how often it was found late. */
function watched(deadline: ReturnType<typeof createSharedDeadline>, tell?: () => void): CountedWait {
  const wait = new CountedWait(tell)
  deadline.begin(wait)
  return wait
}

test('a wait is late after its time, once, and not much before', () => {
  const deadline = createSharedDeadline(1_000)
  const first = watched(deadline)
  jest.advanceTimersByTime(450)
  const second = watched(deadline)
  jest.advanceTimersByTime(449)
  expect(first.late).toBe(0)
  jest.advanceTimersByTime(101)
  expect([first.late, second.late]).toEqual([1, 0])
  jest.advanceTimersByTime(3_000)
  expect([first.late, second.late]).toEqual([1, 1])
})

test('one that is over is left alone, wherever it stands', () => {
  const deadline = createSharedDeadline(100)
  const waits = Array.from({ length: 5_000 }, () => watched(deadline))
  for (const [index, wait] of waits.entries()) wait.isOver = index % 7 !== 3
  jest.advanceTimersByTime(500)
  expect(waits.filter(({ late }) => late === 1).length).toBe(waits.filter((_, index) => index % 7 === 3).length)
  expect(waits.some(({ late }, index) => late > 0 && index % 7 !== 3)).toBe(false)
})

test('a long row of waits that end in time never ends one of them', () => {
  const deadline = createSharedDeadline(100)
  const late: number[] = []
  for (let round = 0; round < 50; round++) {
    const waits = Array.from({ length: 100 }, () => watched(deadline, () => late.push(round)))
    jest.advanceTimersByTime(50)
    for (const wait of waits) wait.isOver = true
  }
  expect(late).toEqual([])
})

test('no timer is left behind once nobody waits', () => {
  const deadline = createSharedDeadline(100)
  watched(deadline).isOver = true
  jest.advanceTimersByTime(1_000)
  expect(jest.getTimerCount()).toBe(0)
  expect(watched(deadline)).toMatchObject({ late: 0 })
  expect(jest.getTimerCount()).toBe(1)
})

test('time in which the process stood still is not counted', async () => {
  jest.useRealTimers()
  const deadline = createSharedDeadline(2_000)
  const counted = watched(deadline)
  await spend(5)
  standStill(2_500)
  await spend(60)
  expect(counted.late).toBe(0)
  const late = Promise.withResolvers<void>()
  watched(deadline, late.resolve)
  await late.promise
  expect(counted.late).toBe(1)
})
