/** Compares a reported payment with its order, and credits or stores it, in one transaction. */

import { and, eq, sql } from 'drizzle-orm'
import { recordCredit } from '@/accounts/credits'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { orders, payments } from '@/db/orders-schema'
import { assert } from '@/lib/assert'
import { sha256Hex } from '@/lib/ids'
import { applyEntry } from './apply'
import { centsToNano, formatCents } from './cents'
import { expireIfDue } from './close'
import type { OrdersDeps } from './deps'
import { MAX_EXTERNAL_ID_CHARS, MAX_PAYMENT_CENTS, MAX_PAYMENT_TEXT_CHARS, MAX_REASON_CHARS } from './limits'
import { nextState } from './order-state'
import { partiesOf } from './parties'
import { findReferences } from './reference'
import { applyWaiting } from './reversals/apply-reversal'
import { type Moved, turnOf } from './reversals/moved'
import { reversibleUntil } from './reversible'
import {
  appendEvent,
  auditPerson,
  changeOrder,
  lockOrder,
  type OrderRow,
  optionalText,
  type PaymentRow,
  storableText,
  toOrder,
  toPayment,
} from './rows'
import type { ConfirmOutcome, MismatchReason, PaymentNotice, PaymentSource } from './types'

const MISMATCH_OF_STATE = {
  pending: undefined,
  expired: 'order_expired',
  cancelled: 'order_cancelled',
  paid: 'order_already_paid',
  partly_refunded: 'order_already_paid',
  refunded: 'order_already_paid',
  charged_back: 'order_already_paid',
} as const satisfies Record<OrderRow['state'], MismatchReason | undefined>

/** Books a reported payment. The caller has checked the amount's range, and the form of currency and id. */
export async function confirmPayment(deps: OrdersDeps, notice: PaymentNotice): Promise<ConfirmOutcome> {
  const { amountCents, taxCents = 0, currency, externalId } = notice
  assert(Number.isInteger(taxCents) && taxCents >= 0 && taxCents < amountCents, 'tax is a part of the amount')
  assert(Number.isInteger(amountCents) && amountCents > 0 && amountCents <= MAX_PAYMENT_CENTS, 'amount out of range')
  assert(/^[A-Za-z]{3}$/.test(currency), 'a currency has three letters')
  assert(externalId.length > 0 && externalId.length <= MAX_EXTERNAL_ID_CHARS, 'the external id is too long or empty')
  const done = await deps.database.db.transaction((transaction) => record(deps, transaction, notice))
  if (done.kind !== 'credited') return done
  const { accountId } = done.order
  const amount = centsToNano(done.payment.creditedCents)
  const applied = await applyEntry(deps, { accountId, entryId: done.entryId, amount })
  for (const { credit: later } of done.moved) await applyEntry(deps, later)
  return { kind: 'credited', order: done.order, payment: done.payment, applied }
}

/** The ledger reference of a payment, the same for every delivery of its notice. */
export function creditReference(paymentId: string): string {
  return `payment:${paymentId}`
}

type Recorded =
  | (Omit<Extract<ConfirmOutcome, { kind: 'credited' }>, 'applied'> & { entryId: string; moved: Moved[] })
  | Exclude<ConfirmOutcome, { kind: 'credited' }>

async function record(deps: OrdersDeps, transaction: Transaction, notice: PaymentNotice): Promise<Recorded> {
  const { source, externalId } = notice
  // Notices of the same movement of money run one at a time, even if they name different orders.
  const turn = turnOf('payment', source, externalId)
  await transaction.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${turn}, 0))`)
  const isThis = and(eq(payments.provider, source), eq(payments.externalId, externalId))
  const earlier = await findRow(transaction, payments, isThis)
  if (earlier) return { kind: 'duplicate', payment: toPayment(earlier), isSame: isSame(earlier, notice) }
  const orderId = await orderIdOf(transaction, notice)
  const locked = orderId === undefined ? undefined : await lockOrder(transaction, orderId)
  if (!locked) return keep(deps, transaction, notice, undefined, 'unknown_reference')
  const order = await expireIfDue(deps, transaction, locked)
  const mismatch = mismatchOf(order, notice)
  if (mismatch) return keep(deps, transaction, notice, order, mismatch)
  return credit(deps, transaction, notice, order)
}

function isSame(earlier: PaymentRow, { amountCents, currency }: PaymentNotice): boolean {
  return earlier.amountCents === amountCents && earlier.currency === currency.toUpperCase()
}

async function orderIdOf(transaction: Transaction, notice: PaymentNotice): Promise<string | undefined> {
  if (notice.orderId !== undefined) return notice.orderId
  const [reference, another] = findReferences(notice.reference ?? '')
  if (reference === undefined || another !== undefined) return undefined
  const [row] = await transaction.select({ id: orders.id }).from(orders).where(eq(orders.reference, reference))
  return row?.id
}

async function credit(
  deps: OrdersDeps,
  transaction: Transaction,
  notice: PaymentNotice,
  order: OrderRow,
): Promise<Recorded> {
  const { actor } = notice
  const amountCents = netCents(notice)
  const state = nextState(order.state, 'pay')
  assert(state !== undefined, 'only an order that waits is paid by itself')
  const { accountId } = order
  const reference = creditReference(paymentIdOf(notice))
  const recorded = await recordCredit(transaction, { accountId, amount: centsToNano(amountCents), reference })
  if (recorded.kind === 'out_of_range') return keep(deps, transaction, notice, order, 'balance_limit')
  assert(recorded.kind === 'recorded' && recorded.isNew, `a payment is credited once: ${recorded.kind}`)
  const { entryId } = recorded
  const now = new Date(deps.clock.now())
  const payment = await insert(deps, transaction, notice, {
    order,
    state: 'credited',
    creditedCents: amountCents,
    entryId,
  })
  const paid = await changeOrder(transaction, order.id, {
    set: {
      state,
      paidCents: amountCents,
      paidAt: now,
      lookAt: null,
      parties: await partiesOf(deps, transaction, order),
    },
    event: { kind: 'paid', amountCents, entryId, ...noteOf(notice) },
    actor,
    now,
  })
  await audit(transaction, notice, payment)
  // The payer's bank may have reversed the payment before its notice arrived.
  const later = await applyWaiting(deps, transaction, notice.source, notice.externalId, actor)
  return {
    kind: 'credited',
    order: toOrder(later.order ?? paid),
    payment: toPayment(payment),
    entryId,
    moved: later.moved,
  }
}

async function keep(
  deps: OrdersDeps,
  transaction: Transaction,
  notice: PaymentNotice,
  order: OrderRow | undefined,
  mismatch: MismatchReason,
): Promise<Recorded> {
  const { amountCents, actor } = notice
  const payment = await insert(deps, transaction, notice, { order, state: 'unmatched', mismatch })
  if (order) {
    const now = new Date(deps.clock.now())
    const event = { kind: 'payment_unmatched', amountCents, note: mismatch } as const
    await appendEvent(transaction, order, { event, actor, now })
  }
  await audit(transaction, notice, payment)
  return { kind: 'unmatched', reason: mismatch, payment: toPayment(payment) }
}

type Decision = Partial<PaymentRow> & { order: OrderRow | undefined; state: 'credited' | 'unmatched' }

async function insert(
  { clock, reversibleDays }: OrdersDeps,
  transaction: Transaction,
  notice: PaymentNotice,
  { order, ...decision }: Decision,
): Promise<PaymentRow> {
  const receivedAt = new Date(clock.now())
  const isCredited = decision.state === 'credited' && order !== undefined
  const [row] = await transaction
    .insert(payments)
    .values({
      ...decision,
      id: paymentIdOf(notice),
      provider: notice.source,
      externalId: notice.externalId,
      orderId: order?.id ?? null,
      accountId: order?.accountId ?? null,
      amountCents: notice.amountCents,
      taxCents: notice.taxCents ?? 0,
      currency: notice.currency.toUpperCase(),
      payee: optionalText(notice.payee, 200),
      sender: optionalText(notice.sender, 200),
      noticeText: optionalText(notice.text, MAX_PAYMENT_TEXT_CHARS),
      receivedAt,
      reversibleUntil: isCredited ? reversibleUntil(reversibleDays, order, notice.source, receivedAt) : null,
    })
    .returning()
  assert(row, 'an insert returns its row')
  return row
}

/** Derived from the source's id, so that the ledger recognizes the payment even if all other data are lost. */
function paymentIdOf({ source, externalId }: PaymentNotice): string {
  return `pay_${sha256Hex(JSON.stringify([source, externalId])).slice(0, 32)}`
}

function noteOf({ reason }: PaymentNotice): { note?: string } {
  return reason === undefined ? {} : { note: storableText(reason, MAX_REASON_CHARS) }
}

async function audit(transaction: Transaction, notice: PaymentNotice, payment: PaymentRow): Promise<void> {
  await auditPerson(transaction, {
    actor: notice.actor,
    action: 'payment.confirm',
    subject: payment.id,
    accountId: payment.accountId,
    details: {
      source: payment.provider,
      externalId: payment.externalId,
      orderId: payment.orderId,
      amount: formatCents(payment.amountCents),
      currency: payment.currency,
      state: payment.state,
      mismatch: payment.mismatch,
      reason: noteOf(notice).note ?? null,
    },
  })
}

/** The reason against crediting the payment automatically; undefined if the payment matches its order. */
function mismatchOf(order: OrderRow, notice: PaymentNotice): MismatchReason | undefined {
  if (!isSourceOf(order, notice.source)) return 'wrong_source'
  if (notice.reference !== undefined && !findReferences(notice.reference).includes(order.reference)) {
    return 'wrong_reference'
  }
  if (notice.payee !== undefined && (order.payee === null || plain(notice.payee) !== plain(order.payee))) {
    return 'wrong_payee'
  }
  if (notice.currency.toUpperCase() !== order.currency) return 'wrong_currency'
  const closed = MISMATCH_OF_STATE[order.state]
  if (closed && !(closed === 'order_expired' && notice.isTimely)) return closed
  const paidCents = netCents(notice)
  if (paidCents < order.amountCents) return 'underpaid'
  return paidCents > order.amountCents ? 'overpaid' : undefined
}

/** The net amount: tax is not credit. */
function netCents({ amountCents, taxCents = 0 }: PaymentNotice): number {
  return amountCents - taxCents
}

/** A webhook only pays orders that were placed with its own provider. */
function isSourceOf({ method, provider }: OrderRow, source: PaymentSource): boolean {
  if (source === 'manual') return true
  return source === 'bank' ? method === 'bank_transfer' : method === 'deposit' && source === `deposit:${provider}`
}

/** Account numbers are written with and without spaces, and IBANs in either case. */
function plain(account: string): string {
  return account.replace(/\s/g, '').toUpperCase()
}
