/** Saves cards on Stripe's own page, charges them without their owner's action, and removes them. */
import type Stripe from 'stripe'
import type { CardCharge, DepositEvent, SavedCards } from '@/console/orders/deposits/deposit-provider'
import { assert } from '@/lib/assert'
import { readCharge, readFailedCharge } from './stripe-charges'
import type { StripeSettings } from './stripe-client'

const MS_PER_SECOND = 1000
/** The most charges that Stripe lists at once. No card has that many charges since an order was created. */
const LIST_SIZE = 100
/** Allowed difference between Stripe's clock and ours. */
const MARGIN_SECONDS = 300

/** The saved cards of `settings`' account. */
export function createStripeCards(client: () => Promise<Stripe>, settings: StripeSettings): SavedCards {
  return {
    openPage: async (request) => openPage(await client(), settings, request),
    savedOn: async (pageId) => savedOn(await client(), pageId),
    charge: async (charge) => makeCharge(await client(), settings, charge),
    find: async (charge) => find(await client(), charge),
    async remove(cardId) {
      const stripe = await client()
      try {
        await stripe.paymentMethods.detach(cardId)
      } catch (error) {
        if (!isInvalid(error)) throw error
      }
    },
  }
}

async function openPage(
  stripe: Stripe,
  { addsTax, billingAddress }: StripeSettings,
  { accountId, email, customer, returnUrl }: Parameters<SavedCards['openPage']>[0],
): ReturnType<SavedCards['openPage']> {
  const metadata = { account: accountId }
  const session = await stripe.checkout.sessions.create({
    mode: 'setup',
    currency: 'usd',
    allowed_payment_method_types: ['card'],
    client_reference_id: accountId,
    metadata,
    setup_intent_data: { metadata, description: 'Card for automatic top-ups' },
    ...(customer === undefined ? { customer_creation: 'always', customer_email: email } : { customer }),
    success_url: `${returnUrl}?card`,
    cancel_url: returnUrl,
    // Tax needs the customer's address, and nobody can enter one during a later charge.
    billing_address_collection: addsTax ? 'required' : billingAddress,
  })
  assert(session.url !== null, 'a new session has a page')
  return { pageId: session.id, url: session.url }
}

async function savedOn(stripe: Stripe, pageId: string): ReturnType<SavedCards['savedOn']> {
  const expand = ['setup_intent.payment_method']
  const { status, metadata, setup_intent: setup } = await stripe.checkout.sessions.retrieve(pageId, { expand })
  const accountId = metadata?.account
  if (status !== 'complete' || accountId === undefined || typeof setup !== 'object' || !setup) return undefined
  const { payment_method: method, created } = setup
  // Stripe detaches a removed card from its customer.
  if (typeof method !== 'object' || !method?.card || method.customer === null) return undefined
  const { brand, last4: lastFour, exp_month: expMonth, exp_year: expYear } = method.card
  const customer = typeof method.customer === 'string' ? method.customer : method.customer.id
  const card = { customer, id: method.id, brand, lastFour, expMonth, expYear }
  return { kind: 'card_saved', accountId, card, savedAt: new Date(created * MS_PER_SECOND) }
}

async function makeCharge(stripe: Stripe, settings: StripeSettings, charge: CardCharge): Promise<DepositEvent[]> {
  const { orderId, reference, amountCents, card } = charge
  try {
    const tax = settings.addsTax ? await computeTax(stripe, charge) : undefined
    const intent = await stripe.paymentIntents.create(
      {
        amount: amountCents + (tax?.cents ?? 0),
        currency: 'usd',
        customer: card.customer,
        payment_method: card.id,
        allowed_payment_method_types: ['card'],
        off_session: true,
        confirm: true,
        description: `Prepaid credit, automatic top-up, order ${reference}`,
        metadata: { order: orderId, reference, charge: 'auto_top_up', tax_cents: String(tax?.cents ?? 0) },
        ...(tax && { hooks: { inputs: { tax: { calculation: tax.calculation } } } }),
      },
      { idempotencyKey: `${orderId}-charge` },
    )
    return readCharge(intent)
  } catch (error) {
    const failure = readFailedCharge(error, orderId)
    if (!failure) throw error
    return [failure]
  }
}

/** A charge without a Stripe page needs its own tax calculation; Stripe books the tax with the payment. */
async function computeTax(
  stripe: Stripe,
  { orderId, amountCents, card }: CardCharge,
): Promise<{ cents: number; calculation: string }> {
  const { billing_details: billing } = await stripe.paymentMethods.retrieve(card.id)
  const { country, line1, line2, city, state, postal_code: postalCode } = billing.address ?? {}
  const address = {
    ...{ country: country ?? '', line1: line1 ?? '', line2: line2 ?? '' },
    ...{ city: city ?? '', state: state ?? '', postal_code: postalCode ?? '' },
  }
  const calculation = await stripe.tax.calculations.create(
    {
      currency: 'usd',
      customer_details: { address, address_source: 'billing' },
      line_items: [{ amount: amountCents, reference: orderId, tax_behavior: 'exclusive' }],
    },
    { idempotencyKey: `${orderId}-tax` },
  )
  assert(calculation.id !== null, 'a new calculation has an id')
  return { cents: calculation.amount_total - amountCents, calculation: calculation.id }
}

async function find(stripe: Stripe, { orderId, card, since }: CardCharge): Promise<DepositEvent[] | undefined> {
  const gte = Math.floor(since.getTime() / MS_PER_SECOND) - MARGIN_SECONDS
  const { data } = await stripe.paymentIntents.list({ customer: card.customer, created: { gte }, limit: LIST_SIZE })
  const intent = data.find(({ metadata }) => metadata.order === orderId && metadata.charge !== undefined)
  return intent && readCharge(intent)
}

/** Whether Stripe refused the request as invalid. For a removal, this means that the card does not exist. */
function isInvalid(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'StripeInvalidRequestError'
}
