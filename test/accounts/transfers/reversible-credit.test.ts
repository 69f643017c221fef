/** Credit that its payer can still charge back stays in the account that it was paid into. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  ADMINISTRATOR,
  DAY_MS,
  noticeOf,
  type OrdersFixture,
  openOrders,
  STATEMENT,
} from '@test/console/orders/fixture'
import { request } from '@test/ledger/harness'
import { fc } from '@test/support/property'
import { movableOf } from '@/accounts/transfers/movable'
import { moveCredit } from '@/accounts/transfers/move-credit'
import { requestIdOf } from '@/console/administration/approvals/operation'
import { requestOperation } from '@/console/administration/approvals/request-operation'
import type { Order } from '@/console/orders/types'
import { randomId } from '@/lib/ids'
import { NANO_PER_USD, type Nano, nano } from '@/lib/money'
import { newOwner, type Owner } from './owner'

const USD = NANO_PER_USD

let world: OrdersFixture
let from: string
let to: string
let owner: Owner

beforeAll(async () => {
  world = await openOrders()
  // What can still be taken back is a question to the database's own clock.
  world.clock.advance(Date.now() - world.clock.now())
})
beforeEach(async () => {
  ;[from, to] = [await world.account(), await world.account()]
  owner = await newOwner(world.fixture, [from, to])
})
afterAll(() => world.close())

/** Pays for 20 USD. */
async function pay(method: 'deposit' | 'bank_transfer', by: { isManual?: boolean } = {}): Promise<Order> {
  const order = await world.order(from, { method, amountCents: 2_000 })
  const notice = noticeOf(order, by.isManual ? { source: 'manual', actor: ADMINISTRATOR, reason: 'r' } : {})
  expect((await world.orders.confirmPayment({ ...notice, externalId: `tr_${order.orderId}` })).kind).toBe('credited')
  return order
}

/** The payments of the account were credited this many days before now. */
async function age(days: number): Promise<void> {
  await world.fixture.database.sql`UPDATE payments
    SET reversible_until = reversible_until - make_interval(days => ${days}) WHERE account_id = ${from}`
}

const move = (usd: number) =>
  moveCredit(world.fixture.database, world.fixture.ledger, {
    ...{
      fromAccountId: from,
      toAccountId: to,
      amount: nano(Math.round(usd * USD)),
      key: randomId('key'),
      by: owner.by,
    },
  })

const takeBack = (usd: number, isCovered: boolean) =>
  world.fixture.credits.addCredit({ accountId: from, amount: nano(-usd * USD), reference: randomId('r'), isCovered })

async function adjust(usd: number, allowNegative = false) {
  const deps = { ...world.deps, approvalLimit: nano(1_000 * USD) }
  const { userId } = await newOwner(world.fixture, [])
  const operation = { kind: 'credit.adjust', accountId: from, amountNano: -usd * USD, allowNegative } as const
  const asked = { operation, reason: 'r', requestId: requestIdOf(userId, randomId('key')) }
  return await requestOperation(deps, { userId, email: 'office@example.test' }, asked)
}

async function chargeBack({ orderId, provider }: Order): Promise<void> {
  await world.orders.reverse({
    ...({ kind: 'chargeback', source: `deposit:${provider}`, externalId: `cb_${orderId}`, actor: STATEMENT } as const),
    ...{ undoes: `tr_${orderId}`, amountCents: 2_000, currency: 'USD' },
  })
}

const balance = async (accountId: string) => (await world.money(accountId)).ledger / 100

describe('credit of a deposit', () => {
  test('deposited credit cannot be transferred, so a chargeback takes it back completely', async () => {
    const order = await pay('deposit')
    expect(await move(19.9)).toMatchObject({ kind: 'reversible', movable: nano(0) })
    await chargeBack(order)
    expect([await balance(from), await balance(to)]).toEqual([0, 0])
  })

  test('deposited credit can be transferred once its payment cannot be charged back', async () => {
    await pay('deposit')
    await age(29)
    expect(await move(20)).toMatchObject({ kind: 'reversible' })
    await age(2)
    expect(await move(20)).toMatchObject({ kind: 'moved' })
  })

  test('deposited credit that an administrator confirmed cannot be transferred while it can be charged back', async () => {
    await pay('deposit', { isManual: true })
    expect(await move(1)).toMatchObject({ kind: 'reversible' })
  })

  test('deposited credit that paid a bank transfer order cannot be transferred while it can be charged back', async () => {
    const order = await world.order(from, { method: 'bank_transfer', amountCents: 2_000 })
    const notice = noticeOf(order, { source: 'deposit:sandbox' })
    const kept = await world.orders.confirmPayment(notice)
    if (kept.kind !== 'unmatched') throw new Error(kept.kind)
    const { paymentId } = kept.payment
    const resolution = { kind: 'credit', orderId: order.orderId } as const
    await world.orders.resolve({ paymentId, resolution, reason: 'r', actor: ADMINISTRATOR })
    expect(await move(1)).toMatchObject({ kind: 'reversible' })
  })

  test('a charged-back or refunded deposit does not block the transfer of other credit', async () => {
    const [one, two] = [await pay('deposit'), await pay('deposit')]
    await pay('bank_transfer')
    await chargeBack(one)
    const refund = { orderId: two.orderId, amountCents: 2_000, key: 'k', reason: 'r', actor: ADMINISTRATOR }
    expect(await world.orders.refund(refund)).toMatchObject({ kind: 'refunded' })
    expect(await move(20)).toMatchObject({ kind: 'moved' })
  })
})

test('credit from bank transfers and grants can be transferred at once', async () => {
  await pay('bank_transfer')
  await pay('bank_transfer', { isManual: true })
  await world.fixture.credits.addCredit({ accountId: from, amount: nano(5 * USD), reference: 'gift' })
  expect(await move(45)).toMatchObject({ kind: 'moved' })
})

test('requests spend other credit before reversible credit; held credit cannot be transferred', async () => {
  await pay('deposit')
  await pay('bank_transfer')
  const made = await world.fixture.apiKeys.create({ accountId: from, name: 'key' })
  if (made.kind !== 'created') throw new Error(made.kind)
  const hold = request({ accountId: from, keyId: made.keyId }, 15 * USD)
  expect((await world.fixture.ledger.reserve(hold)).kind).toBe('reserved')
  const refused = await move(6)
  expect(refused).toMatchObject({ kind: 'reversible', movable: nano(5 * USD) })
  expect('later' in refused && refused.later.map(({ amount }) => amount / USD)).toEqual([20])
  expect(await move(5)).toMatchObject({ kind: 'moved' })
  expect(await move(0.01)).toMatchObject({ kind: 'reversible', movable: nano(0) })
})

test('concurrent transfers do not take the reversible credit', async () => {
  await pay('deposit')
  await pay('bank_transfer')
  const outcomes = await Promise.all(Array.from({ length: 12 }, () => move(6)))
  expect(outcomes.filter(({ kind }) => kind === 'moved')).toHaveLength(3)
  expect([await balance(from), await balance(to)]).toEqual([22, 18])
})

describe('an operator who removes credit', () => {
  test('an operator cannot remove reversible credit by command or page, unless they allow a balance below zero', async () => {
    await pay('deposit')
    await pay('bank_transfer')
    expect(await takeBack(21, true)).toMatchObject({ kind: 'reversible', movable: nano(20 * USD) })
    const refused = await adjust(21)
    expect(refused).toMatchObject({ kind: 'refused', message: expect.stringContaining('20 USD') })
    expect(await takeBack(10, true)).toMatchObject({ kind: 'credited' })
    expect(await adjust(10)).toEqual({ kind: 'done' })
    expect(await takeBack(5, false)).toMatchObject({ kind: 'credited' })
    expect(await adjust(5, true)).toEqual({ kind: 'done' })
    expect(await balance(from)).toBe(10)
  })
})

test('for random payments, the amounts that can be moved now and later add up to the available credit, in order of time', () => {
  const day = fc.integer({ min: 1, max: 40 })
  const payment = fc.record({ usd: fc.integer({ min: 1, max: 100 }), day })
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 500 }), fc.array(payment, { maxLength: 6 }), (available, payments) => {
      const reversible = payments.map((one) => ({ amount: nano(one.usd), until: new Date(one.day * DAY_MS) }))
      const { movable, later } = movableOf(nano(available), reversible)
      const sum = (parts: { amount: Nano }[]) => parts.reduce((total, { amount }) => total + amount, 0)
      expect(movable + sum(later)).toBe(Math.max(available, 0))
      for (const { from: at } of later) {
        // At each moment, what has not become free yet is still covered by what stays, as far as there is that much.
        const free = movable + sum(later.filter((one) => one.from <= at))
        const bound = sum(reversible.filter(({ until }) => until > at))
        expect(free).toBe(Math.max(Math.max(available, 0) - bound, 0))
      }
      expect(later.map(({ from: at }) => at.getTime())).toEqual(
        [...new Set(later.map(({ from: at }) => at.getTime()))].sort((one, other) => one - other),
      )
    }),
  )
})
