/** Many concurrent clients: no overdraft, and exactly one end for each hold. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expireHolds } from '@/ledger/holds/expire'
import type { Payer, ReserveRequest } from '@/ledger/outcomes'
import { shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'
import { type Bench, connect, createBench, FACTS, passDeadline, request, settlement } from './harness'
import { accountState } from './memory-history'

let benches: [Bench, Bench]

beforeAll(async () => {
  const first = createBench(await connect())
  benches = [first, createBench(await connect(), undefined, first.history)]
})
afterAll(() => {
  for (const bench of benches) bench.redis.disconnect()
})

describe('a thousand concurrent requests with credit for ten', () => {
  test.each([1, 10])('through %d keys and two gateways, exactly ten reserves succeed', async (keyCount) => {
    const payer = await benches[0].fund(1_000)
    const payers: Payer[] = Array.from({ length: keyCount }, () => ({ ...payer, keyId: randomId('key') }))
    for (const one of payers) benches[0].history.setKey(one)
    const holds = Array.from({ length: 1_000 }, (_, index) => request(payers[index % keyCount] ?? payer, 100))
    const outcomes = await Promise.all(
      holds.map((hold, index) => benches[index % 2 === 0 ? 0 : 1].ledger.reserve(hold)),
    )
    const passed = holds.filter((_, index) => outcomes[index]?.kind === 'reserved')
    expect(passed).toHaveLength(10)
    expect(outcomes.filter((outcome) => outcome.kind === 'insufficient')).toHaveLength(990)
    for (const outcome of outcomes)
      if (outcome.kind === 'insufficient') expect(outcome.available).toBeGreaterThanOrEqual(0)
    expect(await benches[1].ledger.readBalance(payer.accountId)).toMatchObject({
      available: nano(0),
      held: nano(1_000),
    })
    await Promise.all(passed.map((hold) => benches[1].ledger.settle(settlement(hold, 60))))
    expect(await benches[0].ledger.readBalance(payer.accountId)).toMatchObject({ available: nano(400), held: nano(0) })
  })
})

describe('a hold that several calls end at once', () => {
  const effects = {
    settle: (bench: Bench, hold: ReserveRequest) => bench.ledger.settle(settlement(hold, 70)),
    release: (bench: Bench, hold: ReserveRequest) => bench.ledger.release(hold),
    expire: async (bench: Bench, hold: ReserveRequest) => {
      await expireHolds(bench.deps, shardOf(hold.accountId), [hold])
    },
  }

  test('mixed settles, releases and expiries of one hold take effect once', async () => {
    for (let round = 0; round < 40; round++) {
      const payer = await benches[0].fund(1_000)
      const hold = request(payer, 100, { inputCost: nano(5) })
      await benches[0].ledger.reserve(hold)
      const progress = { cost: nano(20), facts: FACTS, reached: true }
      await benches[0].ledger.renew([{ ...payer, holdId: hold.holdId, ttlMs: 1_000, ...progress }])
      await passDeadline(benches[0].redis, hold)
      const work = Array.from(
        { length: 30 },
        (_, index) => (['settle', 'release', 'expire'] as const)[(index + round) % 3],
      )
      await Promise.all(work.map((name, index) => name && effects[name](benches[index % 2 === 0 ? 0 : 1], hold)))
      const balance = await benches[1].ledger.readBalance(payer.accountId)
      // Settled, or expired and corrected by a late settle: 70. Released first: nothing.
      expect([nano(930), nano(1_000)]).toContain(balance?.available ?? nano(-1))
      expect(balance).toMatchObject({ held: nano(0), spent: nano(1_000 - (balance?.available ?? 0)) })
      expect(await benches[1].ledger.readKey(payer)).toMatchObject({ open: 0, held: nano(0) })
    }
  })

  test('fifty settles of one hold charge once', async () => {
    const payer = await benches[0].fund(1_000)
    const hold = request(payer, 100)
    await benches[0].ledger.reserve(hold)
    const work = Array.from({ length: 50 }, (_, index) => benches[index % 2 === 0 ? 0 : 1])
    const outcomes = await Promise.all(work.map((bench) => bench.ledger.settle(settlement(hold, 70), { force: true })))
    expect(outcomes.filter((outcome) => outcome.kind === 'settled')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome.kind === 'already_settled')).toHaveLength(49)
    expect(await benches[0].ledger.readBalance(payer.accountId)).toMatchObject({ seq: 1 })
  })

  test('fifty reserves of one hold id reserve once', async () => {
    const payer = await benches[0].fund(1_000)
    const hold = request(payer, 100)
    const work = Array.from({ length: 50 }, (_, index) => benches[index % 2 === 0 ? 0 : 1])
    const outcomes = await Promise.all(work.map((bench) => bench.ledger.reserve(hold)))
    expect(outcomes.filter((outcome) => outcome.kind === 'reserved')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome.kind === 'exists')).toHaveLength(49)
    expect(await benches[0].ledger.readBalance(payer.accountId)).toMatchObject({
      available: nano(900),
      held: nano(100),
    })
  })
})

test('suspending an account or deactivating a key stops thousands of concurrent requests at once', async () => {
  const payer = await benches[0].fund(1_000_000)
  await benches[0].ledger.reserve(request(payer, 1))
  const reserves = Array.from({ length: 500 }, (_, index) =>
    benches[index % 2 === 0 ? 0 : 1].ledger.reserve(request(payer, 1)),
  )
  await benches[0].ledger.setAccountState(accountState(payer.accountId, { status: 'suspended' }))
  const after = Array.from({ length: 500 }, () => benches[1].ledger.reserve(request(payer, 1)))
  for (const outcome of await Promise.all(after)) expect(outcome).toEqual({ kind: 'account_suspended' })
  await Promise.all(reserves)
})
