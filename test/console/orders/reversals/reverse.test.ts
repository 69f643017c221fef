/** Chargebacks, refunds at the provider, and their reversals: each moves credit once, in any order, and is always shown. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { ADMINISTRATOR, noticeOf, type OrdersFixture, openOrders } from '@test/console/orders/fixture'
import { createAccounts } from '@/accounts/accounts'
import { createOutboxWorker } from '@/accounts/outbox'
import { createOrders } from '@/console/orders/orders'
import type { Order, ReversalNotice } from '@/console/orders/types'
import { nano } from '@/lib/money'

const PROVIDER = { kind: 'system', name: 'sandbox' } as const
let world: OrdersFixture
let accountId: string

beforeAll(async () => {
  world = await openOrders()
})
beforeEach(async () => {
  accountId = await world.account()
})
afterAll(async () => {
  expect(await world.check()).toEqual([])
  await world.close()
})

describe('a chargeback', () => {
  test('a chargeback removes the credit, and is on the order and in the audit log', async () => {
    const { order, depositId } = await deposited()
    const outcome = await chargeback(depositId)
    expect(outcome).toMatchObject({ kind: 'reversed', isSuspended: false, order: { state: 'charged_back' } })
    expect(await money()).toMatchObject({ ledger: 0, history: 0, entries: 0, paidLessRefunded: 0 })
    const details = await world.orders.get(order.orderId)
    expect(details).toMatchObject({ state: 'charged_back', chargedBackCents: 5_000, refundedCents: 0 })
    expect(details?.events.at(-1)).toMatchObject({ kind: 'charged_back', amountCents: 5_000, actor: 'sandbox' })
    expect(details?.reversals).toMatchObject([{ kind: 'chargeback', state: 'applied', movedCents: 5_000 }])
    expect(await audited(order.orderId)).toEqual(['order.chargeback'])
  })

  test('a chargeback of spent credit leaves the account below zero, and suspends it at once', async () => {
    const { depositId } = await deposited()
    await spend(30)
    const notice = noticeFor(depositId)
    expect(await world.orders.reverse(notice)).toMatchObject({ kind: 'reversed', isSuspended: true })
    const balance = await world.fixture.ledger.readBalance(accountId)
    expect(balance).toMatchObject({ available: nano(-30_000_000_000), status: 'suspended' })
    expect(await audited(accountId)).toEqual(['account.suspend'])
    expect(await world.orders.reverse(notice)).toMatchObject({ kind: 'duplicate', isSame: true })
    expect(await audited(accountId)).toEqual(['account.suspend'])
  })

  test('if an open request holds the credit, a chargeback suspends the account once that request is charged', async () => {
    const { depositId } = await deposited()
    const { ledger, database } = world.fixture
    const entryId = `withheld-${accountId}`
    const held = { accountId, entryId, amount: nano(40_000_000_000) }
    await ledger.withhold({ ...held, ttlMs: 600_000, allowNegative: false, debits: [] })
    expect(await chargeback(depositId)).toMatchObject({ kind: 'reversed', isSuspended: false })
    expect([await world.orders.suspendOwing(), (await ledger.readBalance(accountId))?.status]).toEqual([0, 'active'])
    await ledger.resolveWithheld(held)
    await spend(40)
    expect([await world.orders.suspendOwing(), (await ledger.readBalance(accountId))?.status]).toEqual([1, 'suspended'])
    await createAccounts(database, ledger).setStatus(accountId, 'active')
    expect([await world.orders.suspendOwing(), (await ledger.readBalance(accountId))?.status]).toEqual([0, 'active'])
  })

  test('if the ledger was unreachable at a chargeback, its repetition suspends the account', async () => {
    const { depositId } = await deposited()
    await spend(30)
    const down = () => Promise.reject(new Error('down'))
    const orders = createOrders({ ...world.deps, ledger: { ...world.deps.ledger, credit: down, readBalance: down } })
    const notice = noticeFor(depositId)
    await expect(orders.reverse(notice)).rejects.toThrow('down')
    expect((await world.fixture.ledger.readBalance(accountId))?.status).toBe('active')
    await createOutboxWorker(world.fixture.database, world.fixture.ledger, silentLogger).runOnce()
    expect(await world.orders.reverse(notice)).toMatchObject({ kind: 'duplicate', isSuspended: true })
    const balance = await world.fixture.ledger.readBalance(accountId)
    expect(balance).toMatchObject({ available: nano(-30_000_000_000), status: 'suspended' })
  })

  test('partial chargebacks together remove at most the credited amount', async () => {
    const { order, depositId } = await deposited()
    expect(await chargeback(depositId, 2_000)).toMatchObject({ kind: 'reversed', order: { chargedBackCents: 2_000 } })
    expect(await refundHere(order, 3_001)).toMatchObject({ kind: 'too_much', refundableCents: 3_000 })
    expect(await chargeback(depositId, 2_500)).toMatchObject({ order: { chargedBackCents: 4_500 } })
    expect(await chargeback(depositId, 2_500)).toMatchObject({ order: { chargedBackCents: 5_000 } })
    expect(await money()).toMatchObject({ ledger: 0, paidLessRefunded: 0 })
  })

  test('a chargeback reported many times at once is booked once; another amount with its id is another event', async () => {
    const { depositId } = await deposited()
    const notice = noticeFor(depositId, { amountCents: 1_000 })
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => world.orders.reverse(notice)))
    expect(outcomes.filter(({ kind }) => kind === 'reversed')).toHaveLength(1)
    expect(outcomes.filter(({ kind }) => kind === 'duplicate')).toHaveLength(9)
    expect(await world.orders.reverse({ ...notice, amountCents: 999 })).toMatchObject({
      kind: 'duplicate',
      isSame: false,
    })
    expect(await money()).toMatchObject({ ledger: 4_000, paidLessRefunded: 4_000 })
  })

  test('a chargeback that arrives before its deposit waits for it, and is shown on the order', async () => {
    const order = await world.order(accountId, { method: 'deposit' })
    const paymentId = await paymentIdOf(order)
    const notice = noticeFor('tr_early', { paymentId, amountCents: 4_000, externalId: `cb_${order.orderId}` })
    const depositId = `tr_${order.orderId}`
    expect(await world.orders.reverse({ ...notice, undoes: depositId })).toMatchObject({ kind: 'waiting' })
    expect((await world.orders.get(order.orderId))?.events.at(-1)).toMatchObject({ kind: 'reversal_kept' })
    const won = noticeFor(notice.externalId, { kind: 'reinstatement', amountCents: 1_000 })
    expect(await world.orders.reverse(won)).toMatchObject({ kind: 'waiting' })
    const paid = await world.orders.confirmPayment(noticeOf(order, { externalId: depositId }))
    expect(paid).toMatchObject({ kind: 'credited', order: { state: 'charged_back', chargedBackCents: 3_000 } })
    expect(await money()).toMatchObject({ ledger: 2_000, history: 2_000, entries: 2_000, paidLessRefunded: 2_000 })
  })

  test('a chargeback at the same time as its deposit is applied, whichever comes first', async () => {
    for (let round = 0; round < 10; round++) {
      const order = await world.order(accountId, { method: 'deposit' })
      const depositId = `tr_${order.orderId}`
      await Promise.all([
        world.orders.reverse(noticeFor(depositId)),
        world.orders.confirmPayment(noticeOf(order, { externalId: depositId })),
      ])
      expect(await world.orders.get(order.orderId)).toMatchObject({ state: 'charged_back', chargedBackCents: 5_000 })
    }
    expect(await money()).toMatchObject({ ledger: 0, history: 0 })
  })

  test('a chargeback of a payment that waits for an administrator reduces the credit given later', async () => {
    const order = await world.order(accountId, { method: 'deposit' })
    const kept = await world.orders.confirmPayment(noticeOf(order, { amountCents: 4_000 }))
    if (kept.kind !== 'unmatched') throw new Error(kept.kind)
    const { externalId, paymentId } = kept.payment
    expect(await chargeback(externalId, 4_000)).toMatchObject({ kind: 'waiting' })
    const resolution = { kind: 'credit', orderId: order.orderId } as const
    const outcome = await world.orders.resolve({ paymentId, resolution, reason: 'decided', actor: ADMINISTRATOR })
    expect(outcome).toMatchObject({ kind: 'credited', order: { state: 'charged_back' } })
    expect(await money()).toMatchObject({ ledger: 0, history: 0 })
  })

  test('a chargeback in another currency waits for an administrator', async () => {
    const { order, depositId } = await deposited()
    const outcome = await world.orders.reverse(noticeFor(depositId, { currency: 'EUR' }))
    expect(outcome).toMatchObject({ kind: 'kept', reversal: { fault: 'wrong_currency', movedCents: 0 } })
    expect((await world.orders.get(order.orderId))?.events.at(-1)).toMatchObject({ kind: 'reversal_kept' })
    expect(await money()).toMatchObject({ ledger: 5_000 })
  })
})

describe('a won dispute', () => {
  test('a won dispute returns at most the amount of the chargeback, in parts', async () => {
    const { order, depositId } = await deposited()
    const lost = noticeFor(depositId)
    await world.orders.reverse(lost)
    const win = (amountCents: number) =>
      world.orders.reverse(noticeFor(lost.externalId, { kind: 'reinstatement', amountCents }))
    expect(await win(2_000)).toMatchObject({
      kind: 'reinstated',
      order: { state: 'charged_back', chargedBackCents: 3_000 },
    })
    expect(await win(3_000)).toMatchObject({ kind: 'reinstated', order: { state: 'paid', chargedBackCents: 0 } })
    expect(await win(1)).toMatchObject({ kind: 'kept', reversal: { fault: 'nothing_taken' } })
    expect(await money()).toMatchObject({ ledger: 5_000, history: 5_000, entries: 5_000, paidLessRefunded: 5_000 })
    expect(await audited(order.orderId)).toContain('order.reinstatement')
    expect(await chargeback(depositId)).toMatchObject({ kind: 'reversed', order: { chargedBackCents: 5_000 } })
  })

  test('a won dispute does not activate a suspended account, as only a person does', async () => {
    const { depositId } = await deposited()
    await spend(30)
    const lost = noticeFor(depositId)
    await world.orders.reverse(lost)
    await world.orders.reverse(noticeFor(lost.externalId, { kind: 'reinstatement' }))
    const balance = await world.fixture.ledger.readBalance(accountId)
    expect(balance).toMatchObject({ available: nano(20_000_000_000), status: 'suspended' })
  })
})

describe('a refund at the provider', () => {
  test('a refund at the provider removes credit and marks the order refunded', async () => {
    const { depositId } = await deposited()
    expect(await refund(depositId, 2_000)).toMatchObject({ kind: 'reversed', order: { state: 'partly_refunded' } })
    expect(await refund(depositId, 3_000)).toMatchObject({ order: { state: 'refunded', refundedCents: 5_000 } })
    expect(await money()).toMatchObject({ ledger: 0, paidLessRefunded: 0 })
  })

  test('a refund at the provider removes no credit if an administrator has already booked it in the gateway', async () => {
    const { order, depositId } = await deposited()
    await refundHere(order, 2_000)
    expect(await refund(depositId, 1_500)).toMatchObject({ order: { refundedCents: 2_000 } })
    expect(await refund(depositId, 1_500)).toMatchObject({ order: { refundedCents: 3_000 } })
    expect(await money()).toMatchObject({ ledger: 2_000, history: 2_000, paidLessRefunded: 2_000 })
    await refundHere(order, 1_000, 'second')
    expect(await refund(depositId, 1_000)).toMatchObject({ order: { refundedCents: 4_000 } })
    expect(await money()).toMatchObject({ ledger: 1_000, paidLessRefunded: 1_000 })
  })

  test('a failed refund at the provider returns the credit', async () => {
    const { depositId } = await deposited()
    const sent = noticeFor(depositId, { kind: 'refund', amountCents: 2_000 })
    await world.orders.reverse(sent)
    const failed = noticeFor(sent.externalId, { kind: 'reinstatement', amountCents: 2_000 })
    expect(await world.orders.reverse(failed)).toMatchObject({ kind: 'reinstated', order: { state: 'paid' } })
    expect(await money()).toMatchObject({ ledger: 5_000, paidLessRefunded: 5_000 })
  })
})

/** An order of 50 USD that a deposit has paid. */
async function deposited(): Promise<{ order: Order; depositId: string }> {
  const order = await world.order(accountId, { method: 'deposit' })
  const depositId = crypto.randomUUID()
  const outcome = await world.orders.confirmPayment(noticeOf(order, { externalId: depositId }))
  if (outcome.kind !== 'credited') throw new Error(outcome.kind)
  return { order: outcome.order, depositId }
}

function noticeFor(undoes: string, changes: Partial<ReversalNotice> = {}): ReversalNotice {
  const base = { source: 'deposit:sandbox', kind: 'chargeback', externalId: crypto.randomUUID(), undoes } as const
  return { ...base, amountCents: 5_000, currency: 'USD', actor: PROVIDER, ...changes }
}

function chargeback(depositId: string, amountCents = 5_000) {
  return world.orders.reverse(noticeFor(depositId, { amountCents }))
}

function refund(depositId: string, amountCents: number) {
  return world.orders.reverse(noticeFor(depositId, { kind: 'refund', amountCents }))
}

function refundHere({ orderId }: Order, amountCents: number, key = 'k') {
  return world.orders.refund({ orderId, amountCents, key, reason: 'not needed', actor: ADMINISTRATOR })
}

async function spend(usd: number): Promise<void> {
  const reference = crypto.randomUUID()
  await world.fixture.credits.addCredit({ accountId, amount: nano(-usd * 1_000_000_000), reference })
}

function money() {
  return world.money(accountId)
}

async function paymentIdOf({ orderId }: Order): Promise<string> {
  const [row] = await world.fixture.database.sql<{ payee: string }[]>`SELECT payee FROM orders WHERE id = ${orderId}`
  return row?.payee ?? ''
}

/** What the audit log says was done to something, but for its creation. */
async function audited(subject: string): Promise<string[]> {
  const rows = await world.fixture.database.sql<{ action: string }[]>`
    SELECT action FROM audit_entries WHERE subject = ${subject} AND actor_email = 'sandbox' ORDER BY seq`
  return rows.map(({ action }) => action)
}
