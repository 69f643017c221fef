/** Orders of credit in responses: amounts as decimal USD, times as ISO 8601 in UTC. */
import { type Static, Type } from '@sinclair/typebox'
import { isoMoments, DecimalUsd as Usd } from '@/console/http/wire'
import { formatCents } from '@/console/orders/cents'
import { customerOf } from '@/console/orders/parties'
import type { Order, OrderDetails, OrderEvent, Payment, Reversal } from '@/console/orders/types'
import {
  ORDER_EVENT_KINDS,
  ORDER_METHODS,
  ORDER_ORIGINS,
  ORDER_STATES,
  PAYMENT_STATES,
  type Parties,
} from '@/db/orders-schema'
import { titled } from '@/http/openapi/titled'
import { oneOf, orNull } from '@/lib/schemas'

const Moment = Type.String({ description: 'ISO 8601, UTC' })

export const MethodName = oneOf(ORDER_METHODS)
export const StateName = oneOf(ORDER_STATES)

export const OrderBody = titled('Order', {
  orderId: Type.String(),
  reference: Type.String({ description: 'What the customer writes into the transfer, e.g. `SVC-7K3M-9QXP`' }),
  method: MethodName,
  provider: orNull(Type.String({ description: 'Who takes the deposit' })),
  origin: oneOf(ORDER_ORIGINS, { description: '`auto_top_up`: made because the balance was low' }),
  card: orNull(Type.Object({ brand: Type.String(), lastFour: Type.String() }), {
    description: 'The saved card that pays an auto top-up',
  }),
  amountUsd: Usd,
  state: StateName,
  paidUsd: Usd,
  refundedUsd: Usd,
  chargedBackUsd: Type.String({ description: "Decimal USD that the payer's bank has taken back" }),
  createdAt: Moment,
  expiresAt: Moment,
  paidAt: orNull(Moment),
  claimedAt: orNull(Moment),
  claimNote: orNull(Type.String()),
  paymentUrl: orNull(Type.String({ description: "The provider's page for this order" })),
  paymentAccount: orNull(Type.String({ description: 'The account to pay to' })),
})
export type OrderBody = Static<typeof OrderBody>

export const BankBody = Type.Object({
  beneficiary: Type.String(),
  bank: orNull(Type.String()),
  iban: Type.String(),
  bic: orNull(Type.String()),
  address: orNull(Type.String()),
  note: orNull(Type.String()),
  isExample: Type.Boolean({ description: 'Nobody has configured an account: nothing must be paid to it' }),
})

const EventBody = titled('OrderEvent', {
  kind: oneOf(ORDER_EVENT_KINDS),
  state: StateName,
  amountUsd: orNull(Usd),
  by: oneOf(['you', 'service']),
  note: orNull(Type.String()),
  at: Moment,
})

const PaymentBody = titled('OrderPayment', {
  paymentId: Type.String(),
  amount: Type.String({ description: 'Decimal, in `currency`' }),
  currency: Type.String(),
  state: oneOf(PAYMENT_STATES),
  mismatch: orNull(Type.String({ description: 'Why it was not credited by itself' })),
  taxUsd: Type.String({ description: 'The part of `amount` that is tax, which is not credited' }),
  creditedUsd: Usd,
  receivedAt: Moment,
})

const ReceiptBody = Type.Object({
  number: Type.String(),
  issuedAt: Moment,
  paidUsd: Usd,
  taxUsd: Type.String({ description: 'Decimal USD of tax that was paid in addition' }),
  refundedUsd: Usd,
  chargedBackUsd: Usd,
  taxReturnedUsd: Type.String({ description: 'The tax of what was refunded and charged back' }),
  totalUsd: Type.String({ description: 'Decimal USD, paid with tax, less what was returned with its tax' }),
})

export const OrderDetailBody = Type.Composite([
  OrderBody,
  Type.Object({
    seller: Type.Object({ name: Type.String(), address: orNull(Type.String()), vatId: orNull(Type.String()) }),
    customer: Type.Object({
      name: Type.String(),
      email: Type.String(),
      country: orNull(Type.String({ description: 'Of an organisation: two letters, ISO 3166-1' })),
      vatId: orNull(Type.String()),
    }),
    bank: orNull(BankBody),
    events: Type.Array(EventBody, { description: 'Oldest first' }),
    payments: Type.Array(PaymentBody, { description: 'Newest first' }),
    receipt: orNull(ReceiptBody),
    hasProviderDocument: Type.Boolean({ description: 'The provider has an invoice or a receipt of the payment' }),
  }),
])
export type OrderDetailBody = Static<typeof OrderDetailBody>

/** Data that the order itself does not contain: the seller, and facts about the viewer. */
type OrderFacts = {
  seller: Parties['seller']
  viewerEmail: string
  /** The provider's name, if it makes invoices or receipts itself. */
  documentsOf: string | undefined
}

/** An order for its customer. */
export function orderBody(order: Order): OrderBody {
  const { orderId, reference, method, provider, origin, card, state, claimNote, paymentUrl, paymentAccount } = order
  const { createdAt, expiresAt, paidAt, claimedAt } = order
  return {
    orderId,
    reference,
    method,
    provider,
    origin,
    card,
    state,
    claimNote,
    paymentUrl,
    paymentAccount,
    ...isoMoments({ createdAt, expiresAt, paidAt, claimedAt }),
    amountUsd: formatCents(order.amountCents),
    paidUsd: formatCents(order.paidCents),
    refundedUsd: formatCents(order.refundedCents),
    chargedBackUsd: formatCents(order.chargedBackCents),
  }
}

/** An order for its customer, with its history but without administrators' internal notes. */
export function orderDetailBody(order: OrderDetails, facts: OrderFacts): OrderDetailBody {
  return {
    ...orderBody(order),
    ...(order.parties ?? { seller: facts.seller, customer: customerOf(order.account) }),
    bank: order.bankDetails,
    events: order.events.map((event) => eventBody(event, facts.viewerEmail)),
    payments: order.payments.map(paymentBody),
    receipt: receiptBody(order),
    hasProviderDocument: order.paidAt !== null && order.provider !== null && order.provider === facts.documentsOf,
  }
}

function eventBody({ kind, state, amountCents, actor, note, createdAt }: OrderEvent, viewerEmail: string) {
  const by = actor === viewerEmail ? ('you' as const) : ('service' as const)
  return {
    kind,
    state,
    amountUsd: amountCents === null ? null : formatCents(amountCents),
    by,
    note: by === 'you' || kind === 'payment_unmatched' ? note : null,
    at: createdAt.toISOString(),
  }
}

function paymentBody({
  paymentId,
  amountCents,
  taxCents,
  currency,
  state,
  mismatch,
  creditedCents,
  receivedAt,
}: Payment) {
  const amounts = {
    amount: formatCents(amountCents),
    taxUsd: formatCents(taxCents),
    creditedUsd: formatCents(creditedCents),
  }
  return { ...isoMoments({ paymentId, currency, state, mismatch, receivedAt }), ...amounts }
}

function receiptBody(order: OrderDetails) {
  const { paidAt, reference, paidCents, refundedCents, chargedBackCents } = order
  if (paidAt === null) return null
  const taxCents = sumOf(order.payments.filter(({ state }) => state === 'credited').map((payment) => payment.taxCents))
  // If the payment had no tax, all of a returned payment is without tax.
  const taxReturnedCents = taxCents === 0 ? 0 : sumOf(order.reversals.map(taxReturnedBy))
  const totalCents = paidCents + taxCents - refundedCents - chargedBackCents - taxReturnedCents
  return {
    number: reference,
    issuedAt: paidAt.toISOString(),
    paidUsd: formatCents(paidCents),
    taxUsd: formatCents(taxCents),
    refundedUsd: formatCents(refundedCents),
    chargedBackUsd: formatCents(chargedBackCents),
    taxReturnedUsd: formatCents(taxReturnedCents),
    totalUsd: formatCents(Math.max(totalCents, 0)),
  }
}

/** The tax in a returned payment: the part of the amount that is not credit. Negative if a return was undone. */
function taxReturnedBy({ state, kind, amountCents, movedCents, matchedCents }: Reversal): number {
  if (state !== 'applied') return 0
  const taxCents = amountCents - movedCents - matchedCents
  return kind === 'reinstatement' ? -taxCents : taxCents
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, cents) => sum + cents, 0)
}
