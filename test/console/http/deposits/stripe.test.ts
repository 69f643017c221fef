/** Deposits by Stripe, with a simulated Stripe on loopback: orders, payment pages, events, and failures. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { run } from '@test/cli/run'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import {
  STRIPE_SECRET,
  type StripeStub,
  startStripeStub,
  stripeEnvironment,
  stripeHeader,
} from '@test/support/stripe-stub'
import { STRIPE_API_VERSION } from '@/console/orders/deposits/stripe/stripe-client'
import { STRIPE_EVENTS } from '@/console/orders/deposits/stripe/stripe-events'
import type { OrderBody, OrderDetailBody } from '@/people/orders/bodies'

const OWN = '/dashboard/api/a/:accountId'
const OTHER_SECRET = `whsec_${'0f'.repeat(16)}`
const OLDER_SECRET = `whsec_${'9e8d7c6b'.repeat(4)}`
const USD = 1_000_000_000

let stripe: StripeStub
let gateway: TestGateway
let person: Person

beforeAll(async () => {
  stripe = startStripeStub()
  gateway = await startGateway({
    respond: () => new Response(null, { status: 500 }),
    environment: {
      ...stripeEnvironment(stripe),
      STRIPE_WEBHOOK_SECRETS: `${STRIPE_SECRET},${OLDER_SECRET}`,
      STRIPE_AUTOMATIC_TAX: 'on',
      ORDER_MIN_USD: '10',
      ORDER_MAX_USD: '300',
    },
  })
})
beforeEach(async () => {
  person = await signUpPerson(gateway)
  Object.assign(stripe, { intercept: undefined, taxPercent: 0 })
})
afterAll(async () => {
  await gateway.stop()
  await stripe.stop()
})

describe('an order', () => {
  test('an order makes one Stripe session with all required fields and no card data', async () => {
    const order = await create('25')
    const created = stripe.calls.filter(({ form }) => form.get('client_reference_id') === order.orderId)
    expect(created).toHaveLength(1)
    const [{ form, headers } = { form: new URLSearchParams(), headers: new Headers() }] = created
    const back = `${gateway.url}/dashboard/a/${person.viewer.accountId}/credit/orders/${order.orderId}`
    expect(Object.fromEntries(form)).toEqual({
      mode: 'payment',
      client_reference_id: order.orderId,
      'metadata[order]': order.orderId,
      'metadata[reference]': order.reference,
      'payment_intent_data[metadata][order]': order.orderId,
      'payment_intent_data[metadata][reference]': order.reference,
      'payment_intent_data[description]': `Prepaid credit, order ${order.reference}`,
      customer_email: person.email,
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '2500',
      'line_items[0][price_data][tax_behavior]': 'exclusive',
      'line_items[0][price_data][product_data][name]': `Prepaid credit, order ${order.reference}`,
      success_url: `${back}?paid`,
      cancel_url: back,
      expires_at: String(Math.floor(Date.parse(order.expiresAt) / 1000)),
      'invoice_creation[enabled]': 'true',
      'automatic_tax[enabled]': 'true',
      'tax_id_collection[enabled]': 'false',
      billing_address_collection: 'auto',
      'adaptive_pricing[enabled]': 'false',
    })
    expect(headers.get('idempotency-key')).toBe(order.orderId)
    expect(headers.get('stripe-version')).toBe('2026-10-28.endive')
    expect(order.paymentUrl).toBe(sessionOf(order).url)
  })

  test('an order by card has its own limits, and says that tax is added', async () => {
    const { body } = await person.json('GET', `${OWN}/orders/options`)
    expect(body).toMatchObject({
      minimumUsd: '10',
      maximumUsd: '300',
      presetsUsd: ['10', '25', '50', '100', '250'],
      deposit: { provider: 'stripe', isSandbox: false, addsTax: true, expiresAfterHours: 23 },
    })
    for (const amountUsd of ['9.99', '300.01']) {
      const { status } = await person.json('POST', `${OWN}/orders`, { amountUsd, method: 'deposit' })
      expect({ amountUsd, status }).toEqual({ amountUsd, status: 400 })
    }
  })

  test.each(['an answer that is lost', 'an error of Stripe'])('an order with %s is still one session', async (what) => {
    let tries = 0
    stripe.intercept = (line) => {
      if (line !== 'POST /v1/checkout/sessions' || tries++ > 0) return undefined
      return { response: new Response('{}', { status: 500 }), isLate: what === 'an answer that is lost' }
    }
    const before = stripe.sessions.size
    const order = await create('25')
    expect(tries).toBe(2)
    expect(stripe.sessions.size).toBe(before + 1)
    expect(order.paymentUrl).toBe(sessionOf(order).url)
  })

  test('if the gateway dies after Stripe answered, the order later gets the same session', async () => {
    const order = await create('25')
    const before = stripe.sessions.size
    await gateway.gateway.database.sql`
      UPDATE orders SET payee = NULL, payment_url = NULL, look_at = NULL WHERE id = ${order.orderId}`
    const path = `${OWN}/orders/${order.orderId}/set-up`
    const answers = await Promise.all([1, 2, 3].map(() => person.json('POST', path, {})))
    for (const { status, body } of answers) {
      expect(status).toBe(200)
      expect((body as OrderBody).paymentUrl).toBe(order.paymentUrl)
    }
    expect(stripe.sessions.size).toBe(before)
    expect((await person.json('POST', path, {})).body).toMatchObject({ paymentUrl: order.paymentUrl })
    const stranger = await signUpPerson(gateway)
    expect((await stranger.json('POST', path, {})).status).toBe(404)
  })

  test('an order that Stripe refuses is cancelled, and the answer says that the provider does not respond', async () => {
    stripe.intercept = () => ({
      response: Response.json({ error: { type: 'card_error', message: 'x' } }, { status: 402 }),
    })
    const { status, body } = await person.json('POST', `${OWN}/orders`, { amountUsd: '25', method: 'deposit' })
    expect(status).toBe(502)
    expect(JSON.stringify(body)).toContain('The payment provider does not answer')
    stripe.intercept = undefined
    expect(await statesOf()).toEqual(['cancelled'])
  })

  test('a cancelled order can no longer be paid at Stripe', async () => {
    const order = await create('25')
    expect((await person.json('POST', `${OWN}/orders/${order.orderId}/cancel`, {})).status).toBe(200)
    expect(sessionOf(order).status).toBe('expired')
    expect(await statesOf()).toEqual(['cancelled'])
  })

  test('an order that was paid before its cancellation is credited, even if no event has arrived', async () => {
    const order = await create('25')
    stripe.pay(sessionOf(order).id)
    const { status, body } = await person.json('POST', `${OWN}/orders/${order.orderId}/cancel`, {})
    expect(status).toBe(409)
    expect(JSON.stringify(body)).toContain('order_not_pending')
    expect(await available()).toBe(25 * USD)
  })

  test('an order with a pending debit, or while Stripe is unreachable, is not cancelled', async () => {
    const order = await create('25')
    stripe.begin(sessionOf(order).id)
    const path = `${OWN}/orders/${order.orderId}/cancel`
    const busy = await person.json('POST', path, {})
    expect(busy.status).toBe(409)
    expect(JSON.stringify(busy.body)).toContain('payment_under_way')
    const other = await create('25')
    stripe.intercept = () => ({
      response: Response.json({ error: { type: 'authentication_error', message: 'x' } }, { status: 401 }),
    })
    expect((await person.json('POST', `${OWN}/orders/${other.orderId}/cancel`, {})).status).toBe(502)
    expect(await statesOf()).toEqual(['pending', 'pending'])
  })
})

describe('an event', () => {
  test('a paid session credits the net amount, the rest is tax', async () => {
    stripe.taxPercent = 19
    const order = await create('50')
    expect(await tell(stripe.pay(sessionOf(order).id))).toEqual({ status: 200, result: 'credited' })
    expect(await available()).toBe(50 * USD)
    const detail = await detailOf(order)
    expect(detail).toMatchObject({ state: 'paid', paidUsd: '50', hasProviderDocument: true })
    expect(detail.payments).toMatchObject([{ amount: '59.5', taxUsd: '9.5', creditedUsd: '50', state: 'credited' }])
    const { body } = await person.json('GET', `${OWN}/orders/${order.orderId}/document`)
    expect(body).toEqual({ url: `${stripe.url}/invoice` })
    const stranger = await signUpPerson(gateway)
    expect((await stranger.json('GET', `${OWN}/orders/${order.orderId}/document`)).status).toBe(404)
    // Half of what was paid, tax included, takes half of the credit.
    expect(await tell(stripe.refund(sessionOf(order).id, 2_975))).toEqual({ status: 200, result: 'reversed' })
    expect(await available()).toBe(25 * USD)
  })

  test('twenty concurrent orders, each event sent twice to each of two gateways, credit once each', async () => {
    const twin = await gateway.twin()
    const people = await Promise.all(Array.from({ length: 4 }, () => signUpPerson(gateway)))
    const orders = (
      await Promise.all(people.map((who) => Promise.all([1, 2, 3, 4, 5].map(() => create('10', who)))))
    ).flat()
    const events = orders.map((order) => stripe.pay(sessionOf(order).id))
    const hooks = [gateway, twin, gateway, twin].map(hook)
    const answers = await Promise.all(hooks.flatMap((at) => events.map((event) => stripe.deliver(event, at))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(answers.filter(({ result }) => result === 'credited')).toHaveLength(20)
    for (const who of people) expect(await available(who)).toBe(50 * USD)
  })

  test('a payment that takes days keeps the order open, and is credited when it is paid', async () => {
    const order = await create('25')
    const id = sessionOf(order).id
    expect((await tell(stripe.begin(id))).result).toBe('ignored')
    const waiting = await detailOf(order)
    expect(waiting.state).toBe('pending')
    expect(Date.parse(waiting.expiresAt)).toBeGreaterThan(Date.parse(order.expiresAt))
    expect(waiting.events.map(({ kind }) => kind)).toEqual(['created', 'processing'])
    expect(await available()).toBe(0)
    expect((await tell(stripe.settle(id, true))).result).toBe('credited')
    expect(await available()).toBe(25 * USD)
  })

  test('an event of a failed payment ends the order without credit', async () => {
    const order = await create('25')
    const id = sessionOf(order).id
    await tell(stripe.begin(id))
    expect((await tell(stripe.settle(id, false))).result).toBe('ignored')
    expect(await detailOf(order)).toMatchObject({ state: 'expired', receipt: null, hasProviderDocument: false })
    expect((await detailOf(order)).events.at(-1)?.kind).toBe('failed')
    expect((await person.json('GET', `${OWN}/orders/${order.orderId}/document`)).status).toBe(404)
  })

  test('partial, cumulative and failed refunds move each amount once', async () => {
    const order = await create('100')
    const { id } = sessionOf(order)
    await tell(stripe.pay(id))
    const first = stripe.refund(id, 3_000)
    const second = stripe.refund(id, 2_000)
    const charge = { id: 'ch_1', object: 'charge', payment_intent: sessionOf(order).payment_intent }
    const all = { ...first, id: 'evt_all', type: 'charge.refunded', data: { object: charge } }
    await tell(second)
    expect((await tell(all)).status).toBe(200)
    await tell(first)
    expect(await available()).toBe(50 * USD)
    const failed = stripe.failRefund(idIn(first))
    await tell(failed)
    await tell(failed)
    expect(await available()).toBe(80 * USD)
  })

  test.each([
    ['won', true, 25],
    ['lost', false, 0],
  ] as const)('the events of a dispute that is %s leave the right credit', async (_, isWon, left) => {
    const order = await create('25')
    const { id } = sessionOf(order)
    await tell(stripe.pay(id))
    const opened = stripe.dispute(id, 2_500)
    expect((await tell(opened)).result).toBe('reversed')
    expect((await tell({ ...opened, type: 'charge.dispute.funds_withdrawn' })).result).toBe('duplicate')
    expect(await available()).toBe(0)
    await tell(stripe.closeDispute(idIn(opened), isWon))
    if (isWon) await tell({ ...stripe.events.at(-1), type: 'charge.dispute.funds_reinstated' })
    expect(await available()).toBe(left * USD)
  })

  test('a bank’s inquiry about a payment removes no credit', async () => {
    const order = await create('25')
    const { id } = sessionOf(order)
    await tell(stripe.pay(id))
    const opened = stripe.dispute(id, 2_500)
    Object.assign(objectIn(opened), { status: 'warning_needs_response' })
    expect((await tell(opened)).result).toBe('ignored')
    expect(await available()).toBe(25 * USD)
  })

  test('another account’s event is ignored, and an event of an unknown order waits for an administrator', async () => {
    const order = await create('25')
    const event = stripe.pay(sessionOf(order).id)
    for (const other of [
      { livemode: true },
      { account: 'acct_connected' },
      { data: { object: { ...objectIn(event), metadata: {} } } },
      { type: 'invoice.paid' },
      { type: 'charge.succeeded' },
    ])
      expect(await tell({ ...event, ...other })).toEqual({ status: 200, result: 'ignored' })
    const dispute = stripe.dispute(sessionOf(order).id, 100)
    Object.assign(objectIn(dispute), { payment_intent: 'pi_of_a_shop' })
    expect((await tell(dispute)).result).toBe('ignored')
    expect(await available()).toBe(0)
    const lost = {
      ...objectIn(event),
      payment_intent: 'pi_lost',
      metadata: { order: 'order_x', reference: 'SVC-2222-2222' },
    }
    expect((await tell({ ...event, data: { object: lost } })).result).toBe('unmatched')
    expect((await tell({ ...event, type: 'refund.split' })).result).toBe('unknown')
    expect((await tell(event)).result).toBe('credited')
  })

  test.each([
    ['underpaid', { amount_total: 2_499 }],
    ['overpaid', { amount_total: 2_501 }],
    ['wrong_currency', { currency: 'eur' }],
    ['wrong_payee', { id: 'cs_test_other' }],
  ])('an event that is %s waits for an administrator', async (mismatch, changes) => {
    const order = await create('25')
    const event = stripe.pay(sessionOf(order).id)
    const { status, result } = await tell({ ...event, data: { object: { ...objectIn(event), ...changes } } })
    expect({ status, result }).toEqual({ status: 200, result: 'unmatched' })
    expect((await detailOf(order)).payments).toMatchObject([{ state: 'unmatched', mismatch }])
    expect(await available()).toBe(0)
  })

  test.each([
    { amount_total: -1 },
    { amount_total: '25' },
    { payment_intent: null },
    { currency: 5 },
    { total_details: { amount_tax: 9_999 } },
  ])('an event with the field %j is refused', async (changes) => {
    const event = stripe.pay(sessionOf(await create('25')).id)
    const answer = await tell({ ...event, data: { object: { ...objectIn(event), ...changes } } })
    expect(answer.status).toBe(400)
    expect(await available()).toBe(0)
  })

  test('an event gets a 503 if its refund cannot be read at Stripe, and is booked when sent again', async () => {
    const order = await create('25')
    const { id } = sessionOf(order)
    await tell(stripe.pay(id))
    const refund = stripe.refund(id, 2_500)
    stripe.intercept = () => ({
      response: Response.json({ error: { type: 'authentication_error', message: 'x' } }, { status: 401 }),
    })
    expect((await tell(refund)).status).toBe(503)
    stripe.intercept = undefined
    expect((await tell(refund)).result).toBe('reversed')
    expect(await available()).toBe(0)
  })
})

describe('a signature', () => {
  test('a former secret’s signature is accepted; another secret, time or body is refused', async () => {
    const order = await create('25')
    const event = stripe.pay(sessionOf(order).id)
    const body = JSON.stringify(event)
    const refused = [
      [await stripeHeader(body, OTHER_SECRET), body],
      [await stripeHeader(body, STRIPE_SECRET, Date.now() - 360_000), body],
      [await stripeHeader(body, STRIPE_SECRET, Date.now() + 360_000), body],
      [await stripeHeader(body), body.replace('2500', '9900')],
      [await stripeHeader(body), `${body} `],
      [(await stripeHeader(body)).replace('v1=', 'v0='), body],
      ['', body],
      ['t=1,v1=', body],
      [`t=${Math.floor(Date.now() / 1000)}`, body],
    ]
    for (const [header = '', text = ''] of refused) {
      expect({ header, status: await post(header, text) }).toEqual({ header, status: 401 })
    }
    expect(await available()).toBe(0)
    expect(await tell(event, OLDER_SECRET)).toEqual({ status: 200, result: 'credited' })
  })

  test('a signature made by OpenSSL is accepted', async () => {
    const event = stripe.pay(sessionOf(await create('25')).id)
    const body = JSON.stringify(event)
    const time = Math.floor(Date.now() / 1000)
    const command = ['openssl', 'dgst', '-sha256', '-hmac', STRIPE_SECRET, '-hex']
    const run = Bun.spawnSync(command, { stdin: Buffer.from(`${time}.${body}`) })
    const signature = run.stdout.toString().trim().split(' ').at(-1)
    expect(await post(`t=${time},v1=${'0'.repeat(64)},v1=${signature}`, body)).toBe(200)
    expect(await available()).toBe(25 * USD)
  })

  test('a signed body that is not an event is refused', async () => {
    for (const body of ['[]', '{', '{"object":"v2.core.event"}', '{"type":"checkout.session.completed"}'])
      expect({ body, status: await post(await stripeHeader(body), body) }).toEqual({
        body,
        status: body.includes('checkout') ? 200 : 400,
      })
    const large = `{"a":"${'x'.repeat(512 * 1024)}"}`
    expect(await post(await stripeHeader(large), large)).toBe(413)
  })
})

describe('an order without an event', () => {
  test('an order without an event is looked up at Stripe when it ends, and credited once', async () => {
    const order = await create('25')
    const open = await create('25')
    stripe.pay(sessionOf(order).id)
    await endOf(order, open)
    const { orders } = gateway.gateway.deps.dashboard
    const before = stripe.calls.length
    const counts = await Promise.all([1, 2, 3].map(() => orders.settleDue(100)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2)
    expect(await available()).toBe(25 * USD)
    expect(await statesOf()).toEqual(['pending', 'paid'])
    expect(await orders.settleDue(100)).toBe(0)
    const asked = stripe.calls.slice(before).filter(({ line }) => /sessions\/cs_/.test(line))
    expect(asked).toHaveLength(2)
  })

  test('the command looks up an order without an event, and credits it once', async () => {
    const order = await create('25')
    stripe.pay(sessionOf(order).id)
    const { redisUrl, databaseUrl } = gateway.stores
    const environment: Record<string, string> = {
      ...stripeEnvironment(stripe),
      HOST: '127.0.0.1',
      REDIS_URL: redisUrl,
      DATABASE_URL: databaseUrl,
    }
    const settle = () => run(['order', 'settle', order.reference], environment)
    expect((await settle()).json).toMatchObject({ orderId: order.orderId, state: 'paid', outcomes: ['credited'] })
    expect((await settle()).json).toMatchObject({ state: 'paid', outcomes: ['duplicate'] })
    expect(await available()).toBe(25 * USD)
    const { DEPOSIT_PROVIDER: _, ...without } = environment
    const refused = await run(['order', 'settle', order.orderId], without)
    expect([refused.code, refused.stderr.includes('DEPOSIT_PROVIDER can be asked about')]).toEqual([1, true])
  })

  test('if Stripe was unreachable, an order is looked up again later, and gets the state that Stripe has', async () => {
    const order = await create('25')
    await endOf(order)
    stripe.expire(sessionOf(order).id)
    const { orders } = gateway.gateway.deps.dashboard
    stripe.intercept = () => ({
      response: Response.json({ error: { type: 'authentication_error', message: 'x' } }, { status: 401 }),
    })
    expect(await orders.settleDue(100)).toBe(1)
    expect(await statesOf()).toEqual(['pending'])
    stripe.intercept = undefined
    await endOf(order)
    expect(await orders.settleDue(100)).toBe(1)
    expect(await statesOf()).toEqual(['expired'])
    await endOf(order)
  })
})

test('the operations page names the API version and every event that the webhook needs', async () => {
  const page = await Bun.file('docs/operations/people-and-payments.md').text()
  for (const name of [STRIPE_API_VERSION, ...STRIPE_EVENTS]) expect(page).toContain(`\`${name}\``)
})

async function create(amountUsd: string, who = person): Promise<OrderBody> {
  const { status, body } = await who.json('POST', `${OWN}/orders`, { amountUsd, method: 'deposit' })
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as OrderBody
}

function sessionOf({ orderId }: OrderBody) {
  const found = [...stripe.sessions.values()].find((session) => session.client_reference_id === orderId)
  if (!found) throw new Error(`no session of ${orderId}`)
  return found
}

async function detailOf({ orderId }: OrderBody): Promise<OrderDetailBody> {
  return (await person.json('GET', `${OWN}/orders/${orderId}`)).body as OrderDetailBody
}

/** Newest first. */
async function statesOf(): Promise<string[]> {
  const { body } = await person.json('GET', `${OWN}/orders`)
  return (body as { items: OrderBody[] }).items.map(({ state }) => state)
}

async function available(who = person): Promise<number> {
  return (await gateway.balance(who.viewer.accountId)).available
}

/** Their time is up, by a minute. */
async function endOf(...orders: OrderBody[]): Promise<void> {
  for (const { orderId } of orders)
    await gateway.gateway.database.sql`UPDATE orders SET look_at = now() - interval '1 minute' WHERE id = ${orderId}`
}

function hook({ url }: { url: string }): string {
  return `${url}/webhooks/deposits/stripe`
}

function tell(event: object, secret = STRIPE_SECRET) {
  return stripe.deliver(event, hook(gateway), secret)
}

async function post(signature: string, body: string): Promise<number> {
  return (await fetch(hook(gateway), { method: 'POST', headers: { 'stripe-signature': signature }, body })).status
}

function objectIn(event: object): Record<string, unknown> {
  return (event as { data: { object: Record<string, unknown> } }).data.object
}

function idIn(event: object): string {
  return String(objectIn(event).id)
}
