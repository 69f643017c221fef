/** Events of one payment come in any order and leave the same balance. Slow: every order of every set of events, on real stores. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { noticeOf, type OrdersFixture, openOrders } from '@test/console/orders/fixture'
import type { PaymentNotice, ReversalNotice } from '@/console/orders/types'

let world: OrdersFixture

beforeAll(async () => {
  world = await openOrders()
})
afterAll(async () => {
  expect(await world.check()).toEqual([])
  await world.close()
})

type Told = { id: string; kind: ReversalNotice['kind']; undoes?: string; amountCents: number }
const take = (id: string, amountCents: number): Told => ({ id, kind: 'chargeback', amountCents })
const win = (id: string, undoes: string, amountCents: number): Told => ({
  ...{ id, kind: 'reinstatement', undoes, amountCents },
})

function* ordersOf<T>(all: readonly T[]): Generator<T[]> {
  if (all.length === 0) yield []
  for (const [index, one] of all.entries())
    for (const rest of ordersOf([...all.slice(0, index), ...all.slice(index + 1)])) yield [one, ...rest]
}

/** The rest of 50 USD, in cents. */
const CASES: [string, Told[], number][] = [
  ['a second chargeback of all, and the first one won', [take('a', 3_000), take('b', 5_000), win('c', 'a', 3_000)], 0],
  ['both won', [take('a', 3_000), take('b', 5_000), win('c', 'a', 3_000), win('d', 'b', 5_000)], 5_000],
  ['thirds, of which one is won in part', [take('a', 1_667), take('b', 1_667), win('c', 'b', 833)], 2_499],
  [
    'a refund that failed beside a chargeback of all',
    [{ id: 'a', kind: 'refund', amountCents: 3_000 }, take('b', 5_000), win('c', 'a', 3_000)],
    0,
  ],
]

test.each(CASES)('events in any order give the same balance: %s', async (_name, told, left) => {
  for (const sequence of ordersOf<Told | 'received'>(['received', ...told])) {
    const accountId = await world.account()
    const order = await world.order(accountId, { method: 'deposit' })
    const idOf = (id: string) => `${id}_${order.orderId}`
    const paid: PaymentNotice = noticeOf(order, { externalId: idOf('received') })
    for (const one of sequence) {
      if (one === 'received') await world.orders.confirmPayment(paid)
      else
        await world.orders.reverse({
          ...{ source: paid.source, externalId: idOf(one.id), kind: one.kind, undoes: idOf(one.undoes ?? 'received') },
          ...{ amountCents: one.amountCents, currency: 'USD', actor: { kind: 'system', name: 'sandbox' } },
        })
    }
    const names = sequence.map((one) => (one === 'received' ? one : one.id)).join()
    const { ledger, history, entries } = await world.money(accountId)
    expect({ names, ledger, history, entries }).toEqual({ names, ledger: left, history: left, entries: left })
  }
})

test('concurrent chargebacks, refunds and returns of one payment do not deadlock', async () => {
  for (let round = 0; round < 5; round++) {
    const accountId = await world.account()
    const order = await world.order(accountId, { method: 'deposit' })
    const paid = noticeOf(order, { externalId: `paid_${order.orderId}` })
    await world.orders.confirmPayment(paid)
    const reverse = (kind: ReversalNotice['kind'], id: string, undoes: string) =>
      world.orders.reverse({
        ...{ source: paid.source, kind, externalId: `${id}_${order.orderId}`, undoes: `${undoes}_${order.orderId}` },
        ...{ amountCents: 500, currency: 'USD', actor: { kind: 'system', name: 'sandbox' } },
      })
    for (const id of ['a', 'b', 'c', 'd']) await reverse('refund', id, 'paid')
    await Promise.all([
      ...['a', 'b', 'c', 'd'].map((id) => reverse('reinstatement', `won_${id}`, id)),
      ...['e', 'f', 'g'].map((id) => reverse('chargeback', id, 'paid')),
    ])
    expect((await world.money(accountId)).ledger).toBe(3_500)
  }
})
