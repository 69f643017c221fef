/** Credit withheld until Postgres has or lacks the debit: no request spends it meanwhile, and it is debited once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Bench, connect, createBench, request, settlement, storeMs } from '@test/ledger/harness'
import { readStored } from '@test/ledger/store/stored'
import { startRedis, type TestServer } from '@test/support/stores'
import { checkLedger } from '@/ledger/check/check'
import { rebuildAll } from '@/ledger/check/rebuild'
import type { Payer, Withheld, Withholding } from '@/ledger/outcomes'
import { startEpoch } from '@/ledger/store/epoch'
import { accountName, deadlinesName, holdMember, holdName, NO_KEY, shardOf } from '@/ledger/store/names'
import { randomId } from '@/lib/ids'
import { nano } from '@/lib/money'

let server: TestServer
let bench: Bench
let payer: Payer

beforeAll(async () => {
  server = await startRedis()
  bench = createBench(await connect(server.url))
})
beforeEach(async () => {
  await bench.redis.flushall()
  payer = await bench.fund(1_000)
})
afterAll(async () => {
  bench.redis.disconnect()
  await server.stop()
})

function debit(amount: number): Withheld {
  return { accountId: payer.accountId, entryId: randomId('entry'), amount: nano(amount) }
}

function withhold(one: Withheld, changes: Partial<Withholding> = {}) {
  return bench.ledger.withhold({ ...one, ttlMs: 60_000, allowNegative: false, debits: [], ...changes })
}

/** The history commits the entry. */
function commit({ accountId, entryId, amount }: Withheld): void {
  bench.history.addCredit(accountId, entryId, -amount)
}

function credit({ accountId, entryId, amount }: Withheld) {
  return bench.ledger.credit({ accountId, entryId, amount: nano(-amount) })
}

async function lapse({ accountId, entryId, amount }: Withheld): Promise<void> {
  const member = holdMember({ accountId, keyId: NO_KEY, holdId: entryId, amount })
  await bench.redis.zadd(deadlinesName(shardOf(accountId)), 'XX', (await storeMs(bench.redis)) - 1, member)
}

async function money() {
  const balance = await bench.ledger.readBalance(payer.accountId)
  return { available: Number(balance?.available), held: Number(balance?.held) }
}

async function violations() {
  return (await checkLedger({ redis: bench.redis, history: bench.history, logger: bench.logger })).violations
}

describe('withholding', () => {
  test('withholding takes at most the available credit, and requests cannot spend it', async () => {
    expect(await withhold(debit(1_001))).toEqual({ kind: 'insufficient', available: nano(1_000) })
    expect(await withhold(debit(900))).toEqual({ kind: 'withheld', available: nano(100) })
    expect(await bench.ledger.reserve(request(payer, 101))).toMatchObject({ kind: 'insufficient', available: 100 })
    expect(await withhold(debit(101))).toEqual({ kind: 'insufficient', available: nano(100) })
    expect(await money()).toEqual({ available: 100, held: 900 })
    expect(await violations()).toEqual([])
  })

  test('of a withholding and a request, only one gets the last credit', async () => {
    for (let round = 0; round < 20; round++) {
      payer = await bench.fund(1_000)
      const [taken, ...reserved] = await Promise.all([
        withhold(debit(700)),
        ...Array.from({ length: 8 }, () => bench.ledger.reserve(request(payer, 100))),
      ])
      const sum = reserved.filter(({ kind }) => kind === 'reserved').length * 100
      expect(sum + (taken.kind === 'withheld' ? 700 : 0)).toBeLessThanOrEqual(1_000)
      expect((await money()).available).toBeGreaterThanOrEqual(0)
    }
  })

  test('withholding may lead below zero if that is allowed', async () => {
    const one = debit(1_500)
    expect(await withhold(one, { allowNegative: true })).toEqual({ kind: 'withheld', available: nano(-500) })
    expect(await violations()).toEqual([])
    commit(one)
    await credit(one)
    expect(await money()).toEqual({ available: -500, held: 0 })
    expect(await violations()).toEqual([])
  })

  test('debits that Redis does not know yet are each counted once in a withholding', async () => {
    const [held, untold] = [debit(300), debit(400)]
    await withhold(held)
    expect(await withhold(debit(301), { debits: [held, untold] })).toEqual({
      kind: 'insufficient',
      available: nano(300),
    })
    expect(await withhold(debit(300), { debits: [held, untold] })).toMatchObject({ kind: 'withheld' })
    commit(untold)
    await credit(untold)
    expect(await withhold(debit(1), { debits: [untold] })).toMatchObject({ kind: 'insufficient', available: 0 })
  })

  test('withholding keeps the required minimum, unless the account may go below zero', async () => {
    const keep = nano(600)
    expect(await withhold(debit(401), { keep })).toEqual({ kind: 'insufficient', available: nano(1_000) })
    expect(await withhold(debit(400), { keep })).toEqual({ kind: 'withheld', available: nano(600) })
    expect(await withhold(debit(1), { keep })).toEqual({ kind: 'insufficient', available: nano(600) })
    expect(await withhold(debit(500), { keep, allowNegative: true })).toEqual({
      kind: 'withheld',
      available: nano(100),
    })
  })

  test('withholding from an unknown account returns an error', async () => {
    expect(await withhold({ ...debit(1), accountId: 'acct_none' })).toEqual({ kind: 'unknown_account' })
  })
})

describe('withheld credit', () => {
  test('a ledger entry debits the credit withheld for it once, even if applied twice', async () => {
    const one = debit(600)
    await withhold(one)
    commit(one)
    expect(await credit(one)).toEqual({ kind: 'credited', available: nano(400) })
    expect(await credit(one)).toEqual({ kind: 'exists', available: nano(400) })
    expect(await money()).toEqual({ available: 400, held: 0 })
    const account = await readStored(bench.redis, 'account', accountName(payer.accountId))
    expect(account).toMatchObject({ overrun: '0', open: '0' })
    const hold = await readStored(bench.redis, 'hold', holdName(payer.accountId, one.entryId))
    expect(hold).toMatchObject({ state: 'settled' })
    expect(await violations()).toEqual([])
  })

  test('withheld credit is returned if Postgres has no entry for it; a later entry debits nothing', async () => {
    const [one, late] = [debit(600), debit(600)]
    await withhold(one)
    expect(await bench.ledger.resolveWithheld(one)).toBe('returned')
    expect(await bench.ledger.resolveWithheld(one)).toBe('returned')
    expect(await bench.ledger.resolveWithheld(late)).toBe('returned')
    await expect(withhold(late)).rejects.toThrow('once')
    expect(await money()).toEqual({ available: 1_000, held: 0 })
    expect(await violations()).toEqual([])
  })

  test('at the deadline Postgres’ entries decide on withheld credit, even if its gateway died', async () => {
    const [recorded, absent, undecided] = [debit(100), debit(200), debit(300)]
    for (const one of [recorded, absent, undecided]) await withhold(one)
    commit(recorded)
    bench.history.setBusy(payer.accountId, true)
    for (const one of [recorded, absent]) await lapse(one)
    await bench.ledger.expireDue(100)
    expect(await money()).toEqual({ available: 400, held: 600 })
    bench.history.setBusy(payer.accountId, false)
    expect(await bench.ledger.expireDue(100)).toEqual([])
    expect(await money()).toEqual({ available: 600, held: 300 })
    expect(await violations()).toEqual([])
    commit(undecided)
    await credit(undecided)
    expect(await money()).toEqual({ available: 600, held: 0 })
    expect(await violations()).toEqual([])
  })

  test('withheld credit stays withheld while Postgres is down', async () => {
    const one = debit(100)
    await withhold(one)
    await lapse(one)
    bench.history.setDown(true)
    await bench.ledger.expireDue(100)
    bench.history.setDown(false)
    expect(await money()).toEqual({ available: 900, held: 100 })
    await bench.ledger.expireDue(100)
    expect(await money()).toEqual({ available: 1_000, held: 0 })
  })

  test('a reload or rebuild does not count withheld credit twice', async () => {
    const [recorded, open] = [debit(300), debit(200)]
    await withhold(recorded)
    await withhold(open)
    commit(recorded)
    await startEpoch(bench.redis, shardOf(payer.accountId))
    expect(await money()).toEqual({ available: 500, held: 200 })
    expect(await credit(recorded)).toMatchObject({ kind: 'exists' })
    await rebuildAll({ redis: bench.redis, history: bench.history, logger: bench.logger })
    expect(await money()).toEqual({ available: 500, held: 200 })
    commit(open)
    await rebuildAll({ redis: bench.redis, history: bench.history, logger: bench.logger })
    expect(await money()).toEqual({ available: 500, held: 0 })
    expect(await violations()).toEqual([])
  })

  test('the ledger entry in Postgres still debits withheld credit that Redis has lost', async () => {
    const one = debit(300)
    await withhold(one)
    await bench.redis.flushall()
    commit(one)
    await credit(one)
    expect(await money()).toEqual({ available: 700, held: 0 })
    expect(await violations()).toEqual([])
  })

  test('withheld credit and holds of requests do not affect each other', async () => {
    const [one, hold] = [debit(300), request(payer, 200)]
    await withhold(one)
    await bench.ledger.reserve(hold)
    await bench.ledger.settle(settlement(hold, 150))
    commit(one)
    await credit(one)
    expect(await money()).toEqual({ available: 550, held: 0 })
    await bench.history.flush(bench.redis, [payer.accountId])
    expect(await violations()).toEqual([])
  })
})
