/** Types of orders: top-ups, actors, payments, and the outcomes of all actions. */
import type {
  MismatchReason,
  OrderMethod,
  OrderState,
  orderEvents,
  orders,
  PaymentSource,
  PaymentState,
  payments,
  ReversalKind,
  reversals,
  SavedCard,
} from '@/db/orders-schema'
import type { PageRequest } from '@/db/paging'
import type { Company } from '@/db/schema'

export type { MismatchReason, PaymentSource } from '@/db/orders-schema'

/** The author of a change. A person's changes are audited; the system's are only in the order's events. */
export type Actor =
  | { kind: 'person'; userId: string; email: string; ip?: string; requestId?: string }
  | { kind: 'system'; name: string }

/** A top-up. All amounts are integer US cents. */
export type Order = Omit<typeof orders.$inferSelect, 'id' | 'payee' | 'lookAt' | 'card'> & {
  orderId: string
  /** The saved card that pays the order. */
  card: Pick<SavedCard, 'brand' | 'lastFour'> | null
}

/** One event of an order; never changed. `state` is the order's state after the event. */
export type OrderEvent = Omit<typeof orderEvents.$inferSelect, 'id' | 'orderId' | 'position' | 'entryId'> & {
  eventId: string
}

/** A payment that was reported. `text` is its free text. */
export type Payment = Omit<typeof payments.$inferSelect, 'id' | 'provider' | 'noticeText' | 'entryId'> & {
  paymentId: string
  source: PaymentSource
  text: string | null
}

/** Money that was taken back or won back, as its source reported it. */
export type Reversal = Omit<
  typeof reversals.$inferSelect,
  'id' | 'provider' | 'paymentId' | 'entryId' | 'appliedAt'
> & { reversalId: string; source: PaymentSource }

/** An order with all its events, and its account. */
export type OrderDetails = Order & {
  /** `company`: null unless the account is an organisation's. */
  account: { name: string; email: string; company: Company | null }
  /** Oldest first. */
  events: OrderEvent[]
  payments: Payment[]
  /** Oldest first. */
  reversals: Reversal[]
}

export type NewOrder = {
  accountId: string
  method: OrderMethod
  amountCents: number
  /** The URL to which the provider returns the customer; the order's id is appended. */
  returnUrl?: string
  actor: Actor
}
export type CreateOutcome =
  | { kind: 'created'; order: Order }
  | { kind: 'amount_out_of_range'; minimumCents: number; maximumCents: number }
  | { kind: 'too_many_open'; limit: number }
  /** The limit of orders within 24 hours, in any state, was reached. */
  | { kind: 'too_many_today'; limit: number }
  | { kind: 'method_unavailable' }
  | { kind: 'unknown_account' }
  /** The provider could not set the payment up; the order is cancelled. */
  | { kind: 'provider_failed'; order: Order }

/** `not_found`: also if the order belongs to another account. */
export type CancelOutcome =
  | { kind: 'cancelled'; order: Order }
  | { kind: 'not_found' }
  | { kind: 'not_pending'; order: Order }
  /** The payer has already paid, and the payer's bank is processing it. */
  | { kind: 'payment_under_way' }
  /** Before the order is cancelled, the provider must close its page, but it does not answer. */
  | { kind: 'provider_unreachable' }
export type SetUpOutcome =
  | { kind: 'set_up'; order: Order }
  | { kind: 'not_found' }
  /** The order's saved card is being charged. */
  | { kind: 'payment_under_way' }
  | { kind: 'not_pending'; order: Order }
  | { kind: 'provider_failed' }
export type ClaimOutcome =
  /** The customer has already reported this order as paid `limit` times. */
  | { kind: 'too_many_claims'; limit: number }
  | { kind: 'claimed'; order: Order }
  | { kind: 'not_found' }
  | { kind: 'not_pending'; order: Order }

/** A reported movement of money. Give `orderId` or `reference`, or neither if the text names no order. */
export type PaymentNotice = {
  source: PaymentSource
  /** 1 to 200 characters; the same id never credits twice, even with other fields. */
  externalId: string
  orderId?: string
  /** In any form that `findReferences` reads. */
  reference?: string
  /** Hundredths of `currency`; a positive integer up to {@link MAX_PAYMENT_CENTS} of limits.ts. */
  amountCents: number
  /** The part of `amountCents` that is tax: it is not credited. */
  taxCents?: number
  /** Three letters. */
  currency: string
  /** The payment was begun before the order's end, even if it is reported later. */
  isTimely?: boolean
  /** The account that received the money, compared with the order's: an IBAN, or the provider's id of the payment. */
  payee?: string
  sender?: string
  /** The payment's free text; at most 1,000 characters are stored. */
  text?: string
  actor: Actor
  /** The reason that a person gave for confirming the payment; stored in the order's events. */
  reason?: string
}
export type ConfirmOutcome =
  /** The order is paid and the account has the credit (if `applied` is false, as soon as the ledger is reachable). */
  | { kind: 'credited'; order: Order; payment: Payment; applied: boolean }
  /** Stored for an administrator, without credit. */
  | { kind: 'unmatched'; reason: MismatchReason; payment: Payment }
  /** This source has already reported this id; nothing changes. `isSame`: with the same amount and currency. */
  | { kind: 'duplicate'; payment: Payment; isSame: boolean }

/** A report that money went back to the payer, or that such a return was undone. */
export type ReversalNotice = {
  source: PaymentSource
  kind: ReversalKind
  /** 1 to 200 characters; the same id never moves credit twice. */
  externalId: string
  /** The external id of the payment. For a reinstatement: of the chargeback or refund that it undoes. */
  undoes: string
  /** The provider's id of the order's payment: finds the order if the payment is not booked yet. */
  paymentId?: string
  /** Hundredths of `currency`; a part of the payment or all of it. */
  amountCents: number
  currency: string
  note?: string
  actor: Actor
}
/** The outcome of a reversal notice, before the account may be suspended. */
export type BookedReversal = { reversal: Reversal } & (
  | { kind: 'reversed' | 'reinstated'; order: Order }
  /** The payment or reversal that it undoes is not booked, or not yet credited. */
  | { kind: 'waiting' }
  /** Stored on the order for an administrator, without moving credit. */
  | { kind: 'kept' }
  /** This source has already reported this id. */
  | { kind: 'duplicate'; isSame: boolean }
)
export type ReverseOutcome = BookedReversal & { isSuspended: boolean }

export type NewRefund = {
  orderId: string
  amountCents: number
  /** 1 to 500 characters. */
  reason: string
  /** 1 to 60 characters, unique within the order: the same key refunds once. */
  key: string
  /** Whether the refund may make the balance negative. */
  allowNegative?: boolean
  actor: Actor
}
export type RefundOutcome =
  | { kind: 'refunded'; order: Order; applied: boolean }
  /** An earlier call with this key and amount made the refund. */
  | { kind: 'exists'; order: Order }
  /** An earlier call with this key refunded another amount. */
  | { kind: 'key_taken' }
  | { kind: 'not_found' }
  | { kind: 'not_refundable'; order: Order }
  | { kind: 'too_much'; refundableCents: number }
  /** The balance would be below zero, and `allowNegative` was not set. `available` is in nano-USD. */
  | { kind: 'insufficient_balance'; available: number }

export type Resolution =
  /** Credits `creditCents` (omitted: the paid amount, only for US dollars) to the account of `orderId`, whose state doesn't matter. */
  | { kind: 'credit'; orderId: string; creditCents?: number }
  /** Closes the payment without credit: the money was sent back, or was not for us. */
  | { kind: 'dismiss' }
export type NewResolution = { paymentId: string; resolution: Resolution; reason: string; actor: Actor }
export type ResolveOutcome =
  | { kind: 'credited'; order: Order; payment: Payment; applied: boolean }
  | { kind: 'dismissed'; payment: Payment }
  | { kind: 'not_found' }
  | { kind: 'unknown_order' }
  | { kind: 'already_resolved'; payment: Payment }
  /** `creditCents` is missing for another currency, or is more than was paid. */
  | { kind: 'amount_required' }
  | { kind: 'amount_out_of_range'; maximumCents: number }
  /** The account's balance would leave the ledger's range. */
  | { kind: 'balance_limit' }

/** An order must match all given criteria. */
export type OrderSearch = PageRequest & {
  /** In any form; the beginning is enough. */
  reference?: string
  /** A part of the account's e-mail address, in any case. */
  email?: string
  accountId?: string
  amountCents?: number
  state?: OrderState
  method?: OrderMethod
  /** Only orders that the customer has (or has not) reported as paid. */
  isClaimed?: boolean
}
export type FoundOrder = Order & { account: { name: string; email: string } }

export type PaymentSearch = PageRequest & { state?: PaymentState; orderId?: string }
