/** Orders and payments in responses for administrators. */
import { type Static, Type } from '@sinclair/typebox'
import { isoMoments, NullableText } from '@/console/http/wire'
import { formatCents } from '@/console/orders/cents'
import type { FoundOrder, Order, OrderDetails, Payment, Reversal } from '@/console/orders/types'
import { ORDER_ORIGINS, PAYMENT_STATES } from '@/db/orders-schema'
import { titled } from '@/http/openapi/titled'
import { oneOf, orNull } from '@/lib/schemas'
import { Usd } from '@/people/administration/context'
import { MethodName, StateName } from './bodies'

export const PaymentStateName = oneOf(PAYMENT_STATES)

export const OrderBody = Type.Object({
  orderId: Type.String(),
  accountId: Type.String(),
  method: MethodName,
  provider: NullableText,
  origin: oneOf(ORDER_ORIGINS),
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

export const FoundOrderBody = Type.Composite([OrderBody, Type.Object({ account: CustomerBody })], {
  title: 'FoundOrder',
})

export const PaymentBody = titled('ReceivedPayment', {
  paymentId: Type.String(),
  source: Type.String(),
  externalId: Type.String(),
  orderId: NullableText,
  accountId: NullableText,
  amount: Type.String({ description: 'Decimal, of `currency`' }),
  tax: Type.String({ description: 'The part of `amount` that is tax, which is not credited' }),
  net: Type.String({ description: '`amount` less `tax`' }),
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

/** The order for administrators. A route omits fields that its schema lacks. */
export function orderBody(order: Order): Static<typeof OrderBody> {
  return {
    ...isoMoments(order),
    amount: formatCents(order.amountCents),
    paid: formatCents(order.paidCents),
    refunded: formatCents(order.refundedCents),
    chargedBack: formatCents(order.chargedBackCents),
  }
}

/** The order with its account. */
export function foundOrderBody(order: FoundOrder): Static<typeof FoundOrderBody> {
  return { ...orderBody(order), account: { name: order.account.name, email: order.account.email } }
}

/** The payment without its account. */
export function paymentBody(payment: Payment): Static<typeof PaymentBody> {
  const { amountCents, taxCents, creditedCents } = payment
  return {
    ...isoMoments(payment),
    amount: formatCents(amountCents),
    tax: formatCents(taxCents),
    net: formatCents(amountCents - taxCents),
    credited: formatCents(creditedCents),
  }
}

/** The order with its events and payments. */
export function orderDetailsBody(order: OrderDetails): Static<typeof OrderDetailBody> {
  return {
    ...foundOrderBody(order),
    events: order.events.map((event) => ({
      ...isoMoments(event),
      amount: event.amountCents === null ? null : formatCents(event.amountCents),
    })),
    payments: order.payments.map(paymentBody),
    reversals: order.reversals.map(reversalBody),
  }
}

/** The reversal without its account. */
export function reversalBody(reversal: Reversal): Static<typeof ReversalBody> {
  const { amountCents, movedCents } = reversal
  return { ...isoMoments(reversal), amount: formatCents(amountCents), moved: formatCents(movedCents) }
}
