import { formatCents } from '@/console/orders/cents'
import type { ConfirmOutcome, MismatchReason, RefundOutcome, ResolveOutcome } from '@/console/orders/types'
import { assertNever } from '@/lib/assert'
import { formatUsd, nano } from '@/lib/money'

/** The reason of a refusal as a sentence; undefined if there was none. `keepsUnmatched`: an unmatched payment waits for a decision. */
export function orderRefusal(
  outcome: ConfirmOutcome | RefundOutcome | ResolveOutcome,
  keepsUnmatched: boolean,
): { message: string; isKept: boolean } | undefined {
  const message = refusalMessage(outcome)
  if (message === undefined) return undefined
  const isKept = keepsUnmatched && outcome.kind === 'unmatched'
  return {
    message: isKept
      ? `${message} The payment now waits among the unmatched ones, where it can be credited or dismissed.`
      : message,
    isKept,
  }
}

function refusalMessage(outcome: ConfirmOutcome | RefundOutcome | ResolveOutcome): string | undefined {
  switch (outcome.kind) {
    case 'credited':
    case 'refunded':
    case 'exists':
    case 'dismissed':
      return undefined
    case 'duplicate':
      return 'This payment was reported before.'
    case 'unmatched':
      return MISMATCHES[outcome.reason]
    case 'not_found':
      return 'It does not exist.'
    case 'unknown_order':
      return 'There is no such order.'
    case 'already_resolved':
      return 'This payment has been resolved already.'
    case 'amount_required':
      return 'The amount to credit has to be given, at most what was paid.'
    case 'amount_out_of_range':
      return `At most ${usd(outcome.maximumCents)} can be credited.`
    case 'balance_limit':
      return MISMATCHES.balance_limit
    case 'key_taken':
      return 'This request was sent before with another amount.'
    case 'not_refundable':
      return `The order is ${outcome.order.state}: there is nothing to refund.`
    case 'too_much':
      return `At most ${usd(outcome.refundableCents)} of this order can be refunded.`
    case 'insufficient_balance':
      return `The account has only ${formatUsd(nano(outcome.available))} USD left. Allow a balance below zero, or refund less.`
    default:
      return assertNever(outcome)
  }
}

const MISMATCHES: Record<MismatchReason, string> = {
  unknown_reference: 'No order has this reference.',
  underpaid: 'The amount is less than the order asks for.',
  overpaid: 'The amount is more than the order asks for.',
  wrong_currency: 'The currency is not that of the order.',
  wrong_payee: 'It was not paid to the account of the order.',
  wrong_source: 'The order is not to be paid this way.',
  wrong_reference: 'The reference belongs to another order.',
  order_expired: 'The order has expired.',
  order_cancelled: 'The order was cancelled.',
  order_already_paid: 'The order is paid already.',
  balance_limit: 'The balance would leave the range of ±9,000,000 USD.',
}

function usd(cents: number): string {
  return `${formatCents(cents)} USD`
}
