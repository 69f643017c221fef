/** Decides what a line of a bank statement will do: a pure function of the line and the current state. */

import { findReferences } from '@/console/orders/reference'
import type { LineVerdict } from '@/db/administration-schema'
import type { StatementLine } from './read-statement'

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
}

export type JudgedLine = StatementLine & { verdict: LineVerdict; order: KnownOrder | undefined }

/** Verdicts for real payments that name an order: a commit keeps them as unmatched payments. */
export const KEPT_VERDICTS: ReadonlySet<LineVerdict> = new Set([
  'amount_differs',
  'order_not_open',
  'wrong_method',
  'second_for_order',
])

/** Decides all lines in order: of two lines for one order, the first pays it. */
export function judgeLines(lines: readonly StatementLine[], facts: KnownFacts): JudgedLine[] {
  const paid = new Set<string>()
  return lines.map((line) => {
    const references = line.amountCents > 0 ? findReferences(line.reference) : []
    const order = references.length === 1 ? facts.orders.get(references[0] ?? '') : undefined
    const verdict = verdictOf(line, references, order, facts, paid)
    if (verdict === 'credit' && order) paid.add(order.orderId)
    return { ...line, verdict, order }
  })
}

function verdictOf(
  line: StatementLine,
  references: readonly string[],
  order: KnownOrder | undefined,
  { imported }: KnownFacts,
  paid: ReadonlySet<string>,
): LineVerdict {
  if (line.amountCents <= 0) return 'outgoing'
  if (imported.has(line.lineKey)) return 'already_imported'
  if (references.length === 0) return 'no_reference'
  if (references.length > 1) return 'several_references'
  if (!order) return 'unknown_reference'
  if (order.method !== 'bank_transfer') return 'wrong_method'
  if (!order.isOpen) return 'order_not_open'
  if (line.amountCents !== order.amountCents || line.currency !== order.currency) return 'amount_differs'
  return paid.has(order.orderId) ? 'second_for_order' : 'credit'
}
