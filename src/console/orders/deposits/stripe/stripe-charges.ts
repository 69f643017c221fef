/** Makes deposit events of charges of saved cards: from Stripe's answers, errors and webhook events. */
import type { DepositEvent } from '@/console/orders/deposits/deposit-provider'
import { fieldOf, idOf, readMoney, textIn, textOf } from './stripe-fields'

type Failure = Extract<DepositEvent, { kind: 'charge_failed' }>

/** The fields of a payment intent that this file reads. */
type IntentObject = {
  id?: unknown
  status?: unknown
  amount_received?: unknown
  currency?: unknown
  metadata?: unknown
  last_payment_error?: unknown
}

/** Error codes which mean that no later charge of the card can succeed. */
const HOPELESS: ReadonlySet<string> = new Set([
  'expired_card',
  'incorrect_number',
  'invalid_account',
  'lost_card',
  'pickup_card',
  'restricted_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'stolen_card',
])
const NEEDS_CONFIRMATION = 'authentication_required'

/** Whether a payment intent is a charge of a saved card by this gateway. */
export function isCharge(intent: object): boolean {
  const metadata = fieldOf(intent, 'metadata')
  return textIn(metadata, 'charge') === 'auto_top_up' && textIn(metadata, 'order') !== undefined
}

/** The events of a charge; none while the charge is pending. */
export function readCharge(intent: IntentObject): DepositEvent[] {
  const { id, status, metadata, last_payment_error: error } = intent
  const [paymentId, orderId, reference] = [textOf(id), textIn(metadata, 'order'), textIn(metadata, 'reference')]
  if (paymentId === undefined || orderId === undefined) return [{ kind: 'malformed', reason: 'charge' }]
  if (status === 'requires_action')
    return [{ kind: 'charge_failed', orderId, why: 'confirm', code: NEEDS_CONFIRMATION }]
  if (status === 'requires_payment_method' || status === 'canceled') return [failureOf(error, orderId)]
  if (status !== 'succeeded') return []
  const money = readMoney(intent.amount_received, intent.currency)
  const taxCents = Number(textIn(metadata, 'tax_cents') ?? Number.NaN)
  const isSound = Number.isInteger(taxCents) && taxCents >= 0 && money !== undefined && taxCents < money.amountCents
  if (!isSound || reference === undefined) return [{ kind: 'malformed', reason: 'charge' }]
  const facts = { externalId: paymentId, paymentId, chargedOrderId: orderId, reference, ...money, taxCents }
  return [{ kind: 'received', ...facts, sender: undefined, isTimely: true }]
}

/** The failure that an error of Stripe's package means. Undefined if the charge may still succeed, or if Stripe did not process it. */
export function readFailedCharge(error: unknown, orderId: string): Failure | undefined {
  const type = textIn(error, 'type')
  if (type === 'StripeCardError') return failureOf(error, orderId)
  if (type !== 'StripeInvalidRequestError') return undefined
  return { kind: 'charge_failed', orderId, why: 'unusable', code: textIn(error, 'code') ?? 'invalid_request' }
}

/** `error` contains the code of the failure, and the bank's reason. */
function failureOf(error: unknown, orderId: string): Failure {
  const code = textIn(error, 'code') ?? 'unknown'
  const reason = textIn(error, 'decline_code')
  const codes = [code, ...(reason === undefined ? [] : [reason])]
  const why = codes.includes(NEEDS_CONFIRMATION)
    ? 'confirm'
    : codes.some((one) => HOPELESS.has(one))
      ? 'unusable'
      : 'declined'
  return { kind: 'charge_failed', orderId, why, code: codes.join(': ') }
}

/** The card in an event about a saved card. */
export function readCardEvent(type: string, method: object): DepositEvent[] {
  const cardId = idOf(method)
  if (cardId === undefined) return [{ kind: 'malformed', reason: 'card' }]
  if (type === 'payment_method.detached') return [{ kind: 'card_gone', cardId }]
  const card = fieldOf(method, 'card')
  const [expMonth, expYear] = [fieldOf(card, 'exp_month'), fieldOf(card, 'exp_year')]
  if (typeof expMonth !== 'number' || typeof expYear !== 'number') return [{ kind: 'ignored', type }]
  return [{ kind: 'card_renewed', cardId, expMonth, expYear }]
}
