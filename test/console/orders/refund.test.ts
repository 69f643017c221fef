/** Refunds and decisions about payments: never more than was paid, never twice, and below zero only if allowed. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createOrders } from '@/console/orders/orders'
import type { Order, Payment } from '@/console/orders/types'
import { nano } from '@/lib/money'
import { ADMINISTRATOR, noticeOf, type OrdersFixture, openOrders } from './fixture'

let world: OrdersFixture
let accountId: string

beforeAll(async () => {
  world = await openOrders()
})
beforeEach(async () => {
  accountId = await world.account()
})
afterAll(() => world.close())

describe('a refund', () => {
  test('refunds in parts remove credit, until the order is refunded', async () => {
    const order = await paidOrder()
    const first = await refund(order, 2_000, 'a')
    expect(first).toMatchObject({
      kind: 'refunded',
      applied: true,
      order: { state: 'partly_refunded', refundedCents: 2_000 },
    })
    const second = await refund(order, 3_000, 'b')
    expect(second).toMatchObject({ kind: 'refunded', order: { state: 'refunded', refundedCents: 5_000 } })
    expect(await refund(order, 1, 'c')).toMatchObject({ kind: 'not_refundable' })
    expect(await world.money(accountId)).toEqual({ ledger: 0, history: 0, entries: 0, paidLessRefunded: 0 })
    const details = await world.orders.get(order.orderId)
    expect(details?.events.at(-1)).toMatchObject({
      kind: 'refunded',
      amountCents: 3_000,
      note: 'not needed',
      actor: 'admin@example.test',
    })
  })

  test('refunds never exceed the payment, also concurrent ones', async () => {
    const order = await paidOrder()
    expect(await refund(order, 5_001, 'x')).toEqual({ kind: 'too_much', refundableCents: 5_000 })
    const outcomes = await Promise.all([1, 2, 3, 4].map((index) => refund(order, 2_000, `key ${index}`)))
    expect(outcomes.filter(({ kind }) => kind === 'refunded')).toHaveLength(2)
    expect(outcomes.filter(({ kind }) => kind === 'too_much')).toHaveLength(2)
    expect(await world.money(accountId)).toEqual({
      ledger: 1_000,
      history: 1_000,
      entries: 1_000,
      paidLessRefunded: 1_000,
    })
  })

  test('a refund sent twice with the same request key happens once', async () => {
    const order = await paidOrder()
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => refund(order, 1_000, 'same')))
    expect(outcomes.filter(({ kind }) => kind === 'refunded')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'exists')).toHaveLength(9)
    expect(await refund(order, 999, 'same')).toEqual({ kind: 'key_taken' })
    expect(await world.money(accountId)).toMatchObject({ ledger: 4_000, paidLessRefunded: 4_000 })
  })

  test('a refund makes the balance negative only if allowed', async () => {
    const order = await paidOrder()
    await hold(30)
    expect(await refund(order, 5_000, 'all')).toEqual({ kind: 'insufficient_balance', available: 20_000_000_000 })
    expect(await refund(order, 2_000, 'rest')).toMatchObject({ kind: 'refunded' })
    expect(await refund(order, 1, 'more')).toMatchObject({ kind: 'insufficient_balance' })
    expect(await refund(order, 3_000, 'chargeback', true)).toMatchObject({
      kind: 'refunded',
      order: { state: 'refunded' },
    })
    expect((await world.fixture.ledger.readBalance(accountId))?.available).toBe(nano(-30_000_000_000))
  })

  test('refunds that the ledger has not received yet count towards the balance', async () => {
    const [first, second] = [await paidOrder(), await paidOrder()]
    await hold(60)
    const ledger = { ...world.deps.ledger, credit: () => Promise.reject(new Error('down')) }
    const request = { orderId: first.orderId, amountCents: 4_000, key: 'k', reason: 'r', actor: ADMINISTRATOR }
    const outcome = await createOrders({ ...world.deps, ledger }).refund(request)
    expect(outcome).toMatchObject({ kind: 'refunded', applied: false })
    expect(await refund(second, 4_000, 'k')).toEqual({ kind: 'insufficient_balance', available: 0 })
  })

  test('a refund of an unpaid or unknown order is refused', async () => {
    const pending = await world.order(accountId)
    expect(await refund(pending, 1_000, 'k')).toMatchObject({ kind: 'not_refundable' })
    expect(await refund({ ...pending, orderId: 'order_none' }, 1_000, 'k')).toEqual({ kind: 'not_found' })
  })
})

describe('an unmatched payment', () => {
  test('an unmatched payment can be credited once to its order, in any state of the order', async () => {
    const order = await world.order(accountId)
    const payment = await unmatched(order, { amountCents: 4_000 })
    await world.orders.cancel({ orderId: order.orderId, actor: ADMINISTRATOR })
    const outcomes = await Promise.all([1, 2, 3].map(() => credit(payment, order)))
    expect(outcomes.filter(({ kind }) => kind === 'credited')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'already_resolved')).toHaveLength(2)
    const details = await world.orders.get(order.orderId)
    expect(details).toMatchObject({ state: 'paid', paidCents: 4_000 })
    expect(details?.payments[0]).toMatchObject({
      state: 'credited',
      mismatch: 'underpaid',
      resolvedBy: 'admin@example.test',
      resolution: 'decided',
    })
    expect(await world.money(accountId)).toEqual({
      ledger: 4_000,
      history: 4_000,
      entries: 4_000,
      paidLessRefunded: 4_000,
    })
    expect(await world.orders.confirmPayment(noticeOf(order, { externalId: payment.externalId }))).toMatchObject({
      kind: 'duplicate',
    })
  })

  test('an unmatched payment in another currency needs an amount; a dollar payment cannot be raised', async () => {
    const order = await world.order(accountId)
    const euros = await unmatched(order, { currency: 'EUR' })
    expect(await credit(euros, order)).toEqual({ kind: 'amount_required' })
    expect(await credit(euros, order, 5_432)).toMatchObject({ kind: 'credited', payment: { creditedCents: 5_432 } })
    const dollars = await unmatched(order, { amountCents: 700 })
    expect(await credit(dollars, order, 701)).toEqual({ kind: 'amount_out_of_range', maximumCents: 700 })
    expect(await credit(dollars, order, 0)).toEqual({ kind: 'amount_out_of_range', maximumCents: 700 })
    expect(await credit(dollars, order)).toMatchObject({ kind: 'credited', order: { state: 'paid', paidCents: 6_132 } })
  })

  test('an unmatched payment without an order is credited to the order that an administrator names', async () => {
    const order = await world.order(accountId)
    const payment = await unmatched(order, { reference: 'rent' })
    expect(payment.orderId).toBeNull()
    expect(await credit(payment, { ...order, orderId: 'order_none' })).toEqual({ kind: 'unknown_order' })
    const outcome = await credit(payment, order)
    expect(outcome).toMatchObject({ kind: 'credited', payment: { orderId: order.orderId, accountId } })
  })

  test('an unmatched payment makes a refunded order partly refunded', async () => {
    const order = await paidOrder()
    const second = await unmatched(order, {})
    await refund(order, 5_000, 'all')
    expect(await credit(second, order)).toMatchObject({ order: { state: 'partly_refunded', paidCents: 10_000 } })
  })

  test('an unmatched payment can be dismissed, once', async () => {
    const order = await world.order(accountId)
    const { paymentId } = await unmatched(order, { amountCents: 1 })
    const request = { paymentId, resolution: { kind: 'dismiss' }, reason: 'sent back', actor: ADMINISTRATOR } as const
    expect(await world.orders.resolve(request)).toMatchObject({
      kind: 'dismissed',
      payment: { resolution: 'sent back' },
    })
    expect(await world.orders.resolve(request)).toMatchObject({ kind: 'already_resolved' })
    expect(await world.orders.resolve({ ...request, paymentId: 'pay_none' })).toEqual({ kind: 'not_found' })
    expect(await world.money(accountId)).toMatchObject({ ledger: 0 })
    const audited = await world.fixture.database.sql`SELECT action FROM audit_entries WHERE subject = ${paymentId}`
    expect([...audited]).toEqual([{ action: 'payment.resolve' }])
  })
})

async function paidOrder(): Promise<Order> {
  const outcome = await world.orders.confirmPayment(noticeOf(await world.order(accountId)))
  if (outcome.kind !== 'credited') throw new Error(outcome.kind)
  return outcome.order
}

function refund({ orderId }: Order, amountCents: number, key: string, allowNegative = false) {
  return world.orders.refund({ orderId, amountCents, key, reason: 'not needed', allowNegative, actor: ADMINISTRATOR })
}

async function unmatched(order: Order, changes: Parameters<typeof noticeOf>[1]): Promise<Payment> {
  const outcome = await world.orders.confirmPayment(noticeOf(order, changes))
  if (outcome.kind !== 'unmatched') throw new Error(outcome.kind)
  return outcome.payment
}

function credit({ paymentId }: Payment, { orderId }: Order, creditCents?: number) {
  const resolution = { kind: 'credit', orderId, ...(creditCents !== undefined && { creditCents }) } as const
  return world.orders.resolve({ paymentId, resolution, reason: 'decided', actor: ADMINISTRATOR })
}

/** A request that is running and holds this much: nobody knows yet what it will cost. */
async function hold(usd: number): Promise<void> {
  const { ledger, apiKeys } = world.fixture
  const key = await apiKeys.create({ accountId, name: 'test' })
  if (key.kind !== 'created') throw new Error(key.kind)
  const amount = nano(usd * 1_000_000_000)
  const request = { accountId, keyId: key.keyId, holdId: crypto.randomUUID(), amount, inputCost: nano(0) }
  const outcome = await ledger.reserve({ ...request, tokens: 1, ttlMs: 3_600_000 })
  expect(outcome).toMatchObject({ kind: 'reserved' })
}
