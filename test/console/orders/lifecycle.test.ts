/** An order from creation to end: limits, cancelling, "I have paid", and expiry. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { until } from '@test/support/until'
import { logRecorder } from '@test/usage/log-recorder'
import { GatewayError } from '@/chat/error'
import { createExpiryWorker } from '@/console/orders/expiry-worker'
import { MAX_CLAIMS, MAX_OPEN_ORDERS, MAX_ORDERS_PER_DAY } from '@/console/orders/limits'
import { createOrders } from '@/console/orders/orders'
import { findReferences } from '@/console/orders/reference'
import { ADMINISTRATOR, AMOUNTS, CUSTOMER, DAY_MS, noticeOf, type OrdersFixture, openOrders } from './fixture'

let world: OrdersFixture
let accountId: string

beforeAll(async () => {
  world = await openOrders()
})
beforeEach(async () => {
  accountId = await world.account()
})
afterAll(() => world.close())

describe('a new order', () => {
  test('a new order by bank transfer waits fourteen days, with its own reference', async () => {
    const order = await world.order(accountId)
    expect(order).toMatchObject({
      accountId,
      method: 'bank_transfer',
      provider: null,
      paymentUrl: null,
      paymentAccount: 'GB82WEST12345698765432',
      bankDetails: { iban: 'GB82WEST12345698765432', isExample: true },
      amountCents: 5_000,
      currency: 'USD',
      state: 'pending',
      paidCents: 0,
      expiresAt: new Date(world.clock.now() + 14 * DAY_MS),
    })
    expect(findReferences(order.reference)).toEqual([order.reference])
  })

  test('a new order by deposit waits a day, with its own page and account', async () => {
    const order = await world.order(accountId, { method: 'deposit', returnUrl: 'https://gw.example/orders/' })
    expect(order).toMatchObject({
      method: 'deposit',
      provider: 'sandbox',
      expiresAt: new Date(world.clock.now() + DAY_MS),
    })
    expect(order.paymentUrl).toStartWith('/sandbox/deposits/')
    const payment = await world.sandbox.open(order.paymentUrl?.split('/').at(-1) ?? '')
    expect(payment).toMatchObject({
      reference: order.reference,
      amountCents: 5_000,
      returnUrl: `https://gw.example/orders/${order.orderId}`,
    })
  })

  test.each([
    0,
    -5_000,
    AMOUNTS.minimumCents - 1,
    AMOUNTS.maximumCents + 1,
    5_000.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('an order over %p cents is refused', async (amountCents) => {
    const outcome = await world.orders.create({ accountId, method: 'bank_transfer', amountCents, actor: CUSTOMER })
    expect(outcome).toEqual({ kind: 'amount_out_of_range', minimumCents: 500, maximumCents: 1_000_000 })
  })

  test('a new order is refused for an unknown account, and for a payment method that is not offered', async () => {
    const order = { accountId: 'acct_none', method: 'bank_transfer', amountCents: 5_000, actor: CUSTOMER } as const
    expect(await world.orders.create(order)).toEqual({ kind: 'unknown_account' })
    const closed = createOrders({ ...world.deps, methods: { bankTransfer: undefined, deposit: undefined } })
    for (const method of ['bank_transfer', 'deposit'] as const) {
      expect(await closed.create({ ...order, accountId, method })).toEqual({ kind: 'method_unavailable' })
    }
  })

  test('an order beyond the maximum of open ones is refused, also among concurrent ones; an expired order does not count', async () => {
    const wanted = { accountId, method: 'bank_transfer', amountCents: 5_000, actor: CUSTOMER } as const
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => world.orders.create(wanted)))
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(MAX_OPEN_ORDERS)
    expect(outcomes.filter(({ kind }) => kind === 'too_many_open')).toHaveLength(12 - MAX_OPEN_ORDERS)
    world.clock.advance(14 * DAY_MS)
    expect((await world.orders.create(wanted)).kind).toBe('created')
  })

  test('an order beyond an account’s daily maximum is refused, whatever the state of earlier orders', async () => {
    for (let index = 0; index < MAX_ORDERS_PER_DAY; index++) {
      const { orderId } = await world.order(accountId)
      await world.orders.cancel({ orderId, actor: CUSTOMER })
    }
    const wanted = { accountId, method: 'bank_transfer', amountCents: 5_000, actor: CUSTOMER } as const
    expect(await world.orders.create(wanted)).toEqual({ kind: 'too_many_today', limit: MAX_ORDERS_PER_DAY })
    world.clock.advance(DAY_MS)
    expect((await world.orders.create(wanted)).kind).toBe('created')
  })

  test('a new order whose provider fails is cancelled', async () => {
    const deposit = {
      ...world.sandbox,
      name: 'broken',
      createPayment: () => Promise.reject(new Error('provider down')),
    }
    const orders = createOrders({ ...world.deps, methods: { bankTransfer: undefined, deposit } })
    const outcome = await orders.create({ accountId, method: 'deposit', amountCents: 5_000, actor: CUSTOMER })
    expect(outcome).toMatchObject({ kind: 'provider_failed', order: { state: 'cancelled', provider: 'broken' } })
  })
})

describe('cancelling and claiming', () => {
  test('a pending order can be cancelled once', async () => {
    const { orderId } = await world.order(accountId)
    const cancelled = await world.orders.cancel({ orderId, accountId, actor: CUSTOMER, note: 'Changed my mind' })
    expect(cancelled).toMatchObject({ kind: 'cancelled', order: { state: 'cancelled' } })
    const again = await world.orders.cancel({ orderId, accountId, actor: CUSTOMER })
    expect(again).toMatchObject({ kind: 'not_pending', order: { state: 'cancelled' } })
  })

  test('"I have paid" is stored and credits nothing', async () => {
    const { orderId } = await world.order(accountId)
    const outcome = await world.orders.claimPaid({
      orderId,
      accountId,
      note: 'today\0, from my \ud800 bank',
      actor: CUSTOMER,
    })
    expect(outcome).toMatchObject({
      kind: 'claimed',
      order: { state: 'pending', claimedAt: new Date(world.clock.now()), claimNote: 'today, from my \ufffd bank' },
    })
    expect(await world.money(accountId)).toMatchObject({ ledger: 0, entries: 0 })
    const found = await world.orders.search({ isClaimed: true, accountId })
    expect(found.items.map((order) => order.orderId)).toEqual([orderId])
  })

  test('"I have paid" can be pressed a limited number of times', async () => {
    const { orderId } = await world.order(accountId)
    const claim = { orderId, accountId, note: 'again', actor: CUSTOMER }
    for (let index = 0; index < MAX_CLAIMS; index++) expect((await world.orders.claimPaid(claim)).kind).toBe('claimed')
    expect(await world.orders.claimPaid(claim)).toEqual({ kind: 'too_many_claims', limit: MAX_CLAIMS })
  })

  test('a person’s actions on an order are audited', async () => {
    const { orderId } = await world.order(accountId)
    await world.orders.claimPaid({ orderId, note: 'n', actor: CUSTOMER })
    await world.orders.cancel({ orderId, actor: ADMINISTRATOR, note: 'double' })
    const entries = await world.fixture.database.sql`
      SELECT action, actor_email, ip FROM audit_entries WHERE subject = ${orderId} ORDER BY seq`
    expect([...entries]).toEqual([
      { action: 'order.create', actor_email: 'customer@example.test', ip: '192.0.2.1' },
      { action: 'order.claim', actor_email: 'customer@example.test', ip: '192.0.2.1' },
      { action: 'order.cancel', actor_email: 'admin@example.test', ip: null },
    ])
  })
})

describe('expiry', () => {
  test('several workers expire each overdue order once', async () => {
    const first = await world.order(accountId)
    const deposit = await world.order(accountId, { method: 'deposit' })
    await world.orders.expireDue(1_000)
    world.clock.advance(DAY_MS)
    const counts = await Promise.all([1, 2, 3].map(() => world.orders.expireDue(100)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1)
    const details = await world.orders.get(deposit.orderId)
    expect(details?.state).toBe('expired')
    expect(details?.events.map(({ kind, actor }) => [kind, actor])).toEqual([
      ['created', 'customer@example.test'],
      ['expired', 'expiry'],
    ])
    expect((await world.orders.get(first.orderId))?.state).toBe('pending')
    const cancelled = await world.orders.cancel({ orderId: deposit.orderId, actor: CUSTOMER })
    expect(cancelled.kind).toBe('not_pending')
  })

  test('the expiry worker runs until it is stopped, also after database failures', async () => {
    const { orderId } = await world.order(accountId, { method: 'deposit' })
    world.clock.advance(DAY_MS)
    let isDown = true
    const log = logRecorder()
    const expireDue = (limit: number) => (isDown ? Promise.reject(new Error('down')) : world.orders.expireDue(limit))
    const worker = createExpiryWorker(
      { settleDue: async () => 0, expireDue, suspendOwing: async () => 0 },
      log.logger,
      5,
    )
    worker.start()
    try {
      await until(() => log.events('order_expiry_failed').length > 0, 'the failure to be logged')
      isDown = false
      await until(async () => (await world.orders.get(orderId))?.state === 'expired', 'the order to expire')
    } finally {
      await worker.stop()
    }
    expect(log.events('orders_expired')[0]).toMatchObject({ orders: 1 })
    await createExpiryWorker(world.orders, silentLogger).stop()
  })
})

describe('lists', () => {
  test('lists have every order once, newest first, page by page', async () => {
    const ids: string[] = []
    for (let index = 0; index < 7; index++) {
      const { orderId } = await world.order(accountId)
      ids.unshift(orderId)
      if (index % 2) await world.orders.cancel({ orderId, actor: CUSTOMER })
      if (index % 3) world.clock.advance(1_000)
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await world.orders.list(accountId, { limit: 2, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.items.map((order) => order.orderId))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(seen.toSorted()).toEqual(ids.toSorted())
    expect(new Set(seen).size).toBe(7)
    expect(seen[0] === ids[0] || seen[1] === ids[0]).toBe(true)
  })

  test('a list of orders refuses the cursor of another list', async () => {
    await expect(world.orders.list(accountId, { cursor: "1'; DROP TABLE orders" })).rejects.toThrow(GatewayError)
  })

  test('administrators search orders by reference, account and amount', async () => {
    const order = await world.order(accountId, { amountCents: 12_345 })
    const { email } = (await world.orders.get(order.orderId))?.account ?? { email: '' }
    const expected = [order.orderId]
    const searches = [
      { reference: order.reference },
      { reference: order.reference.toLowerCase().replaceAll('-', ' ') },
      { reference: order.reference.slice(4, 12) },
      { email: email.slice(0, 12).toUpperCase() },
      { accountId, amountCents: 12_345, state: 'pending', method: 'bank_transfer', isClaimed: false },
    ] as const
    for (const search of searches) {
      expect((await world.orders.search(search)).items.map(({ orderId }) => orderId)).toEqual(expected)
    }
    expect((await world.orders.search({ email: '%' })).items).toEqual([])
    expect((await world.orders.search({ accountId, state: 'paid' })).items).toEqual([])
  })

  test('the list of payments shows waiting payments, or those of one order', async () => {
    const order = await world.order(accountId)
    await world.orders.confirmPayment(noticeOf(order, { amountCents: 1 }))
    const waiting = await world.orders.payments({ orderId: order.orderId })
    expect(waiting.items.map(({ mismatch }) => mismatch)).toEqual(['underpaid'])
    expect((await world.orders.payments({ orderId: order.orderId, state: 'credited' })).items).toEqual([])
  })
})
