/** Turns a reversal into a ledger entry and a change of its order, once the movement that it undoes is booked. */
import { and, asc, eq } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { recordCredit } from '@/accounts/credits'
import { centsToNano, formatCents } from '@/console/orders/cents'
import type { OrdersDeps } from '@/console/orders/deps'
import { MAX_PAYMENT_CENTS } from '@/console/orders/limits'
import { stateOf } from '@/console/orders/order-state'
import { actorName, appendEvent, changeOrder, lockOrder, type OrderRow, type PaymentRow } from '@/console/orders/rows'
import type { Actor, PaymentSource, Reversal } from '@/console/orders/types'
import type { Transaction } from '@/db/client'
import { payments, reversals } from '@/db/orders-schema'
import { assert } from '@/lib/assert'
import { awaitedRefunds, creditTakenBack, type Moved, shareOf, standingCents } from './moved'

export type ReversalRow = typeof reversals.$inferSelect
type Applied = { reversal: ReversalRow; order: OrderRow; moved: Moved[] }

/** Applies `row`, and the reversals that wait for it. Undefined if `row` itself must wait. */
export async function applyReversal(
  deps: OrdersDeps,
  transaction: Transaction,
  row: ReversalRow,
  actor: Actor,
): Promise<Applied | undefined> {
  const found =
    row.kind === 'reinstatement' ? await measureReturn(transaction, row) : await measureTake(transaction, row)
  if (!found) return undefined
  const applied =
    'fault' in found
      ? await keep(deps, transaction, row, found, actor)
      : await book(deps, transaction, row, found, actor)
  if (applied.reversal.state !== 'applied') return applied
  const later = await applyWaiting(deps, transaction, row.provider, row.externalId, actor)
  return { reversal: applied.reversal, order: later.order ?? applied.order, moved: [...applied.moved, ...later.moved] }
}

/** Applies reversals that were reported before the payment or reversal that they undo. */
export async function applyWaiting(
  deps: OrdersDeps,
  transaction: Transaction,
  source: PaymentSource,
  undoes: string,
  actor: Actor,
): Promise<{ order: OrderRow | undefined; moved: Moved[] }> {
  const isWaiting = and(eq(reversals.provider, source), eq(reversals.undoes, undoes), eq(reversals.state, 'waiting'))
  const rows = await transaction.select().from(reversals).where(isWaiting).orderBy(asc(reversals.receivedAt))
  let order: OrderRow | undefined
  const moved: Moved[] = []
  for (const row of rows) {
    const applied = await applyReversal(deps, transaction, row, actor)
    if (!applied) continue
    order = applied.order
    moved.push(...applied.moved)
  }
  return { order, moved }
}

/** `cents`: credit to remove, or to return if negative. `matchedCents`: credit that an administrator's refund has already removed. */
type Measured = {
  order: OrderRow
  paymentId: string | null
  cents: number
  matchedCents: number
  isChargeback: boolean
}
type Faulty = { order: OrderRow; paymentId: string | null; fault: NonNullable<ReversalRow['fault']> }

async function measureTake(transaction: Transaction, row: ReversalRow): Promise<Measured | Faulty | undefined> {
  const isIt = and(eq(payments.provider, row.provider), eq(payments.externalId, row.undoes))
  const [payment] = await transaction.select().from(payments).where(isIt).for('update')
  if (payment?.state !== 'credited' || payment.orderId === null) return undefined
  const order = await lockOrder(transaction, payment.orderId)
  assert(order, 'orders are never deleted')
  const paymentId = payment.id
  if (payment.currency !== row.currency) return { order, paymentId, fault: 'wrong_currency' }
  const { takenCents, dueCents } = await measureTaken(transaction, payment, row)
  const creditCents = Math.max(dueCents - takenCents, 0)
  const isChargeback = row.kind === 'chargeback'
  const awaited = isChargeback ? 0 : await awaitedRefunds(transaction, order.id, order.refundedCents)
  const matchedCents = Math.min(awaited, creditCents)
  const room = order.paidCents - (isChargeback ? order.chargedBackCents : order.refundedCents)
  const cents = Math.min(creditCents - matchedCents, room)
  return { order, paymentId, cents, matchedCents, isChargeback }
}

/** The credit already removed for a payment, and the credit that must be removed in total once `row` is applied. */
async function measureTaken(
  transaction: Transaction,
  payment: PaymentRow,
  row: ReversalRow,
): Promise<{ takenCents: number; dueCents: number }> {
  const before = await transaction.select().from(reversals).where(eq(reversals.paymentId, payment.id))
  const standing = standingCents([...before.filter(({ state }) => state === 'applied'), row])
  const dueCents = shareOf(payment.creditedCents, standing, payment.amountCents)
  return { takenCents: creditTakenBack(before), dueCents }
}

async function measureReturn(transaction: Transaction, row: ReversalRow): Promise<Measured | Faulty | undefined> {
  const isIt = and(eq(reversals.provider, row.provider), eq(reversals.externalId, row.undoes))
  const [undone] = await transaction.select().from(reversals).where(isIt).for('update')
  if (undone?.state !== 'applied' || undone.orderId === null) return undefined
  const { paymentId } = undone
  const [payment] = await transaction
    .select()
    .from(payments)
    .where(eq(payments.id, paymentId ?? ''))
    .for('update')
  assert(payment, 'what was applied was of a payment')
  const order = await lockOrder(transaction, undone.orderId)
  assert(order, 'orders are never deleted')
  if (undone.kind === 'reinstatement') return { order, paymentId, fault: 'wrong_kind' }
  if (undone.currency !== row.currency) return { order, paymentId, fault: 'wrong_currency' }
  const isBefore = and(eq(reversals.provider, row.provider), eq(reversals.undoes, row.undoes))
  const before = (await transaction.select().from(reversals).where(isBefore)).filter(({ state }) => state === 'applied')
  const wonCents = before.reduce((total, { amountCents }) => total + amountCents, 0)
  // Credit that an administrator refunded is never returned, even if the provider's own refund fails.
  const isShared = undone.matchedCents > 0
  const leftCents = undone.movedCents - before.reduce((total, { movedCents }) => total + movedCents, 0)
  if (wonCents >= undone.amountCents || (isShared && leftCents <= 0))
    return { order, paymentId, fault: 'nothing_taken' }
  const { takenCents, dueCents } = await measureTaken(transaction, payment, row)
  const cents = Math.min(Math.max(takenCents - dueCents, 0), isShared ? leftCents : MAX_PAYMENT_CENTS)
  return { order, paymentId, cents: -cents, matchedCents: 0, isChargeback: undone.kind === 'chargeback' }
}

async function book(
  deps: OrdersDeps,
  transaction: Transaction,
  row: ReversalRow,
  measured: Measured,
  actor: Actor,
): Promise<Applied> {
  const { order, paymentId, cents, matchedCents, isChargeback } = measured
  const { accountId } = order
  const amount = centsToNano(-cents)
  const recorded =
    cents === 0 ? undefined : await recordCredit(transaction, { accountId, amount, reference: `reversal:${row.id}` })
  if (recorded?.kind === 'out_of_range')
    return keep(deps, transaction, row, { order, paymentId, fault: 'balance_limit' }, actor)
  assert(
    !recorded || (recorded.kind === 'recorded' && recorded.isNew),
    `a reversal is recorded once: ${recorded?.kind}`,
  )
  const now = new Date(deps.clock.now())
  const entryId = recorded?.kind === 'recorded' ? recorded.entryId : null
  const moved = { movedCents: Math.abs(cents), matchedCents, entryId, appliedAt: now }
  const reversal = await update(transaction, row, {
    ...moved,
    state: 'applied',
    orderId: order.id,
    accountId,
    paymentId,
  })
  const sums = sumsAfter(order, cents, isChargeback)
  const changed = await changeOrder(transaction, order.id, {
    set: { ...sums, state: stateOf({ ...order, ...sums }) },
    event: {
      kind: eventOf(row),
      amountCents: Math.abs(cents),
      ...(entryId !== null && { entryId }),
      note: noteOf(row, matchedCents),
    },
    actor,
    now,
  })
  await audit(transaction, reversal, changed, actor)
  return { reversal, order: changed, moved: entryId === null ? [] : [{ credit: { accountId, entryId, amount } }] }
}

/** Refunds and chargebacks have separate sums. A return reduces its own sum to zero first, then the other sum. */
function sumsAfter({ refundedCents, chargedBackCents }: OrderRow, cents: number, isChargeback: boolean) {
  const own = (isChargeback ? chargedBackCents : refundedCents) + cents
  const other = (isChargeback ? refundedCents : chargedBackCents) + Math.min(own, 0)
  const [most, rest] = [Math.max(own, 0), Math.max(other, 0)]
  return isChargeback
    ? { refundedCents: rest, chargedBackCents: most }
    : { refundedCents: most, chargedBackCents: rest }
}

/** Moves no credit: stores the reversal on its order for an administrator. */
async function keep(
  deps: OrdersDeps,
  transaction: Transaction,
  row: ReversalRow,
  { order, paymentId, fault }: Faulty,
  actor: Actor,
): Promise<Applied> {
  const { id: orderId, accountId } = order
  const reversal = await update(transaction, row, { state: 'kept', fault, orderId, accountId, paymentId })
  const event = { kind: 'reversal_kept', amountCents: row.amountCents, note: `${row.kind}: ${fault}` } as const
  await appendEvent(transaction, order, { event, actor, now: new Date(deps.clock.now()) })
  await audit(transaction, reversal, order, actor)
  return { reversal, order, moved: [] }
}

async function update(transaction: Transaction, { id }: ReversalRow, set: Partial<ReversalRow>): Promise<ReversalRow> {
  const [row] = await transaction.update(reversals).set(set).where(eq(reversals.id, id)).returning()
  assert(row, 'a reversal is never deleted')
  return row
}

function eventOf({ kind }: ReversalRow): 'charged_back' | 'refunded' | 'reinstated' {
  if (kind === 'reinstatement') return 'reinstated'
  return kind === 'chargeback' ? 'charged_back' : 'refunded'
}

function noteOf({ externalId, note }: ReversalRow, matchedCents: number): string {
  const before = matchedCents > 0 ? `; ${formatCents(matchedCents)} USD had been refunded here before` : ''
  return `${externalId}${note === null ? '' : `: ${note}`}${before}`
}

/** The provider's reversals that remove credit are audited too. */
async function audit(transaction: Transaction, reversal: ReversalRow, order: OrderRow, actor: Actor): Promise<void> {
  await recordAudit(transaction, {
    actor: { userId: null, email: actorName(actor) },
    action: `order.${reversal.kind}`,
    subject: order.id,
    accountId: order.accountId,
    details: {
      reference: order.reference,
      externalId: reversal.externalId,
      amount: formatCents(reversal.amountCents),
      currency: reversal.currency,
      movedUsd: formatCents(reversal.movedCents),
      state: order.state,
      fault: reversal.fault,
    },
  })
}

/** Converts a reversal's row to a `Reversal`, which has other field names. */
export function toReversal(row: ReversalRow): Reversal {
  const { id, provider, entryId, paymentId, appliedAt, ...rest } = row
  return { reversalId: id, source: provider, ...rest }
}
