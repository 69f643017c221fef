/** Waiting for something with a time limit: `withDeadline`. */

import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { spendThen, standStill } from '@test/support/delays'
import { UNWANTED, watchFor, withDeadline } from '@/lib/deadline'

class TooLateError extends Error {
  override readonly name = 'TooLateError'
}

const never = new Promise<never>(() => undefined)

beforeEach(() => {
  jest.useFakeTimers()
})

afterEach(() => {
  jest.useRealTimers()
})

describe('withDeadline', () => {
  test('withDeadline returns the value of work in time', async () => {
    expect(await withDeadline(Promise.resolve('value'), 10, fail)).toBe('value')
  })

  test('withDeadline throws the error of work in time', async () => {
    await expect(withDeadline(Promise.reject(new Error('refused')), 10, fail)).rejects.toThrow('refused')
  })

  test('after the deadline withDeadline returns the caller’s late result, and not a millisecond earlier', async () => {
    const ended = observe(withDeadline(never, 10, () => 'late'))
    jest.advanceTimersByTime(9)
    await settled()
    expect(ended.value).toBeUndefined()
    jest.advanceTimersByTime(1)
    await settled()
    expect(ended.value).toBe('late')
  })

  test('withDeadline throws the error that the caller throws at the deadline', async () => {
    const ended = withDeadline(never, 10, () => {
      throw new TooLateError('no answer')
    })
    jest.advanceTimersByTime(10)
    await expect(ended).rejects.toBeInstanceOf(TooLateError)
  })

  test('withDeadline waits for work that the caller starts at the deadline', async () => {
    const work = Promise.withResolvers<string>()
    const ended = withDeadline(work.promise, 10, () => {
      work.resolve('killed')
      return work.promise
    })
    jest.advanceTimersByTime(10)
    expect(await ended).toBe('killed')
  })

  test('withDeadline throws the error of work that throws at once, and leaves no timer', async () => {
    const refuse = () => {
      throw new Error('refused at once')
    }
    const work = Object.fromEntries([['then', refuse]]) as unknown as PromiseLike<string>
    let asked = 0
    const ended = withDeadline(work, 10, () => {
      asked += 1
    })
    await expect(ended).rejects.toThrow('refused at once')
    jest.advanceTimersByTime(20)
    expect(asked).toBe(0)
  })

  test('withDeadline does not call the caller if the work was in time', async () => {
    let asked = 0
    await withDeadline(Promise.resolve(), 10, () => {
      asked += 1
    })
    jest.advanceTimersByTime(20)
    await settled()
    expect(asked).toBe(0)
  })

  test('withDeadline leaves no timer behind, whatever the result', async () => {
    await withDeadline(Promise.resolve(), 10, fail)
    await withDeadline(Promise.reject(new Error('refused')), 10, fail).catch(() => undefined)
    expect(jest.getTimerCount()).toBe(0)
    const late = withDeadline(never, 10, () => 'late')
    expect(jest.getTimerCount()).toBe(1)
    jest.advanceTimersByTime(10)
    await late
    expect(jest.getTimerCount()).toBe(0)
  })

  test('a failure after the deadline does not end the process', async () => {
    const unheard: unknown[] = []
    const listener = (reason: unknown) => unheard.push(reason)
    process.on('unhandledRejection', listener)
    const work = Promise.withResolvers<never>()
    const ended = withDeadline(work.promise, 10, () => 'late')
    jest.advanceTimersByTime(10)
    expect(await ended).toBe('late')
    work.reject(new Error('refused, but nobody waits any more'))
    jest.useRealTimers()
    // Rejections that nobody handles are reported at the end of the turn.
    await Bun.sleep(0)
    await Bun.sleep(0)
    process.off('unhandledRejection', listener)
    expect(unheard).toEqual([])
  })
})

describe('a process that stood still, such as on a sleeping machine', () => {
  beforeEach(() => {
    jest.useRealTimers()
  })

  test.each([1, 45, 95])(
    'a stall of the process that begins after %d ms does not count as the server’s time',
    async (afterMs) => {
      expect(await withDeadline(replyAfterStall(afterMs), 100, () => 'late')).toBe('reply')
    },
  )

  test('withDeadline counts only the time in which the process’s loop ran', async () => {
    spendThen(10, () => standStill(300))
    expect(await expectAtLeast(370, () => withDeadline(never, 100, () => 'late'))).toBe('late')
  })

  test('if the process stands still repeatedly, withDeadline gives up in the end', async () => {
    const lagging = setInterval(() => standStill(60), 0)
    expect(await withDeadline(never, 50, () => 'late')).toBe('late')
    clearInterval(lagging)
  })

  /** A reply that lies in the socket when the stall is over, so that the loop reads it some turns later. */
  function replyAfterStall(afterMs: number): Promise<string> {
    const reply = Promise.withResolvers<string>()
    spendThen(afterMs, () => {
      standStill(300)
      setImmediate(() => setImmediate(() => setImmediate(() => reply.resolve('reply'))))
    })
    return reply.promise
  }
})

describe('a watch of a deadline', () => {
  test('a watch returns the result of work until its signal fires, and UNWANTED from then on', async () => {
    const client = new AbortController()
    const watch = watchFor(client.signal)
    expect(await watch.orUnwanted(Promise.resolve('first'))).toBe('first')
    const second = watch.orUnwanted(never)
    client.abort()
    expect(await second).toBe(UNWANTED)
    expect(await watch.orUnwanted(never)).toBe(UNWANTED)
    expect(await watchFor(client.signal).orUnwanted(never)).toBe(UNWANTED)
  })

  test('a watch returns finished work even if its deadline has passed', async () => {
    expect(await watchFor(AbortSignal.abort()).orUnwanted(Promise.resolve('done'))).toBe('done')
  })

  test('a cleared watch is not called', async () => {
    const client = new AbortController()
    const watch = watchFor(client.signal)
    const ended = observe(watch.orUnwanted(never))
    watch.clear()
    client.abort()
    await settled()
    expect(ended.value).toBeUndefined()
  })
})

function fail(): never {
  throw new Error('was not late')
}

function observe<T>(work: Promise<T>): { value: T | undefined } {
  const seen: { value: T | undefined } = { value: undefined }
  void work.then((value) => {
    seen.value = value
  })
  return seen
}

/** Lets all promises that are settled tell everybody who waits for them. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}
