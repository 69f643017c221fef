/** An administrator's decision on an unmatched payment: it is credited to an order, or closed without credit. */
import { eq } from 'drizzle-orm'
import { recordCredit } from '@/accounts/credits'
import type { Transaction } from '@/db/client'
import { payments } from '@/db/orders-schema'
import { assert } from '@/lib/assert'
import { applyEntry } from './apply'
import { centsToNano, formatCents } from './cents'
import { creditReference } from './confirm'
import type { OrdersDeps } from './deps'
import { MAX_PAYMENT_CENTS, MAX_REASON_CHARS } from './limits'
import { nextState } from './order-state'
import { partiesOf } from './parties'
import { applyWaiting } from './reversals/apply-reversal'
import type { Moved } from './reversals/moved'
import { reversibleUntil } from './reversible'
import {
  actorName,
  auditPerson,
  changeOrder,
  lockOrder,
  type OrderRow,
  type PaymentRow,
  storableText,
  toOrder,
  toPayment,
} from './rows'
import type { NewResolution, Resolution, ResolveOutcome } from './types'

/** Decides an unmatched payment. Only the first decision counts. */
export async function resolvePayment(deps: OrdersDeps, request: NewResolution): Promise<ResolveOutcome> {
  assert(request.reason.trim() !== '' && request.reason.length <= MAX_REASON_CHARS, 'a resolution has a reason')
  const done = await deps.database.db.transaction((transaction) => record(deps, transaction, request))
  if (done.kind !== 'credited') return done
  const { order, payment, entryId } = done
  const { accountId } = order
  const amount = centsToNano(payment.creditedCents)
  const applied = await applyEntry(deps, { accountId, entryId, amount })
  for (const { credit: later } of done.moved) await applyEntry(deps, later)
  return { kind: 'credited', order, payment, applied }
}

type Recorded =
  | (Omit<Extract<ResolveOutcome, { kind: 'credited' }>, 'applied'> & { entryId: string; moved: Moved[] })
  | Exclude<ResolveOutcome, { kind: 'credited' }>

async function record(deps: OrdersDeps, transaction: Transaction, request: NewResolution): Promise<Recorded> {
  const { paymentId, resolution } = request
  // The order is locked before its payment, as in all transactions that lock both.
  if (resolution.kind === 'credit') await lockOrder(transaction, resolution.orderId)
  const [payment] = await transaction.select().from(payments).where(eq(payments.id, paymentId)).for('update')
  if (!payment) return { kind: 'not_found' }
  if (payment.state !== 'unmatched') return { kind: 'already_resolved', payment: toPayment(payment) }
  if (resolution.kind === 'credit') return credit(deps, transaction, request, payment, resolution)
  const dismissed = await close(deps, transaction, request, { ...payment, state: 'dismissed' })
  return { kind: 'dismissed', payment: toPayment(dismissed) }
}

async function credit(
  deps: OrdersDeps,
  transaction: Transaction,
  request: NewResolution,
  payment: PaymentRow,
  { orderId, creditCents }: Extract<Resolution, { kind: 'credit' }>,
): Promise<Recorded> {
  const order = await lockOrder(transaction, orderId)
  if (!order) return { kind: 'unknown_order' }
  const creditedCents = creditCents ?? (payment.currency === order.currency ? netOf(payment) : undefined)
  if (creditedCents === undefined) return { kind: 'amount_required' }
  const maximumCents = maximumOf(payment, order)
  if (!Number.isInteger(creditedCents) || creditedCents < 1 || creditedCents > maximumCents) {
    return { kind: 'amount_out_of_range', maximumCents }
  }
  const { accountId } = order
  const amount = centsToNano(creditedCents)
  const reference = creditReference(payment.id)
  const recorded = await recordCredit(transaction, { accountId, amount, reference })
  if (recorded.kind === 'out_of_range') return { kind: 'balance_limit' }
  assert(recorded.kind === 'recorded' && recorded.isNew, `a payment is credited once: ${recorded.kind}`)
  const { entryId } = recorded
  const paid = await pay(deps, transaction, request, { order, creditedCents, entryId })
  const closed = {
    ...payment,
    ...({ state: 'credited', orderId, accountId, creditedCents, entryId } as const),
    reversibleUntil: reversibleUntil(deps.reversibleDays, order, payment.provider, payment.receivedAt),
  }
  const resolved = await close(deps, transaction, request, closed)
  const later = await applyWaiting(deps, transaction, payment.provider, payment.externalId, request.actor)
  return {
    kind: 'credited',
    order: toOrder(later.order ?? paid),
    payment: toPayment(resolved),
    entryId,
    moved: later.moved,
  }
}

/** The received amount without tax, but at most the maximum of an order. If the currencies differ, the maximum of an order. */
function maximumOf(payment: PaymentRow, order: OrderRow): number {
  const countable = MAX_PAYMENT_CENTS - order.paidCents
  return payment.currency === order.currency ? Math.min(netOf(payment), countable) : countable
}

/** The net amount: tax is not credit. */
function netOf({ amountCents, taxCents }: PaymentRow): number {
  return amountCents - taxCents
}

type Paid = { order: OrderRow; creditedCents: number; entryId: string }

async function pay(
  deps: OrdersDeps,
  transaction: Transaction,
  { actor, reason }: NewResolution,
  { order, creditedCents, entryId }: Paid,
): Promise<OrderRow> {
  const state = nextState(order.state, 'settle')
  assert(state !== undefined, 'an administrator may credit a payment to any order')
  const now = new Date(deps.clock.now())
  const parties = await partiesOf(deps, transaction, order)
  return changeOrder(transaction, order.id, {
    set: { state, paidCents: order.paidCents + creditedCents, paidAt: order.paidAt ?? now, lookAt: null, parties },
    event: { kind: 'paid', amountCents: creditedCents, entryId, note: storableText(reason, MAX_REASON_CHARS) },
    actor,
    now,
  })
}

/** Writes the decided payment and its audit entry. It must be the transaction's last step: audit entries are written one at a time. */
async function close(
  { clock }: OrdersDeps,
  transaction: Transaction,
  { actor, reason }: NewResolution,
  { id, ...decided }: PaymentRow,
): Promise<PaymentRow> {
  const resolution = storableText(reason, MAX_REASON_CHARS)
  const [row] = await transaction
    .update(payments)
    .set({ ...decided, resolvedAt: new Date(clock.now()), resolvedBy: actorName(actor), resolution })
    .where(eq(payments.id, id))
    .returning()
  assert(row, 'a locked payment exists')
  await auditPerson(transaction, {
    actor,
    action: 'payment.resolve',
    subject: id,
    accountId: row.accountId,
    details: {
      state: row.state,
      orderId: row.orderId,
      paid: `${formatCents(row.amountCents)} ${row.currency}`,
      creditedUsd: formatCents(row.creditedCents),
      reason: resolution,
    },
  })
  return row
}
