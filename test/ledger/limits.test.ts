/** Rate limits, concurrency and monthly budgets, which reserve checks in the same step as the credit. */

import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import { setStored } from '@test/ledger/store/stored'
import type { Payer } from '@/ledger/outcomes'
import { keyName } from '@/ledger/store/names'
import { nano } from '@/lib/money'
import { type Bench, connect, createBench, letTimePass, passDeadline, request, settlement, storeMs } from './harness'
import { keyState } from './memory-history'

const LIMITS = { requestsPerMinute: 6, tokensPerMinute: 600, concurrency: 3 }
let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect(), LIMITS)
})
afterAll(() => bench.redis.disconnect())

/** Reserves and settles at once, so that only the rate limits remember it. */
async function pass(payer: Payer, tokens: number, used = tokens) {
  const hold = request(payer, 1, { tokens })
  const outcome = await bench.ledger.reserve(hold)
  if (outcome.kind === 'reserved') await bench.ledger.settle(settlement(hold, 0, { tokens: used }))
  return outcome
}

test.each(['requests', 'tokens'] as const)(
  '%s per minute are refilled although the clock was set back by an hour',
  async (scope) => {
    const payer = await bench.fund(1_000)
    const exhaust = async () => {
      for (let count = 0; count < 6; count++) if (scope === 'requests') await pass(payer, 1)
      return await pass(payer, scope === 'requests' ? 1 : 600)
    }
    await exhaust()
    await letTimePass(bench.redis, payer, -3_600_000)
    expect(await pass(payer, 600)).toMatchObject({ kind: 'rate_limited', scope })
    await letTimePass(bench.redis, payer, 60_000)
    expect(await pass(payer, 600)).toMatchObject({ kind: 'reserved' })
  },
)

describe('requests per minute', () => {
  test('requests per minute are counted down, refused with a waiting time, and refilled evenly', async () => {
    const payer = await bench.fund(1_000)
    const sinceMs = await storeMs(bench.redis)
    for (let left = 5; left >= 0; left--) {
      expect(await pass(payer, 1)).toMatchObject({ limits: { requests: { limit: 6, remaining: left } } })
    }
    const denied = await pass(payer, 1)
    const tookMs = (await storeMs(bench.redis)) - sinceMs
    expect(denied).toMatchObject({ kind: 'rate_limited', scope: 'requests', limit: 6 })
    const retryAfterMs = denied.kind === 'rate_limited' ? denied.retryAfterMs : 0
    expect(denied).toMatchObject({ limits: { requests: { limit: 6, remaining: 0, resetMs: retryAfterMs + 50_000 } } })
    expect(retryAfterMs).toBeGreaterThanOrEqual(10_000 - tookMs)
    expect(retryAfterMs).toBeLessThanOrEqual(10_000)
    await letTimePass(bench.redis, payer, retryAfterMs)
    expect(await pass(payer, 1)).toMatchObject({ limits: { requests: { remaining: 0 } } })
    await letTimePass(bench.redis, payer, 30_000)
    expect(await pass(payer, 1)).toMatchObject({ limits: { requests: { remaining: 2 } } })
    await letTimePass(bench.redis, payer, 3_600_000)
    expect(await pass(payer, 1)).toMatchObject({ limits: { requests: { remaining: 5 } } })
  })

  test('a release does not return the request to the limit per minute', async () => {
    const payer = await bench.fund(1_000)
    const hold = request(payer, 1)
    await bench.ledger.reserve(hold)
    await bench.ledger.release(hold)
    expect(await pass(payer, 1)).toMatchObject({ limits: { requests: { remaining: 4 } } })
  })

  test('a key’s own limit of requests per minute replaces the default, and changes at once', async () => {
    const payer = await bench.fund(1_000, { requestsPerMinute: 1 })
    bench.history.setAccount(payer.accountId, { requestsPerMinute: 600 })
    expect(await pass(payer, 1)).toMatchObject({ limits: { requests: { limit: 1, remaining: 0 } } })
    expect(await pass(payer, 1)).toMatchObject({ kind: 'rate_limited', limit: 1 })
    await bench.ledger.setKeyState(keyState(payer, { requestsPerMinute: 600 }))
    await letTimePass(bench.redis, payer, 1_000)
    expect(await pass(payer, 1)).toMatchObject({ kind: 'reserved', limits: { requests: { limit: 600 } } })
    await bench.ledger.setKeyState(keyState(payer, { requestsPerMinute: 2 }))
    expect(await pass(payer, 1)).toMatchObject({ limits: { requests: { limit: 2, remaining: 1 } } })
  })
})

describe('tokens per minute', () => {
  test('tokens per minute are taken by the upper bound and corrected by the usage', async () => {
    const payer = await bench.fund(1_000)
    expect(await pass(payer, 500, 100)).toMatchObject({ limits: { tokens: { limit: 600, remaining: 100 } } })
    expect(await pass(payer, 500, 500)).toMatchObject({ kind: 'reserved' })
    // Ten come back each second: what is asked for here takes longer than a busy machine between two lines.
    const denied = await pass(payer, 400)
    expect(denied).toMatchObject({ kind: 'rate_limited', scope: 'tokens', limit: 600 })
    const retryAfterMs = denied.kind === 'rate_limited' ? denied.retryAfterMs : 0
    expect(retryAfterMs).toBeLessThanOrEqual(40_000)
    expect(denied).toMatchObject({ limits: { tokens: { limit: 600, resetMs: retryAfterMs + 20_000 } } })
  })

  test('a request larger than the whole token limit is accepted and takes the full bucket', async () => {
    const payer = await bench.fund(1_000)
    expect(await pass(payer, 1_000_000, 600)).toMatchObject({ limits: { tokens: { remaining: 0 } } })
    expect(await pass(payer, 300)).toMatchObject({ kind: 'rate_limited', scope: 'tokens' })
    await letTimePass(bench.redis, payer, 30_000)
    expect(await pass(payer, 1_000_000)).toMatchObject({ kind: 'rate_limited', scope: 'tokens' })
    await letTimePass(bench.redis, payer, 30_000)
    expect(await pass(payer, 1_000_000)).toMatchObject({ kind: 'reserved' })
  })

  test('using more tokens than were taken makes a debt, which refills within two minutes', async () => {
    const payer = await bench.fund(1_000)
    await pass(payer, 100, 900)
    expect(await pass(payer, 1)).toMatchObject({ scope: 'tokens' })
    await letTimePass(bench.redis, payer, 31_000)
    expect(await pass(payer, 1)).toMatchObject({ kind: 'reserved' })
    await pass(payer, 1, 1_000_000_000)
    await letTimePass(bench.redis, payer, 61_000)
    expect(await pass(payer, 1)).toMatchObject({ kind: 'reserved' })
  })

  test('tokens are returned by a release, and by expiry before the upstream was reached', async () => {
    const payer = await bench.fund(1_000)
    const [released, expired] = [request(payer, 1, { tokens: 600 }), request(payer, 1, { tokens: 600 })]
    await bench.ledger.reserve(released)
    await bench.ledger.release(released)
    expect(await bench.ledger.reserve(expired)).toMatchObject({ kind: 'reserved' })
    await passDeadline(bench.redis, expired)
    await bench.ledger.expireDue(100)
    expect(await pass(payer, 600)).toMatchObject({ kind: 'reserved' })
  })
})

describe('concurrency', () => {
  test('open holds count for the concurrency limit, however they end', async () => {
    const payer = await bench.fund(1_000, { requestsPerMinute: 1_000 })
    bench.history.setAccount(payer.accountId, { requestsPerMinute: 1_000 })
    const holds = [request(payer, 1), request(payer, 1), request(payer, 1)] as const
    for (const hold of holds) expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
    const denied = { kind: 'rate_limited', scope: 'concurrency', limit: 3, retryAfterMs: 1_000 }
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject(denied)
    await bench.ledger.settle(settlement(holds[0], 1))
    await bench.ledger.settle(settlement(holds[0], 1))
    await bench.ledger.release(holds[1])
    await bench.ledger.release(holds[1])
    await passDeadline(bench.redis, holds[2])
    await bench.ledger.expireDue(100)
    await bench.ledger.settle(settlement(holds[2], 1))
    expect(await bench.ledger.readKey(payer)).toMatchObject({ open: 0, held: nano(0) })
  })

  test('a key’s own concurrency limit replaces the default', async () => {
    const payer = await bench.fund(1_000, { concurrency: 1 })
    await bench.ledger.reserve(request(payer, 1))
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ scope: 'concurrency', limit: 1 })
  })
})

describe('the monthly budget', () => {
  test('the monthly budget counts held and spent credit; a refusal has the date of the next month', async () => {
    const payer = await bench.fund(10_000, { monthlyBudget: nano(1_000) })
    const first = request(payer, 600)
    await bench.ledger.reserve(first)
    const denied = await bench.ledger.reserve(request(payer, 401))
    const now = new Date(await storeMs(bench.redis))
    const resetsAtMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
    expect(denied).toEqual({
      ...{ kind: 'budget_exceeded', resetsAtMs, remaining: nano(400), held: nano(600), needed: nano(401) },
      available: nano(9_400),
    })
    await bench.ledger.settle(settlement(first, 900))
    expect(await bench.ledger.reserve(request(payer, 101))).toMatchObject({ remaining: nano(100) })
    expect(await bench.ledger.reserve(request(payer, 100))).toMatchObject({ kind: 'reserved' })
  })

  test('in a new month the budget starts with the open holds only', async () => {
    const payer = await bench.fund(10_000, { monthlyBudget: nano(1_000) })
    const [spent, open] = [request(payer, 500), request(payer, 400)]
    await bench.ledger.reserve(spent)
    await bench.ledger.settle(settlement(spent, 500))
    await bench.ledger.reserve(open)
    expect(await bench.ledger.reserve(request(payer, 101))).toMatchObject({ kind: 'budget_exceeded' })
    await setStored(bench.redis, 'key', keyName(payer), { month: 202001 })
    expect(await bench.ledger.readKey(payer)).toMatchObject({ spentThisMonth: nano(0) })
    expect(await bench.ledger.reserve(request(payer, 601))).toMatchObject({ remaining: nano(600) })
    await bench.ledger.settle(settlement(open, 300))
    expect(await bench.ledger.readKey(payer)).toMatchObject({ spentThisMonth: nano(300), held: nano(0) })
    expect(await bench.ledger.reserve(request(payer, 700))).toMatchObject({ kind: 'reserved' })
  })

  test('a budget of 0 allows only free requests; after overspending, 0 remains', async () => {
    const payer = await bench.fund(10_000, { monthlyBudget: nano(0) })
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ remaining: nano(0) })
    const free = request(payer, 0)
    expect(await bench.ledger.reserve(free)).toMatchObject({ kind: 'reserved' })
    await bench.ledger.settle(settlement(free, 50))
    expect(await bench.ledger.reserve(request(payer, 1))).toMatchObject({ remaining: nano(0) })
  })
})
