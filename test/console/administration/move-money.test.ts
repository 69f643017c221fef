/** Transactions that move money: undone if refused, repeated after a lost race, and the ledger only gets committed changes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { AMOUNTS, REVERSIBLE_DAYS, SELLER } from '@test/console/orders/fixture'
import { recordCredit } from '@/accounts/credits'
import { moveMoney } from '@/console/administration/approvals/move-money'
import { warmLedger } from '@/console/administration/approvals/orders-within'
import type { OrdersDeps } from '@/console/orders/orders'
import { nano } from '@/lib/money'
import { balanceOf, newDay, type Office, openOffice } from './fixture'

let office: Office
let deps: OrdersDeps

beforeAll(async () => {
  office = await openOffice()
  const { database, deps: app } = office.gateway.gateway
  deps = {
    database,
    ledger: app.ledger,
    clock: app.clock,
    logger: app.logger,
    methods: app.dashboard.methods,
    amounts: AMOUNTS,
    reversibleDays: REVERSIBLE_DAYS,
    seller: SELLER,
  }
})
afterAll(() => office.stop())
beforeEach(() => newDay(office))

/** Credits 1 USD, then does what a test wants. */
async function credit<Outcome extends { kind: string; isKept?: boolean }>(
  accountId: string,
  end: (attempt: number) => Outcome,
): Promise<Outcome> {
  let attempt = 0
  return moveMoney<Outcome>(deps, async (transaction, credits) => {
    const amount = nano(1_000_000_000)
    const recorded = await recordCredit(transaction, { accountId, amount, reference: 'frame' })
    if (recorded.kind === 'recorded') credits.push({ accountId, entryId: recorded.entryId, amount })
    attempt += 1
    return end(attempt)
  })
}

async function entriesOf(accountId: string): Promise<number> {
  const { sql } = office.gateway.gateway.database
  const rows = await sql`SELECT id FROM ledger_entries WHERE account_id = ${accountId}`
  return rows.length
}

function lostRace(): Error {
  return Object.assign(new Error('deadlock detected'), { code: '40P01' })
}

describe('a transaction that moves money', () => {
  test('a refused transaction changes neither history nor ledger', async () => {
    const { accountId } = await office.gateway.customer('0')
    expect(await credit(accountId, () => ({ kind: 'refused', isKept: false }))).toEqual({
      kind: 'refused',
      isKept: false,
    })
    expect([await entriesOf(accountId), await balanceOf(office, accountId)]).toEqual([0, 0])
  })

  test('a refused operation can still commit its transaction', async () => {
    const { accountId } = await office.gateway.customer('0')
    await credit(accountId, () => ({ kind: 'refused', isKept: true }))
    expect([await entriesOf(accountId), await balanceOf(office, accountId)]).toEqual([1, 1])
  })

  test('a transaction that Postgres rolled back for a race runs again, and credits once', async () => {
    const { accountId } = await office.gateway.customer('0')
    const outcome = await credit(accountId, (attempt) => {
      if (attempt < 3) throw lostRace()
      return { kind: 'done' }
    })
    expect(outcome).toEqual({ kind: 'done' })
    expect([await entriesOf(accountId), await balanceOf(office, accountId)]).toEqual([1, 1])
  })

  test('a transaction that Postgres rolled back three times fails, and changes nothing', async () => {
    const { accountId } = await office.gateway.customer('0')
    const lost = credit(accountId, () => {
      throw lostRace()
    })
    await expect(lost).rejects.toThrow('deadlock detected')
    expect([await entriesOf(accountId), await balanceOf(office, accountId)]).toEqual([0, 0])
  })

  test('a transaction that failed for another reason does not run again', async () => {
    const { accountId } = await office.gateway.customer('0')
    let attempts = 0
    const failing = credit(accountId, (attempt) => {
      attempts = attempt
      throw new Error('a bug')
    })
    await expect(failing).rejects.toThrow('a bug')
    expect(attempts).toBe(1)
  })
})

test('accounts are loaded into the ledger before the transaction, also for an unknown order', async () => {
  const refund = { kind: 'order.refund', orderId: 'order_none', amountCents: 100, allowNegative: false } as const
  await expect(warmLedger(deps, refund)).resolves.toBeUndefined()
})
