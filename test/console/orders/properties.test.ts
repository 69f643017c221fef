/** Random events of orders in any order: the account has exactly what was paid less what was refunded. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { noticeOf, type OrdersFixture, openOrders, STATEMENT } from './fixture'

let world: OrdersFixture
beforeAll(async () => {
  world = await openOrders()
})
afterAll(() => world.close())

const ORDERS = 3
const which = fc.nat({ max: ORDERS - 1 })
const id = fc.nat({ max: 5 }).map(String)

/** One thing that may happen; `order` is the number of an order of the account. */
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      order: which,
      id,
      difference: fc.constantFrom(0, 0, 0, -1, 1, -700),
      currency: fc.constantFrom('USD', 'USD', 'USD', 'EUR'),
      source: fc.constantFrom('own', 'own', 'manual', 'deposit:other'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('refund' as const),
      order: which,
      id,
      cents: fc.integer({ min: 1, max: 6_000 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('resolve' as const),
      order: which,
      cents: fc.option(fc.integer({ min: 1, max: 9_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('dismiss' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), order: which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), days: fc.constantFrom(1, 15) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

test('the sum of ledger entries is the sum of payments less refunds', async () => {
  // Steps of one group happen at the same time.
  const story = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(story, async (groups) => {
      const accountId = await world.account()
      const orderIds = await makeOrders(accountId)
      for (const group of groups) await Promise.all(group.map((one) => perform(one, accountId, orderIds)))
      const money = await world.money(accountId)
      expect(money.entries).toBe(money.paidLessRefunded)
      expect(money.ledger).toBe(money.entries)
      expect(money.history).toBe(money.entries)
      expect(await creditsWithoutPayment(accountId)).toBe(0)
    }),
    { numRuns: 40 },
  )
  expect(await world.check()).toEqual([])
})

async function makeOrders(accountId: string): Promise<string[]> {
  const orderIds: string[] = []
  for (let index = 0; index < ORDERS; index++) {
    const method = index === 0 ? 'deposit' : 'bank_transfer'
    orderIds.push((await world.order(accountId, { method, amountCents: 1_000 * (index + 1) })).orderId)
  }
  return orderIds
}

async function perform(one: Step, accountId: string, orderIds: readonly string[]): Promise<void> {
  const { orders } = world
  const actor = STATEMENT
  const order = 'order' in one ? await orders.get(orderIds[one.order] ?? '') : undefined
  if (one.kind === 'pay' && order) {
    const source = one.source === 'own' ? noticeOf(order).source : (one.source as 'manual')
    const amountCents = order.amountCents + one.difference
    // The same few ids again and again, over all orders of the account.
    await orders.confirmPayment(
      noticeOf(order, { externalId: `${accountId} ${one.id}`, amountCents, currency: one.currency, source }),
    )
  } else if (one.kind === 'refund' && order) {
    const refund = { orderId: order.orderId, amountCents: one.cents, key: one.id, reason: 'r', actor }
    await orders.refund({ ...refund, allowNegative: one.cents % 2 === 0 })
  } else if (one.kind === 'cancel' && order) {
    await orders.cancel({ orderId: order.orderId, actor })
  } else if (one.kind === 'wait') {
    world.clock.advance(one.days * 86_400_000)
    await orders.expireDue(100)
  } else {
    await resolve(one, accountId, order?.orderId)
  }
}

async function resolve(one: Step, accountId: string, orderId: string | undefined): Promise<void> {
  const waiting = await world.orders.payments({ limit: 100 })
  const payment = waiting.items.find((item) => item.accountId === accountId)
  if (!payment) return
  const request = { paymentId: payment.paymentId, reason: 'r', actor: STATEMENT }
  if (one.kind === 'dismiss') await world.orders.resolve({ ...request, resolution: { kind: 'dismiss' } })
  if (one.kind !== 'resolve' || orderId === undefined) return
  const resolution = { kind: 'credit', orderId, ...(one.cents !== null && { creditCents: one.cents }) } as const
  await world.orders.resolve({ ...request, resolution })
}

/** Credits of the account that no payment stands for, and payments whose credit has another amount. */
async function creditsWithoutPayment(accountId: string): Promise<number> {
  const [row] = await world.fixture.database.sql<{ count: number }[]>`
    SELECT count(*) AS count FROM ledger_entries e
    LEFT JOIN payments p ON p.entry_id = e.id
    WHERE e.account_id = ${accountId} AND e.amount_nano > 0
      AND (p.id IS NULL OR p.credited_cents * 10000000 <> e.amount_nano OR p.account_id <> e.account_id)`
  return row?.count ?? -1
}
