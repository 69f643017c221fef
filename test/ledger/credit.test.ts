/** Credit: added exactly once per ledger entry, also during the account's first load. */

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readStored } from '@test/ledger/store/stored'
import { accountName, creditedName } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { MAX_NANO, nano } from '@/lib/money'
import { type Bench, connect, createBench, request, snapshot } from './harness'

let bench: Bench

beforeAll(async () => {
  bench = createBench(await connect())
})
afterAll(() => bench.redis.disconnect())

/** Commits a ledger entry, as the accounts module does before its outbox calls the ledger. */
function entry(accountId: string, amount: number) {
  const entryId = randomId('entry')
  bench.history.addCredit(accountId, entryId, amount)
  return { accountId, entryId, amount: nano(amount) }
}

test('a credit is added once, even if many clients send it many times', async () => {
  const { accountId } = await bench.fund(100)
  await bench.ledger.readBalance(accountId)
  const credit = entry(accountId, 50)
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => bench.ledger.credit(credit)))
  expect(outcomes.filter((outcome) => outcome.kind === 'credited')).toEqual([
    { kind: 'credited', available: nano(150) },
  ])
  expect(outcomes.filter((outcome) => outcome.kind === 'exists')).toHaveLength(49)
  expect(await bench.redis.pttl(creditedName(accountId))).toBe(-1)
})

test('a debit may make the balance negative, and the debited amount is remembered', async () => {
  const payer = await bench.fund(100)
  await bench.ledger.reserve(request(payer, 80))
  expect(await bench.ledger.credit(entry(payer.accountId, -70))).toEqual({ kind: 'credited', available: nano(-50) })
  expect(await readStored(bench.redis, 'account', accountName(payer.accountId))).toMatchObject({ overrun: '70' })
  expect(await bench.ledger.credit(entry(payer.accountId, 60))).toEqual({ kind: 'credited', available: nano(10) })
})

test('an account’s first load includes credits that were added before', async () => {
  const { accountId } = await bench.fund(100)
  const credit = entry(accountId, 50)
  expect(await bench.ledger.credit(credit)).toEqual({ kind: 'exists', available: nano(150) })
})

test('a credit to an account missing in the history is refused', async () => {
  const credit = { accountId: randomId('acct'), entryId: randomId('entry'), amount: nano(5) }
  expect(await bench.ledger.credit(credit)).toEqual({ kind: 'unknown_account' })
})

test('concurrent credits and loads neither lose nor double a credit', async () => {
  const other = createBench(bench.redis, undefined, bench.history)
  for (let round = 0; round < 30; round++) {
    const payer = await bench.fund(100)
    const { accountId } = payer
    const work = Array.from({ length: 8 }, (_, index) => async () => {
      if (index % 2 === 0) return await bench.ledger.readBalance(accountId)
      const credit = entry(accountId, 10)
      const [first, second] = await Promise.all([bench.ledger.credit(credit), other.ledger.credit(credit)])
      return [first, second]
    })
    await Promise.all(work.map((run) => run()))
    expect(await other.ledger.readBalance(accountId)).toMatchObject({ available: nano(140) })
  }
})

test('a credit that would exceed the exact range is refused without a change', async () => {
  const { accountId } = await bench.fund(100)
  await bench.ledger.readBalance(accountId)
  const before = await snapshot(bench.redis, accountId)
  const credit = { accountId, entryId: randomId('entry'), amount: nano(MAX_NANO) }
  await expect(bench.ledger.credit(credit)).rejects.toThrow('out of range')
  expect(await snapshot(bench.redis, accountId)).toEqual(before)
  await bench.ledger.credit({ ...credit, entryId: randomId('entry'), amount: nano(-MAX_NANO) })
  await expect(bench.ledger.credit({ ...credit, amount: nano(-MAX_NANO) })).rejects.toThrow('out of range')
})
