/** Transfers of credit between two accounts of one owner: once, completely, never held credit, and only by an owner of both. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture, silentLogger } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { request } from '@test/ledger/harness'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { createOutboxWorker } from '@/accounts/outbox'
import { reconcileHistory } from '@/accounts/reconcile'
import { MAX_TRANSFERS_PER_DAY } from '@/accounts/transfers/limits'
import { moveCredit } from '@/accounts/transfers/move-credit'
import type { Ledger } from '@/ledger/ledger'
import { MAX_NANO, NANO_PER_USD, nano } from '@/lib/money'
import { giveRole, newOwner, type Owner } from './owner'

const USD = NANO_PER_USD
let fixture: Fixture
let from: string
let to: string
let owner: Owner

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
beforeEach(async () => {
  ;[from, to] = [await createTestAccount(fixture), await createTestAccount(fixture)]
  owner = await newOwner(fixture, [from, to])
  await fixture.credits.addCredit({ accountId: from, amount: nano(10 * USD), reference: 'start' })
})
afterAll(() => fixture.close())

type Asked = { usd?: number; key?: string; by?: Owner['by']; fromAccountId?: string; toAccountId?: string }

function move({ usd = 4, key = 'k', ...rest }: Asked = {}, ledger: Ledger = fixture.ledger) {
  const amount = nano(Math.round(usd * USD))
  return moveCredit(fixture.database, ledger, {
    fromAccountId: from,
    toAccountId: to,
    by: owner.by,
    ...rest,
    amount,
    key,
  })
}

/** USD in the ledger, and in the history. */
async function balances() {
  const [one, other] = [await fixture.ledger.readBalance(from), await fixture.ledger.readBalance(to)]
  const rows = await fixture.database.sql<{ id: string; balance: number }[]>`
    SELECT id, balance_nano::bigint AS balance FROM accounts WHERE id IN (${from}, ${to})`
  const ofHistory = (id: string) => Number(rows.find((row) => row.id === id)?.balance) / USD
  return {
    ledger: [Number(one?.available) / USD, Number(other?.available) / USD],
    history: [ofHistory(from), ofHistory(to)],
  }
}

const entries = () => fixture.database.sql`SELECT account_id, kind, amount_nano::bigint AS amount, reference
  FROM ledger_entries WHERE account_id IN (${from}, ${to}) AND kind = 'transfer' ORDER BY amount_nano`
const sound = async () => (await reconcileHistory(fixture.database, 'records')).violations

describe('a transfer of credit', () => {
  test('a transfer is a debit and a credit with one reference, in both stores and both audit logs', async () => {
    const outcome = await move()
    expect(outcome).toMatchObject({ kind: 'moved', isApplied: true })
    const transferId = 'transferId' in outcome ? outcome.transferId : ''
    expect(await balances()).toEqual({ ledger: [6, 4], history: [6, 4] })
    const reference = `transfer:${transferId}`
    expect([...(await entries())]).toEqual([
      { account_id: from, kind: 'transfer', amount: -4 * USD, reference },
      { account_id: to, kind: 'transfer', amount: 4 * USD, reference },
    ])
    const audit = await fixture.database.sql`SELECT account_id, actor_id, details FROM audit_entries
      WHERE action = 'credit.move' AND subject = ${transferId} ORDER BY seq`
    expect([...audit]).toEqual(
      [from, to].map((account_id) => ({ account_id, actor_id: owner.userId, details: { amount: '4', from, to } })),
    )
    expect(await sound()).toEqual([])
  })

  test('a transfer happens once per request key, also for twenty concurrent calls', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => move()))
    expect(outcomes.filter(({ kind }) => kind === 'moved')).toHaveLength(1)
    expect(new Set(outcomes.map((one) => 'transferId' in one && one.transferId)).size).toBe(1)
    expect(outcomes.filter(({ kind }) => kind === 'exists')).toHaveLength(19)
    expect(await balances()).toEqual({ ledger: [6, 4], history: [6, 4] })
    for (const other of [{ usd: 3 }, { toAccountId: await anotherOf(owner) }])
      expect(await move(other)).toEqual({ kind: 'key_taken' })
    expect(await move({ key: 'other' })).toMatchObject({ kind: 'moved' })
    expect(await balances()).toEqual({ ledger: [2, 8], history: [2, 8] })
  })

  test('a transfer takes at most the available credit, never held credit', async () => {
    const { accountId, keyId } = { accountId: from, keyId: await keyOf(from) }
    expect((await fixture.ledger.reserve(request({ accountId, keyId }, 7 * USD))).kind).toBe('reserved')
    expect(await move()).toEqual({ kind: 'insufficient', available: nano(3 * USD) })
    expect(await move({ usd: 3 })).toMatchObject({ kind: 'moved' })
    expect(await balances()).toMatchObject({ history: [7, 3] })
    expect(await move({ usd: 0.01, key: 'more' })).toMatchObject({ kind: 'insufficient', available: nano(0) })
  })

  test('concurrent transfers take no more than is available', async () => {
    const outcomes = await Promise.all(Array.from({ length: 12 }, (_, index) => move({ usd: 3, key: `k${index}` })))
    expect(outcomes.filter(({ kind }) => kind === 'moved')).toHaveLength(3)
    expect(outcomes.filter(({ kind }) => kind === 'insufficient')).toHaveLength(9)
    expect(await balances()).toEqual({ ledger: [1, 9], history: [1, 9] })
  })

  test('concurrent transfers in both directions do not deadlock', async () => {
    await fixture.credits.addCredit({ accountId: to, amount: nano(10 * USD), reference: 'start' })
    const there = Array.from({ length: 8 }, (_, index) => move({ usd: 1, key: `there ${index}` }))
    const back = Array.from({ length: 8 }, (_, index) =>
      move({ usd: 1, key: `back ${index}`, fromAccountId: to, toAccountId: from }),
    )
    const outcomes = await Promise.all([...there, ...back])
    expect(outcomes.filter(({ kind }) => kind === 'moved')).toHaveLength(16)
    expect(await balances()).toEqual({ ledger: [10, 10], history: [10, 10] })
  })
})

describe('refusals', () => {
  test('only an owner of both accounts may transfer, according to their roles at that moment', async () => {
    const nobody = await newOwner(fixture, [])
    expect(await move({ by: nobody.by })).toEqual({ kind: 'unknown_account', accountId: from })
    const ofOne = await newOwner(fixture, [from])
    expect(await move({ by: ofOne.by })).toEqual({ kind: 'unknown_account', accountId: to })
    for (const role of ['admin', 'billing', 'developer', 'viewer'] as const) {
      await giveRole(fixture, to, ofOne.userId, role)
      expect(await move({ by: ofOne.by })).toEqual({ kind: 'not_owner', accountId: to })
    }
    const foreign = await newOwner(fixture, [to])
    await giveRole(fixture, from, foreign.userId, 'billing')
    expect(await move({ by: foreign.by })).toEqual({ kind: 'not_owner', accountId: from })
    expect(await move({ toAccountId: 'acct_none' })).toEqual({ kind: 'unknown_account', accountId: 'acct_none' })
    expect(await balances()).toEqual({ ledger: [10, 0], history: [10, 0] })
  })

  test('a transfer within one account, from a suspended account, or above the target’s limit is refused', async () => {
    expect(await move({ toAccountId: from })).toEqual({ kind: 'same_account' })
    await fixture.credits.addCredit({ accountId: to, amount: nano(MAX_NANO), reference: 'all' })
    expect(await move()).toEqual({ kind: 'out_of_range' })
    await fixture.accounts.setStatus(from, 'suspended')
    expect(await move()).toEqual({ kind: 'suspended' })
    expect((await entries()).length).toBe(0)
    expect(await balances()).toMatchObject({ ledger: [10, MAX_NANO / USD] })
  })

  test(`more than ${MAX_TRANSFERS_PER_DAY} transfers in 24 hours are refused`, async () => {
    for (let index = 0; index < MAX_TRANSFERS_PER_DAY; index++)
      expect(await move({ usd: 0.01, key: `k${index}` })).toMatchObject({ kind: 'moved' })
    const tooMany = { kind: 'too_many', limit: MAX_TRANSFERS_PER_DAY } as const
    expect(await move({ usd: 0.01, key: 'one more' })).toEqual(tooMany)
    // A repetition is none.
    expect(await move({ usd: 0.01, key: 'k0' })).toMatchObject({ kind: 'exists' })
    expect(await move({ usd: 0.01, fromAccountId: to, toAccountId: from })).toMatchObject({ kind: 'moved' })
  })

  test('a transfer is refused while the ledger is down', async () => {
    const down: Ledger = { ...fixture.ledger, withhold: () => Promise.reject(new Error('down')) }
    await expect(move({}, down)).rejects.toThrow('down')
    expect(await balances()).toEqual({ ledger: [10, 0], history: [10, 0] })
  })
})

test('the ledger gets the debit before the credit', async () => {
  const heard: number[] = []
  let isDown = true
  const ledger: Ledger = {
    ...fixture.ledger,
    async credit(credit) {
      if (isDown && credit.accountId === from) throw new Error('down')
      if ([from, to].includes(credit.accountId)) heard.push(credit.amount / USD)
      return await fixture.ledger.credit(credit)
    },
  }
  // From here on the ledger has both accounts, and hears of the rest.
  await balances()
  expect(await move({}, ledger)).toMatchObject({ kind: 'moved', isApplied: false })
  const worker = createOutboxWorker(fixture.database, ledger, silentLogger)
  await worker.runOnce()
  expect(heard).toEqual([])
  expect(await balances()).toEqual({ ledger: [6, 0], history: [6, 4] })
  isDown = false
  while ((await worker.runOnce()).moved > 0);
  expect(heard.slice(0, 2)).toEqual([-4, 4])
  expect(await balances()).toEqual({ ledger: [6, 4], history: [6, 4] })
  expect(await move({}, ledger)).toMatchObject({ kind: 'exists' })
})

async function anotherOf({ userId }: Owner): Promise<string> {
  const accountId = await createTestAccount(fixture)
  await giveRole(fixture, accountId, userId, 'owner')
  return accountId
}

async function keyOf(accountId: string): Promise<string> {
  const made = await fixture.apiKeys.create({ accountId, name: 'key' })
  if (made.kind !== 'created') throw new Error(made.kind)
  return made.keyId
}
