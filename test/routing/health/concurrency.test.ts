/** Slots at a provider: given out, waited for, given up, and refused at once. */

import { describe, expect, test } from 'bun:test'
import { providerOf } from '@test/routing/world'
import { peek } from 'bun'
import { createConcurrencyLimiter, type Release } from '@/routing/health/concurrency'

const NEVER = new AbortController().signal
const two = providerOf('p1', { maxConcurrency: 2 })

/** What a promise came to by now: its value, or `pending`. */
async function now<T>(promise: Promise<T>): Promise<T | 'pending'> {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  const value = peek(promise)
  return value === promise ? 'pending' : value
}

test('a provider’s slots are given out, and again after their release', () => {
  const limiter = createConcurrencyLimiter()
  const first = limiter.tryTake(two, 'acct_1')
  expect(limiter.tryTake(two, 'acct_1')).toBeDefined()
  expect(limiter.tryTake(two, 'acct_1')).toBeUndefined()
  first?.()
  first?.()
  expect(limiter.list()).toEqual([{ provider: 'p1', inFlight: 1, queued: 0, limit: 2 }])
  expect(limiter.tryTake(two, 'acct_1')).toBeDefined()
  expect(limiter.tryTake(two, 'acct_1')).toBeUndefined()
})

test('a provider without a limit is never full', () => {
  const limiter = createConcurrencyLimiter()
  const open = providerOf('p2')
  for (let index = 0; index < 1_000; index++) expect(limiter.tryTake(open, 'acct_1')).toBeDefined()
  expect(limiter.isOverloaded(open)).toBe(false)
})

test('the queue for slots is served in order', async () => {
  const limiter = createConcurrencyLimiter()
  const held = [limiter.tryTake(two, 'acct_1'), limiter.tryTake(two, 'acct_1')]
  const first = limiter.take(two, 'acct_1', NEVER)
  const second = limiter.take(two, 'acct_1', NEVER)
  expect(await now(first)).toBe('pending')
  held[0]?.()
  expect(await now(first)).toBeFunction()
  expect(await now(second)).toBe('pending')
  expect(limiter.tryTake(two, 'acct_1')).toBeUndefined()
  held[1]?.()
  expect(await now(second)).toBeFunction()
})

test('a slow queue refuses a request at once even if it is empty', async () => {
  const limiter = createConcurrencyLimiter()
  const release = limiter.tryTake(two, 'acct_1')
  release?.(60_000)
  limiter.tryTake(two, 'acct_1')
  limiter.tryTake(two, 'acct_1')
  expect(limiter.isOverloaded(two)).toBe(true)
  const refusal = await limiter.take(two, 'acct_1', NEVER).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ kind: 'overloaded', options: { retryAfterSeconds: 30 } })
})

test('a request that disconnects from the queue gets no slot', async () => {
  const limiter = createConcurrencyLimiter()
  const one = providerOf('p3', { maxConcurrency: 1 })
  const held = limiter.tryTake(one, 'acct_1')
  const client = new AbortController()
  const left = limiter.take(one, 'acct_1', client.signal)
  client.abort()
  held?.()
  expect(await left).toBeUndefined()
  expect(limiter.list()).toEqual([{ provider: 'p3', inFlight: 0, queued: 0, limit: 1 }])
  expect(await limiter.take(one, 'acct_1', client.signal)).toBeFunction()
})

describe('the slots of one account', () => {
  const ten = providerOf('p4', { maxConcurrency: 10 })

  function takeAll(limiter: ReturnType<typeof createConcurrencyLimiter>, accountId: string) {
    const held: Release[] = []
    for (let slot = limiter.tryTake(ten, accountId); slot; slot = limiter.tryTake(ten, accountId)) held.push(slot)
    return held
  }

  test('one account does not get all slots of a provider, unless there are fewer than five', () => {
    const limiter = createConcurrencyLimiter()
    expect(takeAll(limiter, 'acct_1')).toHaveLength(8)
    expect(takeAll(limiter, 'acct_2')).toHaveLength(2)
    expect(limiter.tryTake(ten, 'acct_3')).toBeUndefined()
  })

  test('one account does not get all queue places, and the account with fewer slots goes first', async () => {
    const limiter = createConcurrencyLimiter()
    const held = [...takeAll(limiter, 'acct_1'), ...takeAll(limiter, 'acct_2')]
    expect(held).toHaveLength(10)
    const waiting = Array.from({ length: 8 }, () => limiter.take(ten, 'acct_1', NEVER))
    await expect(limiter.take(ten, 'acct_1', NEVER)).rejects.toMatchObject({ kind: 'overloaded' })
    const other = limiter.take(ten, 'acct_4', NEVER)
    expect(await now(other)).toBe('pending')
    held[0]?.()
    expect(await now(other)).toBeFunction()
    for (const one of waiting) expect(await now(one)).toBe('pending')
    for (const release of held) release()
    for (const one of waiting.slice(0, 7)) expect(await now(one)).toBeFunction()
  })

  test('an account’s count of slots starts anew once its calls have ended', () => {
    const limiter = createConcurrencyLimiter()
    for (const release of takeAll(limiter, 'acct_1')) release()
    expect(takeAll(limiter, 'acct_1')).toHaveLength(8)
  })
})
