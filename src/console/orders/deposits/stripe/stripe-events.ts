/** The meaning of Stripe's webhook events for deposits. */
import type { DepositEvent, SavedCards } from '@/console/orders/deposits/deposit-provider'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { isCharge, readCardEvent, readCharge } from './stripe-charges'
import { textIn, textOf } from './stripe-fields'
import { paymentIntentOf, readDispute, readRefund, readSession, type Session } from './stripe-objects'

type ReaderDeps = {
  isLive: boolean
  /** The session or the charge of a payment; undefined if the payment has neither. */
  paymentOf(paymentIntentId: string): Promise<Pick<Session, 'id' | 'isOurs'> | undefined>
  /** The card that was saved on a page. */
  savedOn: SavedCards['savedOn']
  refundsOf(paymentIntentId: string): Promise<object[]>
}

/** Every event that the webhook has to be subscribed to. */
export const STRIPE_EVENTS = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'charge.refunded',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_method.detached',
  'payment_method.automatically_updated',
] as const

/** Events that move no money: one of {@link STRIPE_EVENTS} reports the same movement. */
const MOVES_NOTHING: ReadonlySet<string> = new Set([
  'charge.captured',
  'charge.dispute.updated',
  'charge.expired',
  'charge.failed',
  'charge.pending',
  'charge.refund.updated',
  'charge.succeeded',
  'charge.updated',
])
const OF_MONEY = /^(charge|checkout|refund)\./

/** Reads verified events. Asks Stripe only which order a refund or a dispute is about. */
export function stripeEventReader(deps: ReaderDeps): (event: JsonObject) => Promise<DepositEvent[]> {
  return async ({ type, data, livemode, account }) => {
    if (typeof type !== 'string') return [{ kind: 'malformed', reason: 'type' }]
    const isKnown = STRIPE_EVENTS.some((known) => known === type)
    if (!isKnown) return [{ kind: OF_MONEY.test(type) && !MOVES_NOTHING.has(type) ? 'unknown' : 'ignored', type }]
    // `account` is set for events of another Stripe account that is connected to ours.
    if (livemode !== deps.isLive || account !== undefined) return [{ kind: 'ignored', type }]
    const object = isJsonObject(data) ? data.object : undefined
    if (!isJsonObject(object)) return [{ kind: 'malformed', reason: 'data' }]
    if (type.startsWith('checkout.'))
      return object.mode === 'setup' ? readSetup(deps, type, object) : readCheckout(type, object)
    if (type.startsWith('payment_method.')) return readCardEvent(type, object)
    if (type.startsWith('payment_intent.')) return isCharge(object) ? readCharge(object) : [{ kind: 'ignored', type }]
    return readReversals(deps, type, object)
  }
}

function readCheckout(type: string, object: JsonObject): DepositEvent[] {
  const { id: paymentId, isOurs, event } = readSession(object)
  if (!isOurs) return [{ kind: 'ignored', type }]
  if (type === 'checkout.session.expired') return [{ kind: 'ended', paymentId, why: 'expired' }]
  if (type === 'checkout.session.async_payment_failed') return [{ kind: 'ended', paymentId, why: 'failed' }]
  return [event ?? { kind: 'malformed', reason: 'status' }]
}

/** The event names only the page, so the card's present data are read from Stripe. */
async function readSetup({ savedOn }: ReaderDeps, type: string, object: JsonObject): Promise<DepositEvent[]> {
  const pageId = textOf(object.id)
  const isOurs = textIn(object.metadata, 'account') !== undefined
  if (type !== 'checkout.session.completed' || !isOurs || pageId === undefined) return [{ kind: 'ignored', type }]
  return [(await savedOn(pageId)) ?? { kind: 'ignored', type }]
}

async function readReversals(deps: ReaderDeps, type: string, object: JsonObject): Promise<DepositEvent[]> {
  const paymentIntentId = paymentIntentOf(object)
  const payment = paymentIntentId === undefined ? undefined : await deps.paymentOf(paymentIntentId)
  if (paymentIntentId === undefined || !payment?.isOurs) return [{ kind: 'ignored', type }]
  if (type.startsWith('refund.')) return readRefund(object, payment.id)
  if (type !== 'charge.refunded') return readDispute(object, payment.id, type)
  const refunds = await deps.refundsOf(paymentIntentId)
  return refunds.flatMap((refund) => readRefund(refund, payment.id))
}
