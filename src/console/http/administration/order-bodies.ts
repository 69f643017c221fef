/** Orders and payments as administrators see them. */
import { type Static, Type } from '@sinclair/typebox'
import { ORDER_STATES } from '@/console/orders/order-state'
import type { FoundOrder, Order, OrderDetails, Payment } from '@/console/orders/types'
import { centsText, NULLABLE_TEXT, USD } from './context'

export const ORDER_STATE = Type.Unsafe<Order['state']>(Type.Union(ORDER_STATES.map((state) => Type.Literal(state))))
export const ORDER_METHOD = Type.Union([Type.Literal('bank_transfer'), Type.Literal('deposit')])
export const PAYMENT_STATE = Type.Union([
  Type.Literal('credited'),
  Type.Literal('unmatched'),
  Type.Literal('dismissed'),
])

export const ORDER = Type.Object({
  orderId: Type.String(),
  accountId: Type.String(),
  method: ORDER_METHOD,
  provider: NULLABLE_TEXT,
  reference: Type.String(),
  amount: USD,
  state: ORDER_STATE,
  paid: USD,
  refunded: USD,
  claimedAt: NULLABLE_TEXT,
  claimNote: NULLABLE_TEXT,
  createdAt: Type.String(),
  expiresAt: Type.String(),
  paidAt: NULLABLE_TEXT,
})

const ACCOUNT = Type.Object({ name: Type.String(), email: Type.String() })

export const FOUND_ORDER = Type.Composite([ORDER, Type.Object({ account: ACCOUNT })])

export const PAYMENT = Type.Object({
  paymentId: Type.String(),
  source: Type.String(),
  externalId: Type.String(),
  orderId: NULLABLE_TEXT,
  accountId: NULLABLE_TEXT,
  amount: Type.String({ description: 'Decimal, of `currency`' }),
  currency: Type.String(),
  payer: NULLABLE_TEXT,
  text: NULLABLE_TEXT,
  state: PAYMENT_STATE,
  mismatch: NULLABLE_TEXT,
  credited: USD,
  receivedAt: Type.String(),
  resolvedAt: NULLABLE_TEXT,
  resolvedBy: NULLABLE_TEXT,
  resolution: NULLABLE_TEXT,
})

export const ORDER_DETAILS = Type.Composite([
  FOUND_ORDER,
  Type.Object({
    events: Type.Array(
      Type.Object({
        eventId: Type.String(),
        kind: Type.String(),
        state: ORDER_STATE,
        amount: Type.Union([USD, Type.Null()]),
        actor: Type.String(),
        note: NULLABLE_TEXT,
        createdAt: Type.String(),
      }),
    ),
    payments: Type.Array(PAYMENT),
  }),
])

/** The order without what only its customer needs. */
export function orderBody(order: Order): Static<typeof ORDER> {
  const { orderId, accountId, method, provider, reference, state, claimNote } = order
  return {
    ...{ orderId, accountId, method, provider, reference, state, claimNote },
    amount: centsText(order.amountCents),
    paid: centsText(order.paidCents),
    refunded: centsText(order.refundedCents),
    claimedAt: order.claimedAt?.toISOString() ?? null,
    createdAt: order.createdAt.toISOString(),
    expiresAt: order.expiresAt.toISOString(),
    paidAt: order.paidAt?.toISOString() ?? null,
  }
}

/** With whose it is. */
export function foundOrderBody(order: FoundOrder): Static<typeof FOUND_ORDER> {
  return { ...orderBody(order), account: { name: order.account.name, email: order.account.email } }
}

/** The payment without the account it went to. */
export function paymentBody(payment: Payment): Static<typeof PAYMENT> {
  const { paymentId, source, externalId, orderId, accountId, currency, payer, text, state, mismatch } = payment
  return {
    ...{ paymentId, source, externalId, orderId, accountId, currency, payer, text, state, mismatch },
    amount: centsText(payment.amountCents),
    credited: centsText(payment.creditedCents),
    receivedAt: payment.receivedAt.toISOString(),
    resolvedAt: payment.resolvedAt?.toISOString() ?? null,
    resolvedBy: payment.resolvedBy,
    resolution: payment.resolution,
  }
}

/** With its history and payments. */
export function orderDetailsBody(order: OrderDetails): Static<typeof ORDER_DETAILS> {
  return {
    ...foundOrderBody(order),
    events: order.events.map(({ eventId, kind, state, amountCents, actor, note, createdAt }) => ({
      ...{ eventId, kind, state, actor, note },
      amount: amountCents === null ? null : centsText(amountCents),
      createdAt: createdAt.toISOString(),
    })),
    payments: order.payments.map(paymentBody),
  }
}
