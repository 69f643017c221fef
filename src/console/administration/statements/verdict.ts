/** Decides the effect of a bank statement's line: a pure function of the line and the current state. */

import { findReferences } from '@/console/orders/reference'
import type { LineVerdict } from '@/db/administration-schema'
import type { StatementLine } from './statement'

export type KnownOrder = {
  orderId: string
  accountId: string
  accountName: string
  reference: string
  method: 'bank_transfer' | 'deposit'
  amountCents: number
  currency: string
  /** Pending and not expired. */
  isOpen: boolean
}

type KnownFacts = {
  orders: ReadonlyMap<string, KnownOrder>
  imported: ReadonlySet<string>
  /** Number of lines imported from statements of another format, by the key that {@link paymentOf} makes. */
  elsewhere: ReadonlyMap<string, number>
}

/** The facts by which a payment for an order is recognised in statements of different formats. */
type Payment = { orderId: string | null; bookedOn: string; amountCents: number; currency: string }

/** Makes a text of a payment for an order, to use it as the key of a map. */
export function paymentOf({ orderId, bookedOn, amountCents, currency }: Payment): string {
  return JSON.stringify([orderId, bookedOn, amountCents, currency])
}

export type JudgedLine = StatementLine & { verdict: LineVerdict; order: KnownOrder | undefined }

/** Verdicts for real payments that name an order: a commit keeps them as unmatched payments. */
export const KEPT_VERDICTS: ReadonlySet<LineVerdict> = new Set([
  'amount_differs',
  'order_not_open',
  'wrong_method',
  'second_for_order',
])

/** Judges all lines in order. Of two lines for one order, the first pays it. A second line with the same key is the same booking. */
export function judgeLines(lines: readonly StatementLine[], facts: KnownFacts): JudgedLine[] {
  const state = { paid: new Set<string>(), seen: new Set(facts.imported), elsewhere: new Map(facts.elsewhere) }
  return lines.map((line) => {
    const mayName = line.amountCents > 0 || line.exclusion === 'reversal'
    const references = mayName ? findReferences(line.reference) : []
    const order = references.length === 1 ? facts.orders.get(references[0] ?? '') : undefined
    const verdict = verdictOf(line, references, order, state)
    if (verdict === 'credit' && order) state.paid.add(order.orderId)
    if (line.exclusion === undefined) state.seen.add(line.lineKey)
    return { ...line, verdict, order }
  })
}

/** State while lines are judged: paid orders, seen keys, and payments of other formats that no line has matched yet. */
type JudgingState = { paid: Set<string>; seen: Set<string>; elsewhere: Map<string, number> }

function verdictOf(
  line: StatementLine,
  references: readonly string[],
  order: KnownOrder | undefined,
  { paid, seen, elsewhere }: JudgingState,
): LineVerdict {
  if (line.exclusion !== undefined) return line.exclusion
  if (line.amountCents <= 0) return 'outgoing'
  if (seen.has(line.lineKey)) return 'already_imported'
  if (references.length === 0) return 'no_reference'
  if (references.length > 1) return 'several_references'
  if (!order) return 'unknown_reference'
  const payment = paymentOf({ ...line, orderId: order.orderId })
  const others = elsewhere.get(payment) ?? 0
  if (others > 0) {
    elsewhere.set(payment, others - 1)
    return 'already_imported'
  }
  if (order.method !== 'bank_transfer') return 'wrong_method'
  if (!order.isOpen) return 'order_not_open'
  if (line.amountCents !== order.amountCents || line.currency !== order.currency) return 'amount_differs'
  return paid.has(order.orderId) ? 'second_for_order' : 'credit'
}
