/** Labels of administration: orders, payments, statement lines, approvals, circuits. */
import type { Tone } from '@/dashboard/components/status'
import { formatMoney } from '@/dashboard/format'
import type { Approval, ApprovalStatus, Committed, PreviewLine, ProviderHealth, Trials } from './admin-data'

type Word = { label: string; tone: Tone }

const EVENT_WORDS: Readonly<Record<string, string>> = {
  created: 'Order created',
  claimed: 'Customer says it is paid',
  paid: 'Payment credited',
  expired: 'Expired without payment',
  cancelled: 'Cancelled',
  payment_unmatched: 'Payment kept for review',
  refunded: 'Refunded',
  charged_back: 'Charged back by the payer’s bank',
  reinstated: 'Won back: credit given back',
  reversal_kept: 'Chargeback or refund that took nothing: look at it',
  processing: 'Payment started, the payer’s bank is working on it',
  failed: 'The payment failed',
}

/** The label of an order's event. */
export function eventWords(kind: string): string {
  return EVENT_WORDS[kind] ?? kind
}

const MISMATCH_WORDS: Readonly<Record<string, string>> = {
  unknown_reference: 'No order has its reference',
  underpaid: 'Less than the order asks for',
  overpaid: 'More than the order asks for',
  wrong_currency: 'Another currency than the order',
  wrong_payee: 'Paid to another account',
  wrong_source: 'Came another way than the order was to be paid',
  wrong_reference: 'The reference of another order',
  order_expired: 'The order had expired',
  order_cancelled: 'The order was cancelled',
  order_already_paid: 'The order was paid already',
  balance_limit: 'The balance would exceed the maximum of an account',
}

/** The reason why a payment was not credited automatically. */
export function mismatchWords(mismatch: string | null): string {
  return MISMATCH_WORDS[mismatch ?? ''] ?? 'Fits no order'
}

const REVERSAL_WORDS: Readonly<Record<string, string>> = {
  chargeback: 'Chargeback',
  refund: 'Refund by the provider',
  reinstatement: 'Won back',
}
const REVERSAL_STATE_WORDS: Readonly<Record<string, string>> = {
  applied: 'the credit followed',
  waiting: 'its payment is not credited',
  kept: 'nothing was moved, check it',
}
const REVERSAL_FAULT_WORDS: Readonly<Record<string, string>> = {
  wrong_currency: 'Another currency than what it undoes',
  balance_limit: 'The balance would exceed the limits of an account',
  nothing_taken: 'What it undoes took no credit',
  wrong_kind: 'It undoes something that cannot be undone',
}

/** The label of a reversal and its outcome. */
export function reversalWords(kind: string, state: string): string {
  return `${REVERSAL_WORDS[kind] ?? kind}: ${REVERSAL_STATE_WORDS[state] ?? state}`
}

/** The reason why the reversal had no effect on credit. */
export function reversalFaultWords(fault: string): string {
  return REVERSAL_FAULT_WORDS[fault] ?? fault
}

/** An amount of any currency: `5000.00` and `USD` → `5,000.00 USD`. */
export function formatAmount(amount: string, currency: string): string {
  return `${formatMoney(amount).replace('$', '')} ${currency}`
}

export const VERDICT_WORDS: Record<PreviewLine['verdict'], Word & { explanation: string }> = {
  credit: { label: 'Will be credited', tone: 'good', explanation: 'Reference and amount fit an open order.' },
  amount_differs: { label: 'Amount differs', tone: 'bad', explanation: 'Amount or currency is not that of the order.' },
  order_not_open: { label: 'Order not open', tone: 'bad', explanation: 'Its order is paid, expired or cancelled.' },
  wrong_method: { label: 'Not a bank order', tone: 'bad', explanation: 'Its order is to be paid as a deposit.' },
  second_for_order: { label: 'Second for one order', tone: 'bad', explanation: 'An earlier line pays the same order.' },
  already_imported: { label: 'Already imported', tone: 'neutral', explanation: 'This line was imported before.' },
  unknown_reference: { label: 'Unknown reference', tone: 'waiting', explanation: 'No order has this reference.' },
  several_references: {
    label: 'Several references',
    tone: 'waiting',
    explanation: 'Its text names more than one order.',
  },
  no_reference: { label: 'No reference', tone: 'neutral', explanation: 'Its text names no order.' },
  outgoing: { label: 'Outgoing', tone: 'neutral', explanation: 'Money that left the account.' },
  not_booked: { label: 'Not booked', tone: 'neutral', explanation: 'The bank has not booked it yet.' },
  reversal: {
    label: 'Reversal',
    tone: 'bad',
    explanation: 'The bank undid an earlier booking. Check the order, and correct it there.',
  },
  unclear_batch: {
    label: 'Unclear batch',
    tone: 'bad',
    explanation: 'The amounts of its payments do not add up. Confirm the orders by hand.',
  },
}

export const RESULT_WORDS: Record<Committed['lines'][number]['result'], Word> = {
  credited: { label: 'Credited', tone: 'good' },
  awaiting_approval: { label: 'Waits for approval', tone: 'waiting' },
  kept: { label: 'Kept as unmatched payment', tone: 'info' },
  refused: { label: 'Imported before', tone: 'neutral' },
  rejected: { label: 'Rejected', tone: 'bad' },
}

export const APPROVAL_WORDS: Record<ApprovalStatus, Word> = {
  pending: { label: 'Pending', tone: 'waiting' },
  executed: { label: 'Approved and done', tone: 'good' },
  failed: { label: 'Could not be done', tone: 'bad' },
  rejected: { label: 'Rejected', tone: 'bad' },
  withdrawn: { label: 'Withdrawn', tone: 'neutral' },
  expired: { label: 'Expired', tone: 'neutral' },
}

export const KIND_WORDS: Record<Approval['kind'], string> = {
  'credit.add': 'Add credit by an operator key',
  'credit.adjust': 'Adjust credit',
  'order.confirm': 'Confirm an order',
  'order.refund': 'Refund an order',
  'payment.credit': 'Credit an unmatched payment',
  'statement.credit': 'Credit a line of a bank statement',
}

export const CIRCUIT_WORDS: Record<ProviderHealth['targets'][number]['circuit'], Word> = {
  closed: { label: 'Healthy', tone: 'good' },
  'half-open': { label: 'Being tried', tone: 'waiting' },
  open: { label: 'Left alone', tone: 'bad' },
}

export const KEY_WORDS: Record<ProviderHealth['keys'][number]['state'], Word> = {
  usable: { label: 'Usable', tone: 'good' },
  cooling: { label: 'Cooling down', tone: 'waiting' },
  out: { label: 'Refused by the provider', tone: 'bad' },
}

export const ACCOUNT_WORDS = {
  active: { label: 'Active', tone: 'good' },
  suspended: { label: 'Suspended', tone: 'bad' },
} as const satisfies Record<string, Word>

export const TRIAL_WORDS: Record<Trials['targets'][number]['text'], Word> = {
  works: { label: 'Works', tone: 'good' },
  fails: { label: 'Fails', tone: 'bad' },
  untried: { label: 'Not tried', tone: 'neutral' },
}
