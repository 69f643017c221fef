/** Accounts in the history and the ledger. Their credit is recorded once and applied once, also if a step in between fails. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { addToStored, readStored } from '@test/ledger/store/stored'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import { logRecorder } from '@test/usage/log-recorder'
import { createCredits } from '@/accounts/credits'
import { createOutboxWorker } from '@/accounts/outbox'
import type { Ledger } from '@/ledger/ledger'
import { accountName, creditedName } from '@/ledger/store/names'
import { MAX_NANO, nano } from '@/lib/money'
import { type Fixture, openFixture, silentLogger } from './fixture'
import { createTestAccount } from './test-account'

const TEN = nano(10_000_000_000)
let fixture: Fixture
let accountId: string

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
beforeEach(async () => {
  accountId = await createTestAccount(fixture)
})
afterAll(() => fixture.close())

describe('accounts', () => {
  test('an account is created empty and active, one per e-mail address in any letter case', async () => {
    const { accounts, ledger } = fixture
    const created = await accounts.create({ email: 'Ada@Example.test', name: 'Ada' })
    if (created.kind !== 'created') throw new Error(created.kind)
    expect(created.accountId).toMatch(/^acct_[0-9A-Za-z]{22}$/)
    expect(await accounts.create({ email: 'ada@example.TEST', name: 'Other' })).toEqual({ kind: 'email_taken' })
    expect(await accounts.findByEmail('ADA@example.test')).toMatchObject({ accountId: created.accountId, name: 'Ada' })
    expect(await ledger.readBalance(created.accountId)).toMatchObject({ available: 0, held: 0, status: 'active' })
  })

  test('concurrent requests for one address create one account', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => fixture.accounts.create({ email: 'race@example.test', name: 'Race' })),
    )
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1)
  })

  test('looking up an unknown account finds none', async () => {
    expect(await fixture.accounts.find('acct_none')).toBeUndefined()
    expect(await fixture.accounts.findByEmail("' OR 1=1 --")).toBeUndefined()
    expect(await fixture.accounts.setStatus('acct_none', 'suspended')).toBe('unknown_account')
  })

  test('suspending and activating an account changes history and ledger', async () => {
    const { accounts, ledger } = fixture
    const created = await accounts.create({ email: 'bob@example.test', name: 'Bob' })
    if (created.kind !== 'created') throw new Error(created.kind)
    const { accountId } = created
    expect(await accounts.setStatus(accountId, 'suspended')).toBe('updated')
    expect((await ledger.readBalance(accountId))?.status).toBe('suspended')
    expect((await accounts.find(accountId))?.status).toBe('suspended')
    await Promise.all([accounts.setStatus(accountId, 'suspended'), accounts.setStatus(accountId, 'active')])
    expect((await ledger.readBalance(accountId))?.status).toBe((await accounts.find(accountId))?.status)
  })
})

describe('addCredit', () => {
  test('addCredit adds to ledger and history, once per reference', async () => {
    const { addCredit } = fixture.credits
    const first = await addCredit({ accountId, amount: TEN, reference: 'invoice 1' })
    expect(first).toMatchObject({ kind: 'credited', available: TEN })
    const again = await addCredit({ accountId, amount: TEN, reference: 'invoice 1' })
    expect(again).toEqual({ ...first, kind: 'exists' } as typeof again)
    expect(await balances()).toEqual({ ledger: TEN, history: TEN, entries: 1, pending: 0 })
    expect(await addCredit({ accountId, amount: TEN, reference: 'invoice 2' })).toMatchObject({ available: 2 * TEN })
  })

  test('addCredit refuses a reference used for another amount', async () => {
    const { addCredit } = fixture.credits
    const first = await addCredit({ accountId, amount: TEN, reference: 'r' })
    const entryId = 'entryId' in first ? first.entryId : ''
    const other = await addCredit({ accountId, amount: nano(5), reference: 'r' })
    expect(other).toEqual({ kind: 'reference_taken', entryId, amount: TEN })
    expect(await balances()).toEqual({ ledger: TEN, history: TEN, entries: 1, pending: 0 })
  })

  test('a reference that is declared unique can credit only one account', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => createTestAccount(fixture)))
    const credit = { amount: TEN, reference: 'wire 7', isUnique: true }
    const outcomes = await Promise.all(others.map((id) => fixture.credits.addCredit({ ...credit, accountId: id })))
    expect(outcomes.filter(({ kind }) => kind === 'credited')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'reference_elsewhere')).toHaveLength(4)
    expect(await fixture.credits.addCredit({ ...credit, accountId, isUnique: false })).toMatchObject({
      kind: 'credited',
    })
  })

  test('fifty concurrent calls of addCredit add once', async () => {
    const calls = Array.from({ length: 50 }, () =>
      fixture.credits.addCredit({ accountId, amount: TEN, reference: 'same' }),
    )
    const outcomes = await Promise.all(calls)
    expect(outcomes.filter(({ kind }) => kind === 'credited')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'exists')).toHaveLength(49)
    expect(await balances()).toEqual({ ledger: TEN, history: TEN, entries: 1, pending: 0 })
  })

  test('addCredit with a negative amount removes credit, also below zero', async () => {
    await fixture.credits.addCredit({ accountId, amount: TEN, reference: 'in' })
    const outcome = await fixture.credits.addCredit({ accountId, amount: nano(-3 * TEN), reference: 'refund' })
    expect(outcome).toMatchObject({ kind: 'credited', available: -2 * TEN })
    expect(await balances()).toMatchObject({ ledger: -2 * TEN, history: -2 * TEN })
  })

  test('addCredit refuses amounts out of range and unknown accounts, and writes nothing', async () => {
    const { addCredit } = fixture.credits
    expect(await addCredit({ accountId, amount: nano(MAX_NANO), reference: 'all' })).toMatchObject({ kind: 'credited' })
    expect(await addCredit({ accountId, amount: nano(1), reference: 'more' })).toEqual({ kind: 'out_of_range' })
    const nobody = await addCredit({ accountId: 'acct_none', amount: nano(1), reference: 'x' })
    expect(nobody).toEqual({ kind: 'unknown_account' })
    expect(await balances()).toEqual({ ledger: MAX_NANO, history: MAX_NANO, entries: 1, pending: 0 })
  })

  test('addCredit adds once, even if loading the account from history already included the credit', async () => {
    const quiet = createCredits(fixture.database, {
      ...fixture.ledger,
      credit: () => Promise.reject(new Error('down')),
    })
    const recorded = await quiet.addCredit({ accountId, amount: TEN, reference: 'before the load' })
    expect(recorded.kind).toBe('recorded')
    // The first look at the balance loads the account from the history, which has the credit.
    expect((await fixture.ledger.readBalance(accountId))?.available).toBe(TEN)
    const again = await fixture.credits.addCredit({ accountId, amount: TEN, reference: 'before the load' })
    expect(again).toMatchObject({ kind: 'exists', available: TEN })
    expect(await balances()).toEqual({ ledger: TEN, history: TEN, entries: 1, pending: 0 })
  })
})

describe('the outbox', () => {
  test('the credit outbox sends credit to the ledger as soon as the ledger is reachable', async () => {
    let isDown = true
    const ledger: Ledger = {
      ...fixture.ledger,
      credit: (credit) => (isDown ? Promise.reject(new Error('down')) : fixture.ledger.credit(credit)),
    }
    await fixture.ledger.readBalance(accountId)
    const outcome = await createCredits(fixture.database, ledger).addCredit({
      accountId,
      amount: TEN,
      reference: 'later',
    })
    expect(outcome.kind).toBe('recorded')
    expect(await balances()).toEqual({ ledger: 0, history: TEN, entries: 1, pending: 1 })
    const worker = createOutboxWorker(fixture.database, ledger, silentLogger, { intervalMs: 5 })
    worker.start()
    try {
      expect((await worker.runOnce()).failed).toBeGreaterThan(0)
      isDown = false
      await until(async () => (await balances()).pending === 0, 'the credit to arrive')
    } finally {
      await worker.stop()
    }
    expect(await balances()).toEqual({ ledger: TEN, history: TEN, entries: 1, pending: 0 })
  })

  test('many workers apply each entry of the credit outbox once', async () => {
    const down = createCredits(fixture.database, { ...fixture.ledger, credit: () => Promise.reject(new Error('down')) })
    await fixture.ledger.readBalance(accountId)
    for (let index = 0; index < 30; index++)
      await down.addCredit({ accountId, amount: nano(7), reference: `n ${index}` })
    const workers = [1, 2, 3].map(() => createOutboxWorker(fixture.database, fixture.ledger, silentLogger))
    await Promise.all(workers.map((worker) => worker.runOnce()))
    expect(await balances()).toEqual({ ledger: 210, history: 210, entries: 30, pending: 0 })
  })

  test('the credit outbox sends credit again after Redis lost its latest writes', async () => {
    await fixture.credits.addCredit({ accountId, amount: TEN, reference: 'lost' })
    const entry = await fixture.database.sql`SELECT id FROM ledger_entries WHERE account_id = ${accountId}`
    await fixture.redis.srem(creditedName(accountId), entry[0]?.id)
    await addToStored(fixture.redis, 'account', accountName(accountId), { available: -TEN })
    const log = logRecorder()
    const worker = createOutboxWorker(fixture.database, fixture.ledger, log.logger, { confirmAfterSeconds: 0 })
    await worker.runOnce()
    expect(log.events('lost_credit_restored')).toMatchObject([{ level: 'warn', accountId, entryId: entry[0]?.id }])
    expect(await balances()).toEqual({ ledger: TEN, history: TEN, entries: 1, pending: 0 })
    expect((await worker.runOnce()).moved).toBe(0)
  })
})

async function balances() {
  const [row] = await fixture.database.sql<{ history: number; entries: number; pending: number }[]>`
    SELECT balance_nano::bigint AS history,
      (SELECT count(*) FROM ledger_entries WHERE account_id = a.id) AS entries,
      (SELECT count(*) FROM credit_outbox WHERE account_id = a.id AND applied_at IS NULL) AS pending
    FROM accounts a WHERE id = ${accountId}`
  const account = await readStored(fixture.redis, 'account', accountName(accountId))
  return {
    ledger: Number(account?.available ?? 0),
    history: row?.history,
    entries: row?.entries,
    pending: row?.pending,
  }
}
