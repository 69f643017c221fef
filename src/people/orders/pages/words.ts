/** Labels of orders: states, methods, events, and reasons why a payment needs a check. */
import type { Tone } from '@/dashboard/components/status'
import type { AutoTopUp, Order, OrderDetail, OrderState } from './order-data'

export const STATE_WORDS: Record<OrderState, { label: string; tone: Tone }> = {
  pending: { label: 'Waiting for payment', tone: 'waiting' },
  paid: { label: 'Paid', tone: 'good' },
  expired: { label: 'Expired', tone: 'neutral' },
  cancelled: { label: 'Cancelled', tone: 'neutral' },
  partly_refunded: { label: 'Partly refunded', tone: 'info' },
  refunded: { label: 'Refunded', tone: 'info' },
  charged_back: { label: 'Charged back', tone: 'bad' },
}

type Paid = Pick<Order, 'method' | 'provider'> & Partial<Pick<Order, 'origin' | 'card'>>

/** The order's way of payment, and whether the order was automatic. */
export function methodWords({ method, provider, origin, card }: Paid): string {
  if (method === 'bank_transfer') return 'Bank transfer'
  const words = provider === 'stripe' ? 'Card' : 'Deposit'
  if (origin !== 'auto_top_up') return words
  return `${card ? cardWords(card) : words}, automatic`
}

/** Names of card brands that are not just the capitalised word. */
const BRANDS: Record<string, string> = {
  amex: 'American Express',
  diners: 'Diners Club',
  jcb: 'JCB',
  unionpay: 'UnionPay',
}

/** A saved card, without its number. */
export function cardWords({ brand, lastFour }: { brand: string; lastFour: string }): string {
  const name = BRANDS[brand] ?? brand.charAt(0).toUpperCase() + brand.slice(1)
  return `${name} ending in ${lastFour}`
}

/** Why an auto top-up is off. */
export const STOP_WORDS: Record<NonNullable<AutoTopUp['stopped']>, string> = {
  person: 'It was turned off.',
  card_removed: 'The saved card was removed.',
  card_gone: 'The saved card was removed at the payment provider.',
  card_refused: 'The bank or the payment provider refuses the saved card. Save another one.',
  declined: 'The last three charges of the saved card failed. Check the card, or save another one.',
  returned: 'A payment was refunded or charged back, so the card is not charged again by itself.',
}

export const EVENT_WORDS: Record<OrderDetail['events'][number]['kind'], string> = {
  created: 'Order created',
  claimed: 'You told us that you have paid',
  paid: 'Payment credited',
  expired: 'Expired without payment',
  cancelled: 'Cancelled',
  payment_unmatched: 'Payment received, waiting for review',
  refunded: 'Refunded',
  charged_back: 'Taken back by your bank',
  reinstated: 'Credit given back',
  reversal_kept: 'Payment reversed, waiting for review',
  processing: 'Payment started, your bank is working on it',
  failed: 'The payment failed',
  confirmation_needed: 'Your bank asks you to confirm the payment',
}

const MISMATCH_WORDS: Record<string, string> = {
  underpaid: 'it is less than the order asks for',
  overpaid: 'it is more than the order asks for',
  wrong_currency: 'it is not in US dollars',
  wrong_payee: 'it went to another account than the one of this order',
  wrong_source: 'it came another way than the order was to be paid',
  wrong_reference: 'its reference is not the one of this order',
  order_expired: 'the order had expired by then',
  order_cancelled: 'the order had been cancelled by then',
  order_already_paid: 'the order had been paid already',
  balance_limit: 'the balance would exceed what an account can hold',
}

/** Why a payment was not credited automatically, as the end of a sentence. */
export function mismatchWords(mismatch: string | null): string {
  return MISMATCH_WORDS[mismatch ?? ''] ?? 'it could not be matched automatically'
}

/** An IBAN in groups of four characters. */
export function groupIban(iban: string): string {
  return iban.replace(/(.{4})(?=.)/g, '$1 ')
}
