/** Deposits by Stripe Checkout: customers pay on Stripe's own page, so no card data comes near the gateway. */
import type Stripe from 'stripe'
import type {
  DepositEvent,
  DepositInquiry,
  DepositOrder,
  DepositPayment,
  DepositProvider,
} from '@/console/orders/deposits/deposit-provider'
import { assert } from '@/lib/assert'
import type { Clock } from '@/lib/clock'
import { createStripeCards } from './stripe-cards'
import { isCharge, readCharge } from './stripe-charges'
import { type StripeSettings, stripeClient } from './stripe-client'
import { stripeEventReader } from './stripe-events'
import { readDispute, readRefund, readSession } from './stripe-objects'
import { stripeSignature } from './stripe-signature'

/** One hour less than Stripe keeps a page open, since the clocks of two machines differ. */
const LIFETIME_MS = 23 * 3_600_000
/** Events contain whole objects; disputes also contain the texts of the evidence. */
const MAX_WEBHOOK_BYTES = 512 * 1024
const MS_PER_SECOND = 1000
/** The most refunds or disputes that Stripe lists at once. No payment has that many. */
const LIST_SIZE = 100

/** Takes deposits on the page of Stripe Checkout. */
export function createStripeProvider(settings: StripeSettings, clock: Clock): DepositProvider {
  const client = stripeClient(settings)
  const cards = createStripeCards(client, settings)
  return {
    name: 'stripe',
    lifetimeMs: LIFETIME_MS,
    maxWebhookBytes: MAX_WEBHOOK_BYTES,
    ...stripeSignature(client, settings.webhookSecrets, clock),
    createPayment: async (order) => createPayment(await client(), settings, order),
    readEvents: stripeEventReader({
      isLive: settings.isLive,
      paymentOf: async (paymentIntentId) => paymentOf(await client(), paymentIntentId),
      savedOn: cards.savedOn,
      refundsOf: async (paymentIntentId) => refundsOf(await client(), paymentIntentId),
    }),
    inquiry: createInquiry(client, settings),
    cards,
  }
}

async function paymentOf(
  stripe: Stripe,
  paymentIntentId: string,
): Promise<{ id: string; isOurs: boolean } | undefined> {
  const { data } = await stripe.checkout.sessions.list({ payment_intent: paymentIntentId, limit: 1 })
  if (data[0]) return readSession(data[0])
  const intent = await stripe.paymentIntents.retrieve(paymentIntentId).catch(nothingIfMissing)
  return intent && { id: intent.id, isOurs: isCharge(intent) }
}

async function createPayment(stripe: Stripe, settings: StripeSettings, order: DepositOrder): Promise<DepositPayment> {
  const session = await stripe.checkout.sessions.create(sessionOf(settings, order), { idempotencyKey: order.orderId })
  assert(session.url !== null, 'a new session has a page')
  return { paymentId: session.id, url: session.url, account: null }
}

/** Depends only on the order, because Stripe refuses an idempotency key with a different body. */
function sessionOf(settings: StripeSettings, order: DepositOrder): Stripe.Checkout.SessionCreateParams {
  const { orderId, reference, amountCents, expiresAt, email, returnUrl } = order
  assert(returnUrl !== undefined, 'Stripe needs an address to send the customer back to')
  const metadata = { order: orderId, reference }
  return {
    mode: 'payment',
    client_reference_id: orderId,
    metadata,
    payment_intent_data: { metadata, description: `Prepaid credit, order ${reference}` },
    customer_email: email,
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: 'usd',
          unit_amount: amountCents,
          tax_behavior: 'exclusive',
          product_data: { name: `Prepaid credit, order ${reference}` },
        },
      },
    ],
    success_url: `${returnUrl}?paid`,
    cancel_url: returnUrl,
    expires_at: Math.floor(expiresAt.getTime() / MS_PER_SECOND),
    invoice_creation: { enabled: settings.hasInvoices },
    automatic_tax: { enabled: settings.addsTax },
    tax_id_collection: { enabled: settings.asksTaxId },
    billing_address_collection: settings.billingAddress,
    // Without this setting, Stripe lets customers pay in their own currency, at Stripe's exchange rate.
    adaptive_pricing: { enabled: false },
  }
}

function createInquiry(client: () => Promise<Stripe>, { addsTax }: StripeSettings): DepositInquiry {
  return {
    addsTax,
    lookUp: async (id) => (isIntent(id) ? lookUpCharge(await client(), id) : lookUp(await client(), id)),
    async close(sessionId) {
      // A charge of a saved card cannot be cancelled.
      if (isIntent(sessionId)) return false
      const stripe = await client()
      try {
        await stripe.checkout.sessions.expire(sessionId)
        return true
      } catch (error) {
        if (!isRefusal(error)) throw error
        return (await stripe.checkout.sessions.retrieve(sessionId)).status === 'expired'
      }
    },
    async documentUrl(sessionId) {
      const stripe = await client()
      if (isIntent(sessionId)) {
        const intent = await stripe.paymentIntents.retrieve(sessionId, { expand: ['latest_charge'] })
        return receiptOf(intent.latest_charge)
      }
      const expand = ['invoice', 'payment_intent.latest_charge']
      const { invoice, payment_intent: payment } = await stripe.checkout.sessions.retrieve(sessionId, { expand })
      const invoiceUrl = isObject(invoice) ? invoice.hosted_invoice_url : null
      return invoiceUrl ?? (isObject(payment) ? receiptOf(payment.latest_charge) : undefined)
    },
  }
}

function receiptOf(charge: string | Stripe.Charge | null): string | undefined {
  return (isObject(charge) ? charge.receipt_url : null) ?? undefined
}

/** Whether a payment is the charge of a saved card, not a page. */
function isIntent(paymentId: string): boolean {
  return paymentId.startsWith('pi_')
}

async function lookUpCharge(stripe: Stripe, intentId: string): ReturnType<DepositInquiry['lookUp']> {
  const intent = await stripe.paymentIntents.retrieve(intentId).catch(nothingIfMissing)
  const [event] = intent ? readCharge(intent) : []
  if (event?.kind !== 'received') return { events: [], isFinal: true }
  return { events: [event, ...(await reversalsOf(stripe, intentId, intentId))], isFinal: true }
}

async function reversalsOf(stripe: Stripe, paymentIntentId: string, paymentId: string): Promise<DepositEvent[]> {
  const disputes = await stripe.disputes.list({ payment_intent: paymentIntentId, limit: LIST_SIZE })
  const refunds = await refundsOf(stripe, paymentIntentId)
  return [
    ...refunds.flatMap((refund) => readRefund(refund, paymentId)),
    ...disputes.data.flatMap((dispute) => readDispute(dispute, paymentId)),
  ]
}

async function lookUp(stripe: Stripe, sessionId: string): ReturnType<DepositInquiry['lookUp']> {
  const expand = ['payment_intent']
  const found = await stripe.checkout.sessions.retrieve(sessionId, { expand }).catch(nothingIfMissing)
  if (!found) return { events: [], isFinal: true }
  const session = readSession(found)
  const { id: paymentId, paymentIntentId, event } = session
  if (event?.kind === 'received' && paymentIntentId !== undefined) {
    return { events: [event, ...(await reversalsOf(stripe, paymentIntentId, paymentId))], isFinal: true }
  }
  if (found.status === 'expired') return { events: [{ kind: 'ended', paymentId, why: 'expired' }], isFinal: true }
  const payment = found.payment_intent
  const hasFailed = found.status === 'complete' && isObject(payment) && HOPELESS.has(payment.status)
  if (hasFailed) return { events: [{ kind: 'ended', paymentId, why: 'failed' }], isFinal: true }
  return { events: event ? [event] : [], isFinal: false }
}

/** States that mean that the bank refused the payment of a completed page. */
const HOPELESS: ReadonlySet<string> = new Set(['requires_payment_method', 'canceled'])

async function refundsOf(stripe: Stripe, paymentIntentId: string): Promise<Stripe.Refund[]> {
  return (await stripe.refunds.list({ payment_intent: paymentIntentId, limit: LIST_SIZE })).data
}

/** Stripe understood the request, and refuses it permanently. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && (error.statusCode === 400 || error.statusCode === 404)
}

function nothingIfMissing(error: unknown): undefined {
  if (isRefusal(error)) return undefined
  throw error
}

/** Whether Stripe has expanded an id into the object. */
function isObject<T>(value: string | T | null | undefined): value is T {
  return typeof value === 'object' && value !== null
}
