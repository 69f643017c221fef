/** Transactions that move money: undone if refused, repeated after a lost race, and the ledger only gets committed changes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type OrdersFixture, openOrders } from '@test/console/orders/fixture'
import { recordCredit } from '@/accounts/credits'
import { moveMoney } from '@/console/administration/approvals/move-money'
import { warmLedger } from '@/console/administration/approvals/orders-within'
import { nano } from '@/lib/money'

let world: OrdersFixture
let accountId: string

beforeAll(async () => {
  world = await openOrders()
})
afterAll(() => world.close())
beforeEach(async () => {
  accountId = await world.account()
})

/** Credits 1 USD, then does what a test wants. */
async function credit<Outcome extends { kind: string; isKept?: boolean }>(
  end: (attempt: number) => Outcome,
): Promise<Outcome> {
  let attempt = 0
  return moveMoney<Outcome>(world.deps, async (transaction, credits) => {
    const amount = nano(1_000_000_000)
    const recorded = await recordCredit(transaction, { accountId, amount, reference: 'frame' })
    if (recorded.kind === 'recorded') credits.push({ accountId, entryId: recorded.entryId, amount })
    attempt += 1
    return end(attempt)
  })
}

/** The entries of the account, and its balance in the ledger, in USD. */
async function booked(): Promise<number[]> {
  const rows = await world.fixture.database.sql`SELECT id FROM ledger_entries WHERE account_id = ${accountId}`
  return [rows.length, (await world.money(accountId)).ledger / 100]
}

function lostRace(): Error {
  return Object.assign(new Error('deadlock detected'), { code: '40P01' })
}

describe('a transaction that moves money', () => {
  test('a refused transaction changes neither history nor ledger', async () => {
    expect(await credit(() => ({ kind: 'refused', isKept: false }))).toEqual({
      kind: 'refused',
      isKept: false,
    })
    expect(await booked()).toEqual([0, 0])
  })

  test('a refused operation can still commit its transaction', async () => {
    await credit(() => ({ kind: 'refused', isKept: true }))
    expect(await booked()).toEqual([1, 1])
  })

  test('a transaction that Postgres rolled back for a race runs again, and credits once', async () => {
    const outcome = await credit((attempt) => {
      if (attempt < 3) throw lostRace()
      return { kind: 'done' }
    })
    expect(outcome).toEqual({ kind: 'done' })
    expect(await booked()).toEqual([1, 1])
  })

  test('a transaction that Postgres rolled back three times fails, and changes nothing', async () => {
    const lost = credit(() => {
      throw lostRace()
    })
    await expect(lost).rejects.toThrow('deadlock detected')
    expect(await booked()).toEqual([0, 0])
  })

  test('a transaction that failed for another reason does not run again', async () => {
    let attempts = 0
    const failing = credit((attempt) => {
      attempts = attempt
      throw new Error('a bug')
    })
    await expect(failing).rejects.toThrow('a bug')
    expect(attempts).toBe(1)
  })
})

test('accounts are loaded into the ledger before the transaction, also for an unknown order', async () => {
  const refund = { kind: 'order.refund', orderId: 'order_none', amountCents: 100, allowNegative: false } as const
  await expect(warmLedger(world.deps, refund)).resolves.toBeUndefined()
})
