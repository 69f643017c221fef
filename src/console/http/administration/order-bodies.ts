/** Orders and payments as the routes of administration show them. */

import { type Static, Type } from '@sinclair/typebox'
import { ORDER_STATES } from '@/console/orders/order-state'
import type { FoundOrder, Order, OrderDetails, Payment, Reversal } from '@/console/orders/types'
import { titled } from '@/http/openapi/titled'
import { oneOf, orNull } from '@/lib/schemas'
import { centsText, NullableText, Usd } from './context'

export const StateName = oneOf(ORDER_STATES)
export const MethodName = oneOf(['bank_transfer', 'deposit'])
export const PaymentStateName = oneOf(['credited', 'unmatched', 'dismissed'])

export const OrderBody = Type.Object({
  orderId: Type.String(),
  accountId: Type.String(),
  method: MethodName,
  provider: NullableText,
  reference: Type.String(),
  amount: Usd,
  state: StateName,
  paid: Usd,
  refunded: Usd,
  chargedBack: Usd,
  claimedAt: NullableText,
  claimNote: NullableText,
  createdAt: Type.String(),
  expiresAt: Type.String(),
  paidAt: NullableText,
})

const CustomerBody = Type.Object({ name: Type.String(), email: Type.String() })

export const FoundOrderBody = Type.Composite([OrderBody, Type.Object({ account: CustomerBody })])

export const PaymentBody = titled('ReceivedPayment', {
  paymentId: Type.String(),
  source: Type.String(),
  externalId: Type.String(),
  orderId: NullableText,
  accountId: NullableText,
  amount: Type.String({ description: 'Decimal, of `currency`' }),
  currency: Type.String(),
  sender: NullableText,
  text: NullableText,
  state: PaymentStateName,
  mismatch: NullableText,
  credited: Usd,
  receivedAt: Type.String(),
  resolvedAt: NullableText,
  resolvedBy: NullableText,
  resolution: NullableText,
})

export const ReversalBody = titled('Reversal', {
  reversalId: Type.String(),
  kind: Type.String({ description: '`chargeback`, `refund` or `reinstatement`, as the source says' }),
  source: Type.String(),
  externalId: Type.String(),
  undoes: Type.String({ description: 'The external id of what it undoes' }),
  orderId: NullableText,
  amount: Type.String({ description: 'Decimal, of `currency`' }),
  currency: Type.String(),
  state: Type.String({ description: '`waiting` for its payment, `applied`, or `kept` for an administrator' }),
  fault: NullableText,
  note: NullableText,
  moved: Type.String({ description: 'Decimal USD of credit taken, or given back' }),
  receivedAt: Type.String(),
})

export const OrderDetailBody = Type.Composite([
  FoundOrderBody,
  Type.Object({
    events: Type.Array(
      Type.Object({
        eventId: Type.String(),
        kind: Type.String(),
        state: StateName,
        amount: orNull(Usd),
        actor: Type.String(),
        note: NullableText,
        createdAt: Type.String(),
      }),
    ),
    payments: Type.Array(PaymentBody),
    reversals: Type.Array(ReversalBody),
  }),
])

/** The order without what only its customer needs. */
export function orderBody(order: Order): Static<typeof OrderBody> {
  const { orderId, accountId, method, provider, reference, state, claimNote } = order
  return {
    orderId,
    accountId,
    method,
    provider,
    reference,
    state,
    claimNote,
    amount: centsText(order.amountCents),
    paid: centsText(order.paidCents),
    refunded: centsText(order.refundedCents),
    chargedBack: centsText(order.chargedBackCents),
    claimedAt: order.claimedAt?.toISOString() ?? null,
    createdAt: order.createdAt.toISOString(),
    expiresAt: order.expiresAt.toISOString(),
    paidAt: order.paidAt?.toISOString() ?? null,
  }
}

/** With whose it is. */
export function foundOrderBody(order: FoundOrder): Static<typeof FoundOrderBody> {
  return { ...orderBody(order), account: { name: order.account.name, email: order.account.email } }
}

/** The payment without the account it went to. */
export function paymentBody(payment: Payment): Static<typeof PaymentBody> {
  const { paymentId, source, externalId, orderId, accountId, currency, sender, text, state, mismatch } = payment
  return {
    paymentId,
    source,
    externalId,
    orderId,
    accountId,
    currency,
    sender,
    text,
    state,
    mismatch,
    amount: centsText(payment.amountCents),
    credited: centsText(payment.creditedCents),
    receivedAt: payment.receivedAt.toISOString(),
    resolvedAt: payment.resolvedAt?.toISOString() ?? null,
    resolvedBy: payment.resolvedBy,
    resolution: payment.resolution,
  }
}

/** With its events and payments. */
export function orderDetailsBody(order: OrderDetails): Static<typeof OrderDetailBody> {
  return {
    ...foundOrderBody(order),
    events: order.events.map(({ eventId, kind, state, amountCents, actor, note, createdAt }) => ({
      eventId,
      kind,
      state,
      actor,
      note,
      amount: amountCents === null ? null : centsText(amountCents),
      createdAt: createdAt.toISOString(),
    })),
    payments: order.payments.map(paymentBody),
    reversals: order.reversals.map(reversalBody),
  }
}

/** The reversal without the account it concerns. */
export function reversalBody(reversal: Reversal): Static<typeof ReversalBody> {
  const { reversalId, source, kind, externalId, undoes, orderId, currency, state, fault, note } = reversal
  return {
    reversalId,
    source,
    kind,
    externalId,
    undoes,
    orderId,
    currency,
    state,
    fault,
    note,
    amount: centsText(reversal.amountCents),
    moved: centsText(reversal.movedCents),
    receivedAt: reversal.receivedAt.toISOString(),
  }
}
