/** Whether a payment is the one its order waits for. */

import { findReferences } from './reference'
import type { OrderRow } from './rows'
import type { MismatchReason, PaymentNotice, PaymentSource } from './types'

/** Why the payment must not be credited by itself; undefined where everything that is known of it fits. */
export function mismatchOf(order: OrderRow, notice: PaymentNotice): MismatchReason | undefined {
  if (!isSourceOf(order, notice.source)) return 'wrong_source'
  if (notice.reference !== undefined && !findReferences(notice.reference).includes(order.reference)) {
    return 'wrong_reference'
  }
  if (notice.payee !== undefined && (order.payee === null || plain(notice.payee) !== plain(order.payee))) {
    return 'wrong_payee'
  }
  if (notice.currency.toUpperCase() !== order.currency) return 'wrong_currency'
  const closed = MISMATCH_OF_STATE[order.state]
  if (closed) return closed
  if (notice.amountCents < order.amountCents) return 'underpaid'
  return notice.amountCents > order.amountCents ? 'overpaid' : undefined
}

const MISMATCH_OF_STATE = {
  pending: undefined,
  expired: 'order_expired',
  cancelled: 'order_cancelled',
  paid: 'order_already_paid',
  partly_refunded: 'order_already_paid',
  refunded: 'order_already_paid',
  charged_back: 'order_already_paid',
} as const satisfies Record<OrderRow['state'], MismatchReason | undefined>

/** A provider confirms only what it was asked to collect: the order of one is never paid by the webhook of another. */
function isSourceOf({ method, provider }: OrderRow, source: PaymentSource): boolean {
  if (source === 'manual') return true
  return source === 'bank' ? method === 'bank_transfer' : method === 'deposit' && source === `deposit:${provider}`
}

/** Account numbers are written with and without spaces, and IBANs in either case. */
function plain(account: string): string {
  return account.replace(/\s/g, '').toUpperCase()
}
