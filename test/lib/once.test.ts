/** Work done at its first use: once if it succeeds, and again if it fails. */
import { describe, expect, test } from 'bun:test'
import { once } from '@/lib/once'

describe('once', () => {
  test('once does not run its function before the first call', async () => {
    let calls = 0
    const get = once(async () => ++calls)
    expect(calls).toBe(0)
    await get()
    expect(calls).toBe(1)
  })

  test('once returns the same value to all callers, at once or later', async () => {
    let calls = 0
    const get = once(async () => ({ call: ++calls }))
    const [first, second] = await Promise.all([get(), get()])
    expect(second).toBe(first)
    expect(await get()).toBe(first)
    expect(calls).toBe(1)
  })

  test('once remembers an undefined value', async () => {
    let calls = 0
    const get = once(async () => {
      calls += 1
    })
    await get()
    expect(await get()).toBeUndefined()
    expect(calls).toBe(1)
  })

  test('if its function fails, once fails for all waiting callers, and tries again for the next', async () => {
    let calls = 0
    const get = once(async () => {
      calls += 1
      if (calls === 1) throw new Error('no database')
      return calls
    })
    const together = await Promise.allSettled([get(), get()])
    expect(together.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected'])
    expect(calls).toBe(1)
    expect(await get()).toBe(2)
    expect(await get()).toBe(2)
  })
})
