/** Makes deposit events of Stripe's objects. Each reader checks the fields that it uses. */
import type { DepositEvent } from '@/console/orders/deposits/deposit-provider'
import { fieldOf, idOf, readMoney, textIn, textOf } from './stripe-fields'

/** The fields of a checkout session that this file reads, from the API or from an event. */
type SessionObject = {
  id?: unknown
  status?: unknown
  payment_status?: unknown
  amount_total?: unknown
  currency?: unknown
  payment_intent?: unknown
  metadata?: unknown
  customer_details?: unknown
  total_details?: unknown
}
type RefundObject = {
  id?: unknown
  status?: unknown
  amount?: unknown
  currency?: unknown
  payment_intent?: unknown
  reason?: unknown
}
type DisputeObject = RefundObject

export type Session = {
  id: string
  paymentIntentId: string | undefined
  /** Whether this gateway created the object; the Stripe account may have others. */
  isOurs: boolean
  /** Undefined while the page is open, or closed without payment. */
  event: DepositEvent | undefined
}

/** A checkout session, with the state of its payment. */
export function readSession(session: SessionObject): Session {
  const { id, status, payment_status: paymentStatus } = session
  const reference = textIn(session.metadata, 'reference')
  const paymentIntentId = idOf(session.payment_intent)
  const known = { id: textOf(id) ?? '', paymentIntentId, isOurs: textIn(session.metadata, 'order') !== undefined }
  const paymentId = known.id
  if (status !== 'complete') return { ...known, event: undefined }
  if (paymentStatus === 'unpaid') return { ...known, event: { kind: 'processing', paymentId } }
  const money = readMoney(session.amount_total, session.currency)
  const taxCents = fieldOf(session.total_details, 'amount_tax') ?? 0
  if (paymentStatus !== 'paid' || !money || paymentIntentId === undefined || reference === undefined) {
    return { ...known, event: { kind: 'malformed', reason: 'session' } }
  }
  if (typeof taxCents !== 'number' || !Number.isInteger(taxCents) || taxCents < 0 || taxCents >= money.amountCents) {
    return { ...known, event: { kind: 'malformed', reason: 'tax' } }
  }
  const sender = textIn(session.customer_details, 'email')
  const facts = { externalId: paymentIntentId, paymentId, reference, ...money, taxCents, sender, isTimely: true }
  return { ...known, event: { kind: 'received', ...facts } }
}

/** A refund removes credit at once, even if its money has not arrived yet. A failed refund returns the credit. */
export function readRefund(refund: RefundObject, paymentId: string): DepositEvent[] {
  const taken = readReversal('refund', refund, paymentId)
  if (taken.kind === 'malformed') return [taken]
  return refund.status === 'failed' || refund.status === 'canceled' ? undone(taken, 'failed') : [taken]
}

/** `type`: the type of the event with this dispute, if there is one. An inquiry (`warning_…`) takes no money; a won dispute returns it. */
export function readDispute(dispute: DisputeObject, paymentId: string, type?: string): DepositEvent[] {
  const { status } = dispute
  const taken = readReversal('chargeback', dispute, paymentId)
  if (taken.kind === 'malformed') return [taken]
  if (status === 'won' || type === 'charge.dispute.funds_reinstated') return undone(taken, 'won')
  const isTaken =
    type === 'charge.dispute.funds_withdrawn' || (status !== 'prevented' && !/^warning_/.test(String(status)))
  return isTaken ? [taken] : []
}

/** The payment of a refund or a dispute. */
export function paymentIntentOf(object: { payment_intent?: unknown }): string | undefined {
  return idOf(object.payment_intent)
}

type Taken = Extract<DepositEvent, { kind: 'refund' | 'chargeback' }>

/**
 * Returns the reinstatement first. It waits until the reversal comes. Then both are booked in one step, so no balance gets negative.
 */
function undone(taken: Taken, why: string): DepositEvent[] {
  const { externalId } = taken
  return [{ ...taken, kind: 'reinstatement', externalId: `${externalId}:${why}`, undoes: externalId }, taken]
}

function readReversal(
  kind: 'refund' | 'chargeback',
  object: RefundObject,
  paymentId: string,
): Taken | { kind: 'malformed'; reason: string } {
  const [externalId, undoes] = [textOf(object.id), idOf(object.payment_intent)]
  const money = readMoney(object.amount, object.currency)
  if (externalId === undefined || undoes === undefined || !money) return { kind: 'malformed', reason: kind }
  return { kind, externalId, undoes, paymentId, ...money, note: textOf(object.reason) }
}
