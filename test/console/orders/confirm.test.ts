/** Payments: a payment that matches its order is credited exactly once; any other is stored without credit. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { createOutboxWorker } from '@/accounts/outbox'
import { createOrders } from '@/console/orders/orders'
import type { MismatchReason, Order, PaymentNotice } from '@/console/orders/types'
import { ADMINISTRATOR, DAY_MS, noticeOf, type OrdersFixture, openOrders, STATEMENT } from './fixture'

let world: OrdersFixture
let accountId: string

beforeAll(async () => {
  world = await openOrders()
})
beforeEach(async () => {
  accountId = await world.account()
})
afterAll(() => world.close())

describe('a payment that matches its order', () => {
  test('a payment that matches its order pays it and is credited', async () => {
    const order = await world.order(accountId)
    const outcome = await world.orders.confirmPayment(noticeOf(order))
    expect(outcome).toMatchObject({
      kind: 'credited',
      applied: true,
      order: { state: 'paid', paidCents: 5_000, refundedCents: 0, paidAt: new Date(world.clock.now()) },
      payment: { state: 'credited', creditedCents: 5_000, mismatch: null, orderId: order.orderId, accountId },
    })
    expect(await world.money(accountId)).toEqual(everywhere(5_000))
    const details = await world.orders.get(order.orderId)
    expect(details?.events.map(({ kind, state, actor }) => [kind, state, actor])).toEqual([
      ['created', 'pending', 'customer@example.test'],
      ['paid', 'paid', 'statement'],
    ])
    expect(details?.payments).toHaveLength(1)
  })

  test.each(['svc-xxxx-yyyy', 'svc xxxx yyyy', 'SVCXXXXYYYY', 's v c - x x x x - y y y y'])(
    'an order reference in a payment is recognised if written as %s',
    async (form) => {
      const order = await world.order(accountId)
      const characters = order.reference.replace(/[^A-Z0-9]/g, '').slice(3)
      let position = 0
      const written = form.replace(/[xy]/gi, () => characters.charAt(position++))
      const outcome = await world.orders.confirmPayment(
        noticeOf(order, { reference: `Invoice 12, ${written}; thanks` }),
      )
      expect(outcome).toMatchObject({ kind: 'credited', order: { orderId: order.orderId } })
    },
  )

  test('a payment reported again with another amount or for another order changes nothing', async () => {
    const [first, second] = [await world.order(accountId), await world.order(accountId)]
    const notice = noticeOf(first)
    await world.orders.confirmPayment(notice)
    const other = await world.orders.confirmPayment({ ...notice, reference: second.reference, amountCents: 9_900 })
    expect(other).toMatchObject({ kind: 'duplicate', isSame: false, payment: { orderId: first.orderId } })
    expect(await world.money(accountId)).toEqual(everywhere(5_000))
    expect(await stateOf(second)).toBe('pending')
  })

  test('a payment with the same id from another source is another payment', async () => {
    const [first, second] = [await world.order(accountId), await world.order(accountId)]
    await world.orders.confirmPayment(noticeOf(first, { externalId: 'one' }))
    const manual = noticeOf(second, { externalId: 'one', source: 'manual', actor: ADMINISTRATOR, reason: 'seen' })
    expect(await world.orders.confirmPayment(manual)).toMatchObject({ kind: 'credited' })
    expect(await world.money(accountId)).toEqual(everywhere(10_000))
  })
})

describe('while the ledger is unreachable', () => {
  test('while the ledger is unreachable, a payment is recorded, and later credited once by the outbox', async () => {
    await world.fixture.ledger.readBalance(accountId)
    const ledger = { ...world.deps.ledger, credit: () => Promise.reject(new Error('down')) }
    const order = await world.order(accountId)
    const notice = noticeOf(order)
    const outcome = await createOrders({ ...world.deps, ledger }).confirmPayment(notice)
    expect(outcome).toMatchObject({ kind: 'credited', applied: false, order: { state: 'paid' } })
    expect(await world.money(accountId)).toEqual({ ...everywhere(5_000), ledger: 0 })
    expect(await world.orders.confirmPayment(notice)).toMatchObject({ kind: 'duplicate' })
    await createOutboxWorker(world.fixture.database, world.fixture.ledger, silentLogger).runOnce()
    expect(await world.money(accountId)).toEqual(everywhere(5_000))
  })
})

describe('a payment that does not match', () => {
  const cases: [MismatchReason, (order: Order) => Partial<PaymentNotice>][] = [
    ['underpaid', (order) => ({ amountCents: order.amountCents - 1 })],
    ['overpaid', (order) => ({ amountCents: order.amountCents + 1 })],
    ['wrong_currency', () => ({ currency: 'EUR' })],
    ['wrong_payee', () => ({ payee: 'DE89 3704 0044 0532 0130 00' })],
    ['wrong_source', () => ({ source: 'deposit:sandbox' })],
    ['wrong_reference', (order) => ({ orderId: order.orderId, reference: 'no reference at all' })],
    ['unknown_reference', () => ({ reference: 'SVC-2222-222X' })],
    ['unknown_reference', () => ({ reference: undefined })],
    ['unknown_reference', () => ({ reference: undefined, orderId: 'order_none' })],
  ]
  test.each(cases)('a payment that does not match its order is stored as %s', async (reason, changes) => {
    const order = await world.order(accountId)
    const notice = noticeOf(order, changes(order))
    const outcome = await world.orders.confirmPayment(notice)
    expect(outcome).toMatchObject({
      kind: 'unmatched',
      reason,
      payment: { state: 'unmatched', mismatch: reason, creditedCents: 0, amountCents: notice.amountCents },
    })
    expect(await stateOf(order)).toBe('pending')
    expect(await world.money(accountId)).toEqual(everywhere(0))
    expect(await world.orders.confirmPayment(notice)).toMatchObject({ kind: 'duplicate', isSame: true })
  })

  test('a payment that names two orders is stored', async () => {
    const [first, second] = [await world.order(accountId), await world.order(accountId)]
    const both = noticeOf(first, { reference: `${first.reference} ${second.reference}` })
    expect(await world.orders.confirmPayment(both)).toMatchObject({ kind: 'unmatched', reason: 'unknown_reference' })
  })

  test('a payment from a provider for an order with another payment method is stored', async () => {
    const deposit = await world.order(accountId, { method: 'deposit' })
    const stranger = noticeOf(deposit, { source: 'deposit:stranger' })
    expect(await world.orders.confirmPayment(stranger)).toMatchObject({ kind: 'unmatched', reason: 'wrong_source' })
    const bank = noticeOf(deposit, { source: 'bank' })
    expect(await world.orders.confirmPayment(bank)).toMatchObject({ kind: 'unmatched', reason: 'wrong_source' })
    expect(await world.money(accountId)).toEqual(everywhere(0))
  })

  test('a second payment of an order is stored', async () => {
    const order = await world.order(accountId)
    await world.orders.confirmPayment(noticeOf(order))
    const second = await world.orders.confirmPayment(noticeOf(order))
    expect(second).toMatchObject({ kind: 'unmatched', reason: 'order_already_paid' })
    expect(await world.money(accountId)).toEqual(everywhere(5_000))
  })

  test('a payment of a cancelled or expired order is stored, even before the expiry worker ran', async () => {
    const [cancelled, expired] = [await world.order(accountId), await world.order(accountId)]
    await world.orders.cancel({ orderId: cancelled.orderId, actor: ADMINISTRATOR })
    const late = await world.orders.confirmPayment(noticeOf(cancelled))
    expect(late).toMatchObject({ kind: 'unmatched', reason: 'order_cancelled' })
    world.clock.advance(14 * DAY_MS)
    const later = await world.orders.confirmPayment(noticeOf(expired))
    expect(later).toMatchObject({ kind: 'unmatched', reason: 'order_expired' })
    expect(await stateOf(expired)).toBe('expired')
    expect(await world.money(accountId)).toEqual(everywhere(0))
  })

  test('a payment that would raise the balance beyond its maximum is stored', async () => {
    const order = await world.order(accountId)
    const { credits } = world.fixture
    const full = 8_999_999_000_000_000
    await credits.addCredit({ accountId, amount: full as never, reference: 'fill' })
    const outcome = await world.orders.confirmPayment(noticeOf(order))
    expect(outcome).toMatchObject({ kind: 'unmatched', reason: 'balance_limit' })
    expect(await stateOf(order)).toBe('pending')
  })
})

describe('cancelling and paying at the same time', () => {
  test('if an order is cancelled and paid at the same time, it ends in one of the two states, with the right credit', async () => {
    for (let round = 0; round < 10; round++) {
      const payer = await world.account()
      const order = await world.order(payer)
      const [cancelled, paid] = await Promise.all([
        world.orders.cancel({ orderId: order.orderId, accountId: payer, actor: ADMINISTRATOR }),
        world.orders.confirmPayment(noticeOf(order)),
      ])
      const isPaid = paid.kind === 'credited'
      expect(cancelled.kind).toBe(isPaid ? 'not_pending' : 'cancelled')
      expect(await stateOf(order)).toBe(isPaid ? 'paid' : 'cancelled')
      expect(await world.money(payer)).toEqual(everywhere(isPaid ? 5_000 : 0))
    }
  })
})

describe('a confirmation by a person', () => {
  test('a confirmation by a person is audited with its reason; an automatic one is not', async () => {
    const [first, second] = [await world.order(accountId), await world.order(accountId)]
    const manual = noticeOf(first, { source: 'manual', actor: ADMINISTRATOR, reason: 'Seen on the statement' })
    await world.orders.confirmPayment(manual)
    await world.orders.confirmPayment(noticeOf(second, { actor: STATEMENT }))
    const entries = await world.fixture.database.sql`
      SELECT actor_email, details FROM audit_entries WHERE account_id = ${accountId} AND action = 'payment.confirm'`
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({
      actor_email: 'admin@example.test',
      details: { state: 'credited', amount: '50', reason: 'Seen on the statement', orderId: first.orderId },
    })
  })
})

function everywhere(cents: number) {
  return { ledger: cents, history: cents, entries: cents, paidLessRefunded: cents }
}

async function stateOf({ orderId }: Order): Promise<string | undefined> {
  return (await world.orders.get(orderId))?.state
}
