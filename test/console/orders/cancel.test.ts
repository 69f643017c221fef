/** Cancelling an order at a provider that closes its payment page and sends an event about it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { applyDeposit } from '@/console/orders/deposits/apply-event'
import { createSandboxProvider } from '@/console/orders/deposits/sandbox-deposit'
import { systemClock } from '@/lib/clock'
import { CUSTOMER, type OrdersFixture, openOrders, SECRET } from './fixture'

let open: OrdersFixture

beforeAll(async () => {
  const sandbox = createSandboxProvider(async () => [SECRET], systemClock)
  const inquiry = {
    addsTax: false,
    lookUp: async () => ({ events: [], isFinal: false }),
    documentUrl: async () => undefined,
    /** The message of the closed page arrives before the answer. */
    async close(paymentId: string) {
      await applyDeposit(open.deps, sandbox.name, { kind: 'ended', paymentId, why: 'expired' })
      return true
    },
  }
  open = await openOrders({ deposit: { ...sandbox, inquiry } })
})
afterAll(() => open.close())

test('an order is cancelled even if the provider’s event about the closed page arrives before its answer', async () => {
  const accountId = await open.account()
  const { orderId } = await open.order(accountId, { method: 'deposit' })
  const outcome = await open.orders.cancel({ orderId, accountId, actor: CUSTOMER })
  expect(outcome).toMatchObject({ kind: 'cancelled', order: { state: 'cancelled' } })
  const entries = await open.fixture.database
    .sql`SELECT action FROM audit_entries WHERE subject = ${orderId} ORDER BY seq`
  expect(entries.map(({ action }) => action)).toEqual(['order.create', 'order.cancel'])
  const again = await open.orders.cancel({ orderId, accountId, actor: CUSTOMER })
  expect(again).toMatchObject({ kind: 'not_pending', order: { state: 'cancelled' } })
})

test('an order past its time limit expires instead of being cancelled', async () => {
  const accountId = await open.account()
  const { orderId } = await open.order(accountId, { method: 'deposit' })
  open.clock.advance(open.deps.methods.deposit?.lifetimeMs ?? 0)
  const outcome = await open.orders.cancel({ orderId, accountId, actor: CUSTOMER })
  expect(outcome).toMatchObject({ kind: 'not_pending', order: { state: 'expired' } })
})
