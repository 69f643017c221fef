/** Every request that the gateway sends to Stripe is valid by the schema of Stripe's API. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { testClock } from '@test/console/orders/fixture'
import { STRIPE_KEY } from '@test/support/stripe-stub'
import type { DepositProvider } from '@/console/orders/deposits/deposit-provider'
import type { StripeSettings } from '@/console/orders/deposits/stripe/stripe-client'
import { createStripeProvider } from '@/console/orders/deposits/stripe/stripe-provider'
import { assert } from '@/lib/assert'
import { startStripeMock } from './stripe-mock'

type Answer = { line: string; status: number; text: string }

let mock: { url: string; stop(): Promise<void> }
let between: Bun.Server<undefined>
let answers: Answer[] = []

beforeAll(async () => {
  mock = await startStripeMock()
  // Between both, to see each answer: the gateway takes some refusals for an answer.
  between = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', development: false },
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const body = request.method === 'GET' ? undefined : inFormerWords(pathname, await request.text())
      const headers = new Headers(request.headers)
      headers.delete('content-length')
      const response = await fetch(`${mock.url}${pathname}${search}`, {
        method: request.method,
        headers,
        ...(body !== undefined && { body }),
      })
      const text = await response.text()
      answers.push({ line: `${request.method} ${pathname}`, status: response.status, text })
      return new Response(text, { status: response.status, headers: { 'content-type': 'application/json' } })
    },
  })
})
afterAll(async () => {
  await between.stop(true)
  await mock.stop()
})

/** The mock knows the API of some weeks before ours, in which a session's list of ways to pay had another name. */
function inFormerWords(path: string, form: string): string {
  return path === '/v1/checkout/sessions'
    ? form.replaceAll('allowed_payment_method_types', 'payment_method_types')
    : form
}

function providerWith(settings: Partial<StripeSettings>): DepositProvider {
  const all: StripeSettings = {
    ...{
      secretKey: STRIPE_KEY,
      isLive: false,
      webhookSecrets: ['whsec_x'],
      apiBase: `http://127.0.0.1:${between.port}`,
    },
    ...{ hasInvoices: true, addsTax: false, asksTaxId: false, billingAddress: 'auto', ...settings },
  }
  return createStripeProvider(all, testClock())
}

const CARD = { customer: 'cus_1', id: 'pm_1', brand: 'visa', lastFour: '4242', expMonth: 12, expYear: 2040 }
const CHARGE = { orderId: 'order_1', reference: 'SVC-7K3M-9QXP', amountCents: 5_000, card: CARD, since: new Date() }
const PAGE = { accountId: 'acct_1', email: 'a@example.test', returnUrl: 'http://localhost/credit' }
const ORDER = {
  ...{
    orderId: 'order_1',
    reference: 'SVC-7K3M-9QXP',
    amountCents: 5_000,
    currency: 'USD' as const,
    email: 'a@example.test',
  },
  ...{ expiresAt: new Date(Date.now() + 3_600_000), returnUrl: 'http://localhost/order_1' },
} as const

/** Everything that the gateway asks of Stripe, as one table: the call, and the lines that it sends. */
const CALLS: readonly [
  name: string,
  call: (provider: DepositProvider) => Promise<unknown>,
  lines: readonly string[],
][] = [
  ['createPayment', (one) => one.createPayment(ORDER), ['POST /v1/checkout/sessions']],
  ['look up a session', (one) => inquiryOf(one).lookUp('cs_1'), ['GET /v1/checkout/sessions/cs_1']],
  ['look up a charge', (one) => inquiryOf(one).lookUp('pi_1'), ['GET /v1/payment_intents/pi_1']],
  ['close', (one) => inquiryOf(one).close('cs_1'), ['POST /v1/checkout/sessions/cs_1/expire']],
  ['document of a session', (one) => inquiryOf(one).documentUrl('cs_1'), ['GET /v1/checkout/sessions/cs_1']],
  ['document of a charge', (one) => inquiryOf(one).documentUrl('pi_1'), ['GET /v1/payment_intents/pi_1']],
  [
    'a refund',
    (one) => one.readEvents(eventOf('charge.refunded', { payment_intent: 'pi_1' })),
    ['GET /v1/checkout/sessions'],
  ],
  [
    'save a first card',
    (one) => cardsOf(one).openPage({ ...PAGE, customer: undefined }),
    ['POST /v1/checkout/sessions'],
  ],
  ['save another card', (one) => cardsOf(one).openPage({ ...PAGE, customer: 'cus_1' }), ['POST /v1/checkout/sessions']],
  ['a saved card', (one) => cardsOf(one).savedOn('cs_1'), ['GET /v1/checkout/sessions/cs_1']],
  ['find a charge', (one) => cardsOf(one).find(CHARGE), ['GET /v1/payment_intents']],
  ['remove a card', (one) => cardsOf(one).remove('pm_1'), ['POST /v1/payment_methods/pm_1/detach']],
]

const SETTINGS: readonly Partial<StripeSettings>[] = [
  {},
  { hasInvoices: false, addsTax: true, asksTaxId: true, billingAddress: 'required' },
]

for (const settings of SETTINGS) {
  const words = JSON.stringify(settings)
  test.each(CALLS)(`%s is a request that Stripe's schema allows, with ${words}`, async (_, call, lines) => {
    answers = []
    await call(providerWith(settings))
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    expect(answers.map(({ line }) => line)).toEqual(expect.arrayContaining([...lines]))
  })

  test(`a charge of a saved card is a request that Stripe's schema allows, with ${words}`, async () => {
    answers = []
    await cardsOf(providerWith(settings)).charge(CHARGE)
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    const tax = ['GET /v1/payment_methods/pm_1', 'POST /v1/tax/calculations']
    expect(answers.map(({ line }) => line)).toEqual([...(settings.addsTax ? tax : []), 'POST /v1/payment_intents'])
  })
}

test.each(['refunds', 'disputes'])(
  "reading the list of %s of a paid charge is a request that Stripe's schema allows",
  async (list) => {
    const query = 'payment_intent=pi_1&limit=100'
    const headers = { authorization: `Bearer ${STRIPE_KEY}` }
    expect((await fetch(`${mock.url}/v1/${list}?${query}`, { headers })).status).toBe(200)
  },
)

test('the mock refuses a field that Stripe does not know', async () => {
  const headers = { authorization: `Bearer ${STRIPE_KEY}`, 'content-type': 'application/x-www-form-urlencoded' }
  const body = 'amount=5000&currency=usd&no_such_field=1'
  expect((await fetch(`${mock.url}/v1/payment_intents`, { method: 'POST', headers, body })).status).toBe(400)
})

function inquiryOf({ inquiry }: DepositProvider) {
  assert(inquiry, 'Stripe answers questions')
  return inquiry
}

function cardsOf({ cards }: DepositProvider) {
  assert(cards, 'Stripe saves cards')
  return cards
}

function eventOf(type: string, object: { payment_intent: string }) {
  return { id: 'evt_1', type, livemode: false, data: { object } }
}
