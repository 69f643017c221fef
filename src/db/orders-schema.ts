/** The tables of orders and payments, for typed queries (src/db/migrations/0007_orders.sql). */
import { bigint, boolean, index, integer, jsonb, pgTable, text, timestamp, unique } from 'drizzle-orm/pg-core'

export type BankDetails = {
  beneficiary: string
  bank: string | null
  /** Without spaces. */
  iban: string
  bic: string | null
  address: string | null
  note: string | null
  isExample: boolean
}

/** Both sides of a sale as a receipt names them. `country`: two letters; null for people. */
export type Parties = {
  seller: { name: string; address: string | null; vatId: string | null }
  customer: { name: string; email: string; country: string | null; vatId: string | null }
}

/** A saved card in the provider's terms, without its number. */
export type SavedCard = {
  /** The provider's ids of the card's owner and of the card. */
  customer: string
  id: string
  brand: string
  lastFour: string
  expMonth: number
  expYear: number
}

/** The origin of an order: a customer, or the gateway because the balance was low. */
export const ORDER_ORIGINS = ['customer', 'auto_top_up'] as const
export type OrderOrigin = (typeof ORDER_ORIGINS)[number]

/**
 * Why an auto top-up is off. `card_gone`: removed at the provider. `card_refused`: the bank or the provider refuses the card for good.
 * `declined`: too many failures in a row. `returned`: a payment was refunded or charged back.
 */
export const STOP_REASONS = ['person', 'card_removed', 'card_gone', 'card_refused', 'declined', 'returned'] as const
export type StopReason = (typeof STOP_REASONS)[number]

export const ORDER_METHODS = ['bank_transfer', 'deposit'] as const
export type OrderMethod = (typeof ORDER_METHODS)[number]

/** In the order of an order's life; console/orders/order-state.ts has the allowed steps. */
export const ORDER_STATES = [
  'pending',
  'paid',
  'expired',
  'cancelled',
  'partly_refunded',
  'refunded',
  'charged_back',
] as const
export type OrderState = (typeof ORDER_STATES)[number]

export const ORDER_EVENT_KINDS = [
  'created',
  'claimed',
  'paid',
  'expired',
  'cancelled',
  'payment_unmatched',
  'refunded',
  'charged_back',
  'reinstated',
  'reversal_kept',
  'processing',
  'failed',
  'confirmation_needed',
] as const
export type OrderEventKind = (typeof ORDER_EVENT_KINDS)[number]

/**
 * `chargeback`: the payer's bank took the money back. `refund`: sent back at the provider. `reinstatement`: a chargeback or refund was
 * undone.
 */
export type ReversalKind = 'chargeback' | 'refund' | 'reinstatement'

/** `waiting`: the payment or reversal that it undoes is not booked yet. `kept`: an administrator must decide. */
export type ReversalState = 'waiting' | 'applied' | 'kept'

/** The reason why a reversal moved no credit automatically. */
export type ReversalFault = 'wrong_currency' | 'balance_limit' | 'nothing_taken' | 'wrong_kind'

/** The source that reported a payment. It can pay only orders of its own method; `manual` (an administrator) can pay any. */
export type PaymentSource = 'bank' | 'manual' | `deposit:${string}`

/** `credited`: automatically or by an administrator. `unmatched`: waits for an administrator. `dismissed`: closed without credit. */
export const PAYMENT_STATES = ['credited', 'unmatched', 'dismissed'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

/** The reason why a payment was not credited automatically. */
export type MismatchReason =
  | 'unknown_reference'
  | 'underpaid'
  | 'overpaid'
  | 'wrong_currency'
  | 'wrong_payee'
  | 'wrong_source'
  | 'wrong_reference'
  | 'order_expired'
  | 'order_cancelled'
  | 'order_already_paid'
  | 'balance_limit'

const cents = (name: string) => bigint(name, { mode: 'number' })
const moment = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' })

export const orders = pgTable(
  'orders',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    method: text('method').$type<OrderMethod>().notNull(),
    provider: text('provider'),
    /** The recipient that an incoming payment must name: our IBAN, or the provider's id of the payment. */
    payee: text('payee'),
    /** The page or account number that the provider assigned to this order; null if there is none. */
    paymentUrl: text('payment_url'),
    paymentAccount: text('payment_account'),
    /** The bank account that the order shows, even if the setting has changed since; null for deposits. */
    bankDetails: jsonb('bank_details').$type<BankDetails>(),
    /** The reference that the customer writes into the transfer, such as `SVC-7K3M-9QXP`. */
    reference: text('reference').notNull().unique('orders_reference_key'),
    amountCents: cents('amount_cents').notNull(),
    currency: text('currency').$type<'USD'>().notNull(),
    state: text('state').$type<OrderState>().notNull(),
    /** The sum of the credited payments, and the part of it that was refunded. */
    paidCents: cents('paid_cents').notNull().default(0),
    refundedCents: cents('refunded_cents').notNull().default(0),
    /** The amount of chargebacks, less the reinstated part. */
    chargedBackCents: cents('charged_back_cents').notNull().default(0),
    /** When the customer pressed "I've paid", and the customer's note. */
    claimedAt: moment('claimed_at'),
    claimNote: text('claim_note'),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
    paidAt: moment('paid_at'),
    /** When to ask the provider whether one of its reports about this order was lost; null: never. */
    lookAt: moment('look_at'),
    origin: text('origin').$type<OrderOrigin>().notNull().default('customer'),
    /** The card that pays an auto top-up, as it was when the order was made; null for other orders. */
    card: jsonb('card').$type<SavedCard>(),
    /** Seller and customer at the first payment; null before that. */
    parties: jsonb('parties').$type<Parties>(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [
    unique('orders_payee_key').on(table.provider, table.payee),
    index('orders_account_index').on(table.accountId, table.createdAt.desc(), table.id.desc()),
  ],
)

/** The auto top-up of an account, and its saved card. */
export const autoTopUps = pgTable('auto_top_ups', {
  accountId: text('account_id').primaryKey(),
  provider: text('provider').notNull(),
  card: jsonb('card').$type<SavedCard>(),
  cardSavedAt: moment('card_saved_at'),
  cardPage: text('card_page'),
  belowCents: cents('below_cents'),
  amountCents: cents('amount_cents'),
  /** The most that is charged in a day, UTC. */
  dailyCents: cents('daily_cents'),
  isOn: boolean('is_on').notNull().default(false),
  onSince: moment('on_since'),
  stopped: text('stopped').$type<StopReason>(),
})

export const orderEvents = pgTable('order_events', {
  id: text('id').primaryKey(),
  orderId: text('order_id').notNull(),
  /** 1, 2, 3 … within the order. */
  position: integer('position').notNull(),
  kind: text('kind').$type<OrderEventKind>().notNull(),
  /** The order's state after the event. */
  state: text('state').$type<OrderState>().notNull(),
  amountCents: cents('amount_cents'),
  /** The ledger entry that the event made. */
  entryId: text('entry_id'),
  /** The person's e-mail address or the system's name. */
  actor: text('actor').notNull(),
  note: text('note'),
  createdAt: moment('created_at').notNull(),
})

export const payments = pgTable(
  'payments',
  {
    id: text('id').primaryKey(),
    provider: text('provider').$type<PaymentSource>().notNull(),
    /** The source's own id of the payment. No two payments of one source have the same id. */
    externalId: text('external_id').notNull(),
    orderId: text('order_id'),
    accountId: text('account_id'),
    /** Hundredths of `currency`, which is three capital letters. */
    amountCents: cents('amount_cents').notNull(),
    /** The part of `amountCents` that is tax, which is not credited. */
    taxCents: cents('tax_cents').notNull().default(0),
    currency: text('currency').notNull(),
    payee: text('payee'),
    sender: text('payer'),
    noticeText: text('notice_text'),
    state: text('state').$type<PaymentState>().notNull(),
    mismatch: text('mismatch').$type<MismatchReason>(),
    creditedCents: cents('credited_cents').notNull().default(0),
    entryId: text('entry_id'),
    receivedAt: moment('received_at').notNull(),
    /** Until this time the payer can take the money back, and its credit can't be moved; set when the payment is credited. */
    reversibleUntil: moment('reversible_until'),
    resolvedAt: moment('resolved_at'),
    /** The e-mail address of the person who resolved the payment, and the reason. */
    resolvedBy: text('resolved_by'),
    resolution: text('resolution'),
  },
  (table) => [
    unique('payments_provider_external_id_key').on(table.provider, table.externalId),
    index('payments_order_index').on(table.orderId),
    index('payments_state_index').on(table.state, table.receivedAt.desc(), table.id.desc()),
  ],
)

export const reversals = pgTable(
  'reversals',
  {
    id: text('id').primaryKey(),
    provider: text('provider').$type<PaymentSource>().notNull(),
    externalId: text('external_id').notNull(),
    kind: text('kind').$type<ReversalKind>().notNull(),
    /** The external id of the payment, or of the reversal that a reinstatement undoes. */
    undoes: text('undoes').notNull(),
    paymentId: text('payment_id'),
    orderId: text('order_id'),
    accountId: text('account_id'),
    amountCents: cents('amount_cents').notNull(),
    currency: text('currency').notNull(),
    note: text('note'),
    state: text('state').$type<ReversalState>().notNull(),
    fault: text('fault').$type<ReversalFault>(),
    /** The credit that the reversal removed, or (negative) returned. */
    movedCents: cents('moved_cents').notNull().default(0),
    /** The part of the reversal that an administrator's refund had already removed. */
    matchedCents: cents('matched_cents').notNull().default(0),
    entryId: text('entry_id'),
    receivedAt: moment('received_at').notNull(),
    appliedAt: moment('applied_at'),
  },
  (table) => [
    unique('reversals_provider_external_id_key').on(table.provider, table.externalId),
    index('reversals_undoes_index').on(table.provider, table.undoes),
    index('reversals_order_index').on(table.orderId),
  ],
)

export const sandboxDepositSecret = pgTable('sandbox_deposit_secret', {
  id: integer('id').primaryKey(),
  secret: text('secret').notNull(),
})
