/** The background worker: pauses, failures and stop, on a simulated clock. */
import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { fc } from '@test/support/property'
import { createWorkerLoop, jittered, type WorkerLoopOptions } from '@/lib/worker-loop'

beforeEach(() => {
  jest.useFakeTimers()
})

afterEach(() => {
  jest.useRealTimers()
})

describe('a worker loop', () => {
  test('a worker loop does nothing before its start', async () => {
    const { rounds } = watch({ round: async () => 10 })
    await pass(100)
    expect(rounds()).toBe(0)
  })

  test('a worker loop begins at once, and pauses as long as each round requests', async () => {
    const pauses = [10, 30, 10]
    const { worker, rounds } = watch({ round: async () => pauses.shift() ?? 1_000 })
    worker.start()
    await pass(0)
    expect(rounds()).toBe(1)
    await pass(9)
    expect(rounds()).toBe(1)
    await pass(1)
    expect(rounds()).toBe(2)
    await pass(29)
    expect(rounds()).toBe(2)
    await pass(1)
    expect(rounds()).toBe(3)
  })

  test('a worker loop continues at once if a round has not finished its work', async () => {
    let left = 3
    const { worker, rounds } = watch({ round: async () => (--left > 0 ? 0 : 1_000) })
    worker.start()
    await pass(0)
    expect(rounds()).toBe(3)
  })

  test('a worker loop can wait before its first round', async () => {
    const { worker, rounds } = watch({ round: async () => 1_000, firstPauseMs: 5 })
    worker.start()
    await pass(4)
    expect(rounds()).toBe(0)
    await pass(1)
    expect(rounds()).toBe(1)
  })

  test('a worker loop never runs two rounds at once', async () => {
    const work = Promise.withResolvers<number>()
    const { worker, rounds } = watch({ round: () => work.promise })
    worker.start()
    worker.start()
    await pass(60_000)
    expect(rounds()).toBe(1)
    work.resolve(10)
    await pass(10)
    expect(rounds()).toBe(2)
  })

  test('a worker loop continues after failures, counts successive ones, and pauses longer', async () => {
    const failures: number[] = []
    const outcomes = ['fails', 'fails', 'works', 'fails', 'works']
    const { worker, rounds } = watch({
      async round() {
        if (outcomes.shift() === 'fails') throw new Error('no store')
        return 10
      },
      async onFailure(error, count) {
        expect(error).toEqual(new Error('no store'))
        failures.push(count)
        return 100 * count
      },
    })
    worker.start()
    await pass(0)
    await pass(99)
    expect(rounds()).toBe(1)
    await pass(1)
    await pass(199)
    expect(rounds()).toBe(2)
    await pass(1)
    expect(rounds()).toBe(3)
    await pass(10)
    await pass(100)
    expect(rounds()).toBe(5)
    expect(failures).toEqual([1, 2, 1])
  })

  test('a round that throws synchronously counts as failed', async () => {
    const { worker, rounds } = watch({
      round() {
        throw new Error('at once')
      },
      onFailure: () => 10,
    })
    worker.start()
    await pass(10)
    expect(rounds()).toBe(2)
  })
})

describe('new work during a pause', () => {
  test('new work ends the pause of a worker loop within the stated time', async () => {
    const { worker, rounds } = watch({ round: async () => 60_000 })
    worker.start()
    await pass(0)
    worker.hurry(50)
    await pass(49)
    expect(rounds()).toBe(1)
    await pass(1)
    expect(rounds()).toBe(2)
    expect(jest.getTimerCount()).toBe(1)
  })

  test('new work never lengthens a pause of a worker loop', async () => {
    const { worker, rounds } = watch({ round: async () => 60_000 })
    worker.start()
    await pass(0)
    worker.hurry(50)
    worker.hurry(5_000)
    await pass(50)
    expect(rounds()).toBe(2)
  })

  test('new work has no effect on a worker loop during a round or before the start', async () => {
    const work = Promise.withResolvers<number>()
    const { worker, rounds } = watch({ round: () => work.promise })
    worker.hurry(0)
    worker.start()
    await pass(0)
    worker.hurry(0)
    await pass(1_000)
    expect(rounds()).toBe(1)
    work.resolve(10)
    await pass(9)
    expect(rounds()).toBe(1)
  })
})

describe('stopping a worker loop', () => {
  test('a stop ends the worker loop’s pause, leaves no timer, and is permanent', async () => {
    const { worker, rounds } = watch({ round: async () => 60_000 })
    worker.start()
    await pass(0)
    expect(jest.getTimerCount()).toBe(1)
    await worker.stop()
    expect(jest.getTimerCount()).toBe(0)
    worker.start()
    await pass(120_000)
    expect(rounds()).toBe(1)
  })

  test.each([0, 600_000])(
    'a stop waits for the running round, but not for the pause of %d ms after it',
    async (pauseMs) => {
      const work = Promise.withResolvers<number>()
      const { worker, rounds } = watch({ round: () => work.promise })
      worker.start()
      const stop = observe(worker.stop())
      await pass(60_000)
      expect(stop.isOver).toBe(false)
      expect(worker.isStopping()).toBe(true)
      work.resolve(pauseMs)
      await pass(0)
      expect(stop.isOver).toBe(true)
      expect(rounds()).toBe(1)
      expect(jest.getTimerCount()).toBe(0)
    },
  )

  test('a stop does not wait for a round that takes too long', async () => {
    const { worker } = watch({ round: () => new Promise<number>(() => undefined), stopTimeoutMs: 2_000 })
    worker.start()
    const stop = observe(worker.stop())
    await pass(1_999)
    expect(stop.isOver).toBe(false)
    await pass(1)
    expect(stop.isOver).toBe(true)
  })

  test('a stop waits for a last round, and reports its failure', async () => {
    const [work, last] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()]
    const failures: unknown[] = []
    let lastRounds = 0
    const { worker, rounds } = watch({
      round: () => work.promise,
      lastRound() {
        lastRounds += 1
        return last.promise
      },
      onFailure: (error) => failures.push(error),
    })
    worker.start()
    const stop = observe(worker.stop())
    await pass(10)
    expect(lastRounds).toBe(0)
    work.resolve(60_000)
    await pass(0)
    expect([lastRounds, stop.isOver]).toEqual([1, false])
    last.reject(new Error('no store'))
    await pass(0)
    expect([lastRounds, stop.isOver, rounds()]).toEqual([1, true, 1])
    expect(failures).toEqual([new Error('no store')])
    await worker.stop()
    expect(lastRounds).toBe(1)
  })

  test('stopping a worker that never started ends at once, and so does a second stop', async () => {
    const lastRound = () => Promise.reject(new Error('never'))
    const { worker, rounds } = watch({ round: async () => 10, lastRound, firstPauseMs: 5 })
    await worker.stop()
    await worker.stop()
    worker.start()
    expect(jest.getTimerCount()).toBe(0)
    await pass(10)
    expect(rounds()).toBe(0)
  })

  test('a stop ends a worker that keeps failing', async () => {
    const { worker, rounds } = watch({ round: () => Promise.reject(new Error('no store')), onFailure: () => 50 })
    worker.start()
    await pass(120)
    const before = rounds()
    await worker.stop()
    await pass(1_000)
    expect(rounds()).toBe(before)
  })
})

test('a random pause differs from its length by at most half of the random share', () => {
  jest.useRealTimers()
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.double({ min: 0, max: 1, noNaN: true }), (pause, share) => {
      const one = jittered(pause, share)
      expect(one).toBeGreaterThanOrEqual(pause * (1 - share / 2) - 1e-6)
      expect(one).toBeLessThanOrEqual(pause * (1 + share / 2) + 1e-6)
    }),
  )
  const many = Array.from({ length: 1_000 }, () => jittered(100, 1))
  expect(Math.min(...many)).toBeLessThan(60)
  expect(Math.max(...many)).toBeGreaterThan(140)
})

function watch(options: Pick<WorkerLoopOptions, 'round'> & Partial<WorkerLoopOptions>) {
  let count = 0
  const worker = createWorkerLoop({
    onFailure(error) {
      throw error
    },
    ...options,
    round() {
      count += 1
      return options.round()
    },
  })
  return { worker, rounds: () => count }
}

function observe(work: Promise<void>): { isOver: boolean } {
  const seen = { isOver: false }
  void work.then(() => {
    seen.isOver = true
  })
  return seen
}

/** Lets `milliseconds` go by, one at a time, and what follows from each of them happen. */
async function pass(milliseconds: number): Promise<void> {
  await settled()
  for (let step = 0; step < Math.min(milliseconds, 500); step++) {
    jest.advanceTimersByTime(1)
    await settled()
  }
  if (milliseconds > 500) jest.advanceTimersByTime(milliseconds - 500)
  await settled()
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
