/** The limits of an account: what all its keys may use together, whatever their own limits, decided at every reserve. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readStored } from '@test/ledger/store/stored'
import type { Payer } from '@/ledger/outcomes'
import { accountName, keyName } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { type Bench, connect, createBench, letTimePass, passDeadline, request, settlement } from './harness'
import { accountState, keyState } from './memory-history'

const LIMITS = { requestsPerMinute: 6, tokensPerMinute: 600, concurrency: 3 }
let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect(), LIMITS)
})
afterAll(() => bench.redis.disconnect())

/** An account with two keys, each of which asks for far more than the account may do. */
async function greedy(limits: object = {}): Promise<[Payer, Payer]> {
  const own = { requestsPerMinute: 2_000_000_000, tokensPerMinute: 2_000_000_000, concurrency: 2_000_000_000 }
  const first = await bench.fund(1_000_000, own)
  const second = { accountId: first.accountId, keyId: randomId('key') }
  bench.history.setKey({ ...own, ...second })
  bench.history.setAccount(first.accountId, limits)
  return [first, second]
}

async function pass(payer: Payer, tokens = 1) {
  const hold = request(payer, 1, { tokens })
  const outcome = await bench.ledger.reserve(hold)
  if (outcome.kind === 'reserved') await bench.ledger.settle(settlement(hold, 0, { tokens }))
  return outcome
}

describe('limits of all keys of an account together', () => {
  test('an account’s keys together cannot send more requests a minute than its limit, whatever their own limits', async () => {
    const [first, second] = await greedy()
    for (let sent = 0; sent < 3; sent++) {
      expect(await pass(first)).toMatchObject({ kind: 'reserved' })
      expect(await pass(second)).toMatchObject({ limits: { requests: { limit: 6, remaining: 4 - 2 * sent } } })
    }
    const denied = { kind: 'rate_limited', scope: 'requests', of: 'account', limit: 6 }
    expect(await pass(first)).toMatchObject(denied)
    expect(await pass(second)).toMatchObject(denied)
    await letTimePass(bench.redis, first, 10_000)
    expect(await pass(second)).toMatchObject({ kind: 'reserved' })
    expect(await pass(first)).toMatchObject(denied)
  })

  test('an account’s keys together cannot use more tokens a minute than its limit; unused tokens are returned', async () => {
    const [first, second] = await greedy({ requestsPerMinute: 1_000 })
    expect(await pass(first, 400)).toMatchObject({ kind: 'reserved' })
    expect(await pass(second, 599)).toMatchObject({ kind: 'rate_limited', scope: 'tokens', of: 'account', limit: 600 })
    const hold = request(second, 1, { tokens: 200 })
    expect(await bench.ledger.reserve(hold)).toMatchObject({ limits: { tokens: { limit: 600 } } })
    // Ten come back each second by themselves: half a minute of a busy machine is not enough for these.
    expect(await pass(first, 300)).toMatchObject({ kind: 'rate_limited', of: 'account' })
    await bench.ledger.settle(settlement(hold, 0, { tokens: 50 }))
    expect(await pass(first, 150)).toMatchObject({ kind: 'reserved' })
  })

  test('an account’s keys together cannot have more open requests than its limit, and ended requests free it', async () => {
    const [first, second] = await greedy({ requestsPerMinute: 1_000 })
    const holds = [request(first, 1), request(second, 1), request(first, 1)] as const
    for (const hold of holds) expect(await bench.ledger.reserve(hold)).toMatchObject({ kind: 'reserved' })
    const denied = { kind: 'rate_limited', scope: 'concurrency', of: 'account', limit: 3, retryAfterMs: 1_000 }
    expect(await bench.ledger.reserve(request(second, 1))).toMatchObject(denied)
    await bench.ledger.settle(settlement(holds[0], 1))
    await bench.ledger.settle(settlement(holds[0], 1))
    await bench.ledger.release(holds[1])
    await passDeadline(bench.redis, holds[2])
    await bench.ledger.expireDue(100)
    await bench.ledger.settle(settlement(holds[2], 1))
    expect(await readStored(bench.redis, 'account', accountName(first.accountId))).toMatchObject({ open: '0' })
  })

  test('a refusal by the account’s limit changes neither the account’s nor the key’s counts', async () => {
    const [first] = await greedy({ requestsPerMinute: 1 })
    await pass(first)
    const names = [accountName(first.accountId), keyName(first)]
    const before = await Promise.all(names.map((name) => bench.redis.dumpBuffer(name)))
    expect(await pass(first)).toMatchObject({ of: 'account', limit: 1 })
    expect(await Promise.all(names.map((name) => bench.redis.dumpBuffer(name)))).toEqual(before)
  })
})

describe('an administrator', () => {
  test('an administrator raises and lowers the account’s limits from the next request on; a key’s own limit stays', async () => {
    const [first] = await greedy()
    const { accountId } = first
    for (let sent = 0; sent < 6; sent++) await pass(first)
    expect(await pass(first)).toMatchObject({ of: 'account', limit: 6 })
    await bench.ledger.setAccountState(accountState(accountId, { requestsPerMinute: 600_000 }))
    await letTimePass(bench.redis, first, 1_000)
    expect(await pass(first)).toMatchObject({ kind: 'reserved' })
    await bench.ledger.setKeyState(keyState(first, { requestsPerMinute: 2 }))
    expect(await pass(first)).toMatchObject({ limits: { requests: { limit: 2 } } })
    await bench.ledger.setAccountState(accountState(accountId, { requestsPerMinute: 1 }))
    expect(await pass(first)).toMatchObject({ limits: { requests: { limit: 1, remaining: 0 } } })
  })

  test('the administrator’s limits still apply after Redis was emptied', async () => {
    const [first] = await greedy({ concurrency: 1 })
    const hold = request(first, 1)
    await bench.ledger.reserve(hold)
    await bench.redis.del(accountName(first.accountId))
    expect(await bench.ledger.reserve(request(first, 1))).toMatchObject({
      of: 'account',
      scope: 'concurrency',
      limit: 1,
    })
    await bench.ledger.release(hold)
    expect(await pass(first)).toMatchObject({ kind: 'reserved' })
  })
})

test.each([0, -1, 1.5, 99_999_999_999])('a limit of %p is refused and changes nothing', async (concurrency) => {
  const [first] = await greedy()
  await pass(first)
  const before = await bench.redis.dumpBuffer(accountName(first.accountId))
  await expect(bench.ledger.setAccountState(accountState(first.accountId, { concurrency }))).rejects.toThrow()
  expect(await bench.redis.dumpBuffer(accountName(first.accountId))).toEqual(before)
})
