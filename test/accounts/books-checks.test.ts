/** The ledger check finds each entry that is missing in the books, altered, or of another day, and names its day and account. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CUSTOMER, noticeOf, type OrdersFixture, openOrders, STATEMENT } from '@test/console/orders/fixture'
import { usageRecord } from '@test/usage/sample-records'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'
import { violationsAfter } from './damaged-books'

let world: OrdersFixture
let accountId: string
let days: string[]

/** A purchase, a refund by an administrator, a chargeback that was won in part, a grant, and usage of two models. */
beforeAll(async () => {
  world = await openOrders()
  world.clock.advance(Date.now() - world.clock.now())
  const { orders, fixture } = world
  accountId = await world.account()
  const order = await world.order(accountId, { method: 'deposit' })
  const notice = noticeOf(order)
  await orders.confirmPayment(notice)
  const told = { source: notice.source, amountCents: 900, currency: 'USD', actor: STATEMENT }
  const [taken, won] = [crypto.randomUUID(), crypto.randomUUID()]
  await orders.reverse({ ...told, kind: 'chargeback', externalId: taken, undoes: notice.externalId })
  await orders.reverse({ ...told, kind: 'reinstatement', externalId: won, undoes: taken, amountCents: 300 })
  await orders.refund({ orderId: order.orderId, amountCents: 100, key: 'k', reason: 'r', actor: CUSTOMER })
  await fixture.credits.addCredit({ accountId, amount: nano(5), reference: 'a grant' })
  const atMs = Date.now()
  await writeUsageBatch(fixture.database.sql, [
    usageRecord({ accountId, atMs, cost: 3, facts: { providerCost: nano(2) } }),
    usageRecord({ accountId, atMs, cost: 4, facts: { model: 'svc/beta' } }),
  ])
  // An entry may be written before midnight, or moved to the day before.
  days = [atMs, atMs - 86_400_000].map((at) => new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length))
})
afterAll(() => world.close())

const PAYMENT = `(SELECT entry_id FROM payments WHERE account_id = $1)`

test.each<[string, string, string]>([
  ['a deleted purchase', 'purchase_differs', 'DELETE FROM payments WHERE account_id = $1'],
  [
    'a purchase that is deleted in its history as well',
    'order_sum_differs',
    `WITH gone AS (DELETE FROM payments WHERE account_id = $1 RETURNING entry_id)
      DELETE FROM order_events WHERE entry_id IN (SELECT entry_id FROM gone)`,
  ],
  [
    'an altered purchase',
    'purchase_differs',
    'UPDATE payments SET credited_cents = credited_cents + 1 WHERE account_id = $1',
  ],
  ['a deleted entry of a purchase', 'purchase_differs', `DELETE FROM ledger_entries WHERE id = ${PAYMENT}`],
  [
    'an altered entry',
    'entry_differs',
    'UPDATE ledger_entries SET amount_nano = 6 WHERE account_id = $1 AND amount_nano = 5',
  ],
  ['a deleted grant', 'entry_differs', 'DELETE FROM ledger_entries WHERE account_id = $1 AND amount_nano = 5'],
  [
    'an entry that moved to another day',
    'entry_differs',
    "UPDATE ledger_entries SET created_at = created_at - interval '1 day' WHERE account_id = $1 AND amount_nano = 5",
  ],
  [
    'an entry without an account',
    'entry_differs',
    "INSERT INTO ledger_entries (id, account_id, kind, amount_nano, reference) VALUES ('entry_x', $1, 'credit', 7, 'x')",
  ],
  ['a deleted dispute', 'purchase_differs', "DELETE FROM reversals WHERE account_id = $1 AND kind = 'chargeback'"],
  [
    'an altered reinstatement',
    'purchase_differs',
    "UPDATE reversals SET moved_cents = 1 WHERE account_id = $1 AND kind = 'reinstatement'",
  ],
  [
    'a deleted note of a dispute',
    'purchase_differs',
    "DELETE FROM order_events WHERE kind = 'charged_back' AND order_id IN (SELECT id FROM orders WHERE account_id = $1)",
  ],
  [
    'an altered note of a refund',
    'purchase_differs',
    "UPDATE order_events SET amount_cents = 1 WHERE kind = 'refunded' AND order_id IN (SELECT id FROM orders WHERE account_id = $1)",
  ],
  [
    'an altered sum',
    'daily_sum_differs',
    "UPDATE usage_daily SET cost_nano = 9 WHERE account_id = $1 AND model = 'svc/beta'",
  ],
  [
    'a sum of another model',
    'daily_sum_differs',
    "UPDATE usage_daily SET model = 'svc/gamma' WHERE account_id = $1 AND model = 'svc/beta'",
  ],
  [
    'an altered provider cost',
    'daily_sum_differs',
    "UPDATE usage_daily SET costed_nano = 1 WHERE account_id = $1 AND model = 'svc/alpha'",
  ],
])('ledger check finds %s, and names its day and account', async (_name, kind, damage) => {
  const violations = await violationsAfter(world.fixture.database, 'records', async (transaction) => {
    await transaction.unsafe(`SET LOCAL session_replication_role = replica`)
    const { count } = await transaction.unsafe(damage, [accountId])
    expect(count).toBeGreaterThan(0)
  })
  const own = violations.filter((violation) => violation.accountId === accountId)
  const found = own.find((violation) => violation.kind === kind)?.detail ?? ''
  expect([damage, found]).toEqual([damage, expect.stringMatching(/^\d{4}-\d{2}-\d{2}[:,] /)])
  expect(days).toContain(found.slice(0, 'yyyy-mm-dd'.length))
})

test('ledger check finds no fault in correct books', async () => {
  expect(await world.check()).not.toContainEqual(
    expect.objectContaining({ kind: expect.stringMatching(/entry|purchase|order|daily/) }),
  )
})
