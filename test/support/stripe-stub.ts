/**
 * Stripe on loopback, as far as deposits need it: sessions, their hosted page, saved cards and their charges, refunds, disputes,
 * signed webhooks. It keeps
 * Stripe's rules on idempotency keys, states and parameters that a gateway could break.
 */
import Stripe from 'stripe'

type Json = Record<string, unknown>

type StubSession = Json & {
  id: string
  url: string
  status: 'open' | 'complete' | 'expired'
  payment_status: 'unpaid' | 'paid'
  amount_total: number
  payment_intent: string | null
}

/** What a charge of a saved card comes to: `ok`, or the code of its failure. */
type Behaviour = 'ok' | 'authentication_required' | 'insufficient_funds' | 'stolen_card' | 'expired_card'

type StubCard = Json & { id: string; customer: string | null; behaviour: Behaviour }

export type StubEvent = Json & { id: string; type: string }

export interface StripeStub {
  readonly url: string
  /** Every request, e.g. `POST /v1/checkout/sessions`. */
  readonly calls: { line: string; form: URLSearchParams; headers: Headers }[]
  readonly sessions: Map<string, StubSession>
  /** Saved cards, also those that were removed. */
  readonly cards: Map<string, StubCard>
  /** Charges of saved cards, oldest first. */
  readonly intents: (Json & { id: string; status: string; metadata: Json })[]
  /** Every event that has happened, oldest first. */
  readonly events: StubEvent[]
  /** Is asked before each request; a response takes the place of the stub's own. After the work if `isLate`. */
  intercept: ((line: string) => { response: Response; isLate?: boolean } | undefined) | undefined
  /** Where events are sent at once; undefined: nowhere. */
  webhookUrl: string | undefined
  /** Tax in percent that a payment adds. */
  taxPercent: number
  /** Pays a session by card. Returns its event. */
  pay(sessionId: string): StubEvent
  /** Completes a session whose bank needs days; `settle` ends the wait. */
  begin(sessionId: string): StubEvent
  settle(sessionId: string, isPaid: boolean): StubEvent
  expire(sessionId: string): StubEvent
  /** Saves a card on the page of a session. Returns its event. */
  saveCard(sessionId: string, card?: { behaviour?: Behaviour; last4?: string; country?: string | null }): StubEvent
  /** Takes `amount` cents of a session or a charge back. */
  refund(sessionId: string, amount: number): StubEvent
  failRefund(refundId: string): StubEvent
  dispute(sessionId: string, amount: number): StubEvent
  closeDispute(disputeId: string, isWon: boolean): StubEvent
  /** An event as Stripe sends it, signed with `secret`. */
  deliver(event: object, to: string, secret?: string): Promise<{ status: number; result: string | undefined }>
  stop(): Promise<void>
}

export const STRIPE_SECRET = `whsec_${'a1b2c3d4'.repeat(4)}`
export const STRIPE_KEY = 'sk_test_4eC39HqLyjWDarjtT1zdp7dc'
/** A gateway's environment for the stub. */
export function stripeEnvironment({ url }: { url: string }): Record<string, string> {
  return {
    DEPOSIT_PROVIDER: 'stripe',
    STRIPE_SECRET_KEY: STRIPE_KEY,
    STRIPE_WEBHOOK_SECRETS: STRIPE_SECRET,
    STRIPE_API_BASE: url,
  }
}

/** The header of a webhook, made by Stripe's own package. */
export function stripeHeader(body: string, secret = STRIPE_SECRET, at = Date.now()): Promise<string> {
  const timestamp = Math.floor(at / 1000)
  return new Stripe(STRIPE_KEY).webhooks.generateTestHeaderStringAsync({ payload: body, secret, timestamp })
}

/** Starts Stripe on a free port. */
export function startStripeStub(): StripeStub {
  const calls: StripeStub['calls'] = []
  const sessions = new Map<string, StubSession>()
  const cards: StripeStub['cards'] = new Map()
  const intents: StripeStub['intents'] = []
  const refunds: Json[] = []
  const disputes: Json[] = []
  const events: StubEvent[] = []
  const answers = new Map<string, { form: string; given: { status?: number; body: object } }>()
  let count = 0
  const next = (prefix: string) =>
    `${prefix}_${(++count).toString().padStart(6, '0')}${crypto.randomUUID().slice(0, 8)}`

  function happen(type: string, object: object): StubEvent {
    const event = {
      ...{ id: next('evt'), object: 'event', api_version: '2026-10-28.endive', livemode: false, type },
      created: Math.floor(Date.now() / 1000),
      data: { object: structuredClone(object) },
    }
    events.push(event)
    if (stub.webhookUrl !== undefined) void stub.deliver(event, stub.webhookUrl)
    return event
  }

  function sessionOf(id: string): StubSession {
    const session = sessions.get(id)
    if (!session) throw new Error(`no session ${id}`)
    return session
  }

  function paymentIntentOf(id: string): unknown {
    return sessions.get(id)?.payment_intent ?? intents.find((intent) => intent.id === id)?.id
  }

  function complete(id: string, paymentStatus: StubSession['payment_status']): StubSession {
    const session = sessionOf(id)
    if (session.status !== 'open') throw new Error(`session ${id} is ${session.status}`)
    const tax = Math.round((session.amount_total * stub.taxPercent) / 100)
    return Object.assign(session, {
      ...{ status: 'complete', payment_status: paymentStatus, payment_intent: next('pi') },
      ...{ amount_total: session.amount_total + tax, total_details: { amount_tax: tax } },
      ...{ customer_details: { email: 'payer@example.test' }, invoice: next('in') },
    })
  }

  const stub: StripeStub = {
    ...{ url: '', calls, sessions, cards, intents, events, intercept: undefined, webhookUrl: undefined, taxPercent: 0 },
    pay: (id) => happen('checkout.session.completed', complete(id, 'paid')),
    begin: (id) => happen('checkout.session.completed', complete(id, 'unpaid')),
    settle(id, isPaid) {
      const session = sessionOf(id)
      if (isPaid) session.payment_status = 'paid'
      else session.hasFailed = true
      return happen(`checkout.session.async_payment_${isPaid ? 'succeeded' : 'failed'}`, session)
    },
    saveCard(id, { behaviour = 'ok', last4 = '4242', country = 'DE' } = {}) {
      const session = sessionOf(id)
      const card: StubCard = {
        ...{ id: next('pm'), object: 'payment_method', type: 'card', behaviour },
        customer: String(session.customer ?? next('cus')),
        card: { brand: 'visa', last4, exp_month: 12, exp_year: 2040 },
        billing_details: { address: { country, line1: null, line2: null, city: null, state: null, postal_code: null } },
      }
      cards.set(card.id, card)
      const setup = { id: next('seti'), created: Math.floor(Date.now() / 1000) + count, payment_method: card.id }
      return happen('checkout.session.completed', Object.assign(session, { status: 'complete', setup_intent: setup }))
    },
    expire: (id) => happen('checkout.session.expired', Object.assign(sessionOf(id), { status: 'expired' })),
    refund(id, amount) {
      const refund = {
        ...{ id: next('re'), object: 'refund', amount, currency: 'usd', status: 'succeeded' },
        ...{ payment_intent: paymentIntentOf(id), reason: 'requested_by_customer' },
      }
      refunds.push(refund)
      return happen('refund.created', refund)
    },
    failRefund(id) {
      const refund = refunds.find((one) => one.id === id) ?? {}
      return happen('refund.failed', Object.assign(refund, { status: 'failed' }))
    },
    dispute(id, amount) {
      const dispute = {
        ...{ id: next('du'), object: 'dispute', amount, currency: 'usd', status: 'needs_response' },
        ...{ payment_intent: paymentIntentOf(id), reason: 'fraudulent' },
      }
      disputes.push(dispute)
      return happen('charge.dispute.created', dispute)
    },
    closeDispute(id, isWon) {
      const dispute = disputes.find((one) => one.id === id) ?? {}
      return happen('charge.dispute.closed', Object.assign(dispute, { status: isWon ? 'won' : 'lost' }))
    },
    async deliver(event, to, secret = STRIPE_SECRET) {
      const body = JSON.stringify(event)
      const headers = { 'content-type': 'application/json', 'stripe-signature': await stripeHeader(body, secret) }
      const response = await fetch(to, { method: 'POST', headers, body })
      const { result } = (await response.json()) as { result?: string }
      return { status: response.status, result }
    },
    stop: () => server.stop(true),
  }

  function create(form: URLSearchParams): object {
    const amount = Number(form.get('line_items[0][price_data][unit_amount]'))
    const id = next('cs_test')
    if (form.get('mode') === 'setup') return createSetup(id, form)
    const session: StubSession = {
      ...{ id, object: 'checkout.session', livemode: false, url: `${stub.url}/pay/${id}` },
      ...{ status: 'open', payment_status: 'unpaid', payment_intent: null, invoice: null, currency: 'usd' },
      ...{ amount_subtotal: amount, amount_total: amount, total_details: { amount_tax: 0 } },
      ...{ client_reference_id: form.get('client_reference_id'), expires_at: Number(form.get('expires_at')) },
      metadata: { order: form.get('metadata[order]'), reference: form.get('metadata[reference]') },
      ...{ success_url: form.get('success_url'), cancel_url: form.get('cancel_url') },
    }
    sessions.set(id, session)
    return session
  }

  function createSetup(id: string, form: URLSearchParams): object {
    const session: StubSession = {
      ...{ id, object: 'checkout.session', mode: 'setup', livemode: false, url: `${stub.url}/pay/${id}` },
      ...{ status: 'open', payment_status: 'unpaid', payment_intent: null, amount_total: 0, setup_intent: null },
      ...{ customer: form.get('customer'), metadata: { account: form.get('metadata[account]') } },
      ...{ success_url: form.get('success_url'), cancel_url: form.get('cancel_url') },
    }
    sessions.set(id, session)
    return session
  }

  /** Charges a saved card at once. */
  function charge(form: URLSearchParams): { status?: number; body: object } {
    const card = cards.get(form.get('payment_method') ?? '')
    if (card?.customer !== form.get('customer')) {
      return { status: 400, body: refusal('resource_missing', 'No such PaymentMethod for this customer.') }
    }
    const metadata = Object.fromEntries(
      [...form].flatMap(([name, value]) => {
        const [, key] = /^metadata\[(\w+)\]$/.exec(name) ?? []
        return key === undefined ? [] : [[key, value]]
      }),
    )
    const amount = Number(form.get('amount'))
    const isPaid = card.behaviour === 'ok'
    const declined = card.behaviour === 'insufficient_funds' || card.behaviour === 'stolen_card'
    const error = {
      ...{ type: 'card_error', message: 'Your card was not charged.' },
      code: declined ? 'card_declined' : card.behaviour,
      ...(declined && { decline_code: card.behaviour }),
    }
    const intent = {
      ...{ id: next('pi'), object: 'payment_intent', amount, currency: 'usd', customer: card.customer, metadata },
      ...{ amount_received: isPaid ? amount : 0, status: isPaid ? 'succeeded' : 'requires_payment_method' },
      ...{ last_payment_error: isPaid ? null : error, latest_charge: null, created: Math.floor(Date.now() / 1000) },
    }
    intents.push(intent)
    happen(isPaid ? 'payment_intent.succeeded' : 'payment_intent.payment_failed', intent)
    return isPaid ? { body: intent } : { status: 402, body: { error: { ...error, payment_intent: intent } } }
  }

  function ofCard(line: string, form: URLSearchParams): { status?: number; body: object } | undefined {
    if (line === 'POST /v1/payment_intents') return charge(form)
    if (line === 'GET /v1/payment_intents') {
      const since = Number(form.get('created[gte]'))
      const data = intents.filter((one) => one.customer === form.get('customer') && Number(one.created) >= since)
      return { body: { object: 'list', url: '/v1', has_more: false, data: data.toReversed() } }
    }
    if (line === 'POST /v1/tax/calculations') {
      const amount = Number(form.get('line_items[0][amount]'))
      if (!form.get('customer_details[address][country]')) {
        return { status: 400, body: refusal('customer_tax_location_invalid', 'The address is not valid.') }
      }
      return { body: { id: next('taxcalc'), amount_total: amount + Math.round((amount * stub.taxPercent) / 100) } }
    }
    const [, thing = '', id = '', verb] = /^\w+ \/v1\/(payment_\w+)\/(\w+)(?:\/(\w+))?$/.exec(line) ?? []
    if (thing === '') return undefined
    if (thing === 'payment_intents') {
      const intent = intents.find((one) => one.id === id)
      if (!intent) return { status: 404, body: refusal('resource_missing', `No such payment_intent: ${id}`) }
      return { body: { ...intent, latest_charge: { id: 'ch_1', receipt_url: `${stub.url}/invoice` } } }
    }
    const card = cards.get(id)
    if (!card) return { status: 404, body: refusal('resource_missing', `No such payment_method: ${id}`) }
    if (verb !== 'detach') return { body: card }
    if (card.customer === null) return { status: 400, body: refusal('', 'The payment method is not attached.') }
    happen('payment_method.detached', Object.assign(card, { customer: null }))
    return { body: card }
  }

  function expanded(session: StubSession, expand: string[]): object {
    if (session.mode === 'setup') {
      const setup = session.setup_intent as { payment_method: string } | null
      return { ...session, setup_intent: setup && { ...setup, payment_method: cards.get(setup.payment_method) } }
    }
    const status = session.hasFailed ? 'requires_payment_method' : 'succeeded'
    const payment = session.payment_intent && { id: session.payment_intent, status, latest_charge: null }
    return {
      ...session,
      ...(expand.includes('payment_intent') && { payment_intent: payment }),
      ...(expand.includes('invoice') &&
        session.invoice !== null && { invoice: { id: session.invoice, hosted_invoice_url: `${stub.url}/invoice` } }),
    }
  }

  /** Answers one request of the API; an error by its status. */
  function answer(line: string, form: URLSearchParams): { status?: number; body: object } {
    const card = ofCard(line, form)
    if (card) return card
    const [, id = '', verb] = /^\w+ \/v1\/checkout\/sessions\/(\w+)(?:\/(\w+))?$/.exec(line) ?? []
    const session = sessions.get(id)
    const list = (data: object[]) => ({ body: { object: 'list', url: '/v1', has_more: false, data } })
    const ofPayment = <T extends Json>(all: Iterable<T>) =>
      [...all].filter((one) => one.payment_intent === form.get('payment_intent'))
    if (line === 'POST /v1/checkout/sessions') return { body: create(form) }
    if (line === 'GET /v1/checkout/sessions') return list(ofPayment(sessions.values()))
    if (line === 'GET /v1/refunds') return list(ofPayment(refunds))
    if (line === 'GET /v1/disputes') return list(ofPayment(disputes))
    if (!session) return { status: 404, body: refusal('resource_missing', `No such checkout session: ${id}`) }
    if (verb === undefined) {
      const expand = [...form].filter(([name]) => name.startsWith('expand')).map(([, value]) => value)
      return { body: expanded(session, expand) }
    }
    if (session.status !== 'open') return { status: 400, body: refusal('', 'Only open sessions can be expired.') }
    stub.expire(id)
    return { body: session }
  }

  function once(line: string, text: string, key: string | null): { status?: number; body: object } {
    const earlier = key === null ? undefined : answers.get(key)
    if (earlier && earlier.form !== text) {
      return {
        status: 400,
        body: { error: { type: 'idempotency_error', message: 'Other parameters with the same key.' } },
      }
    }
    if (earlier) return earlier.given
    const given = answer(line, new URLSearchParams(text))
    if (key !== null) answers.set(key, { form: text, given: structuredClone(given) })
    return given
  }

  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const page = await hostedPage(stub, request, pathname)
      if (page) return page
      const line = `${request.method} ${pathname}`
      const text = request.method === 'GET' ? search.slice(1) : await request.text()
      calls.push({ line, form: new URLSearchParams(text), headers: request.headers })
      if (request.headers.get('authorization') !== `Bearer ${STRIPE_KEY}`) {
        return Response.json(refusal('', 'Invalid API Key provided'), { status: 401 })
      }
      const other = stub.intercept?.(line)
      if (other && !other.isLate) return other.response
      const key = request.method === 'POST' ? request.headers.get('idempotency-key') : null
      const { status = 200, body } = once(line, text, key)
      return other?.response ?? Response.json(body, { status })
    },
  })
  return Object.assign(stub, { url: `http://127.0.0.1:${server.port}` })
}

function refusal(code: string, message: string) {
  return { error: { type: 'invalid_request_error', code, message } }
}

/** The page of Stripe Checkout: pay, pay with a detour to the bank, or go back. */
async function hostedPage(stub: StripeStub, request: Request, path: string): Promise<Response | undefined> {
  if (path === '/invoice') return html('<h1>Invoice of the stub</h1>')
  const [, step, id = ''] = /^\/(pay|bank)\/(\w+)$/.exec(path) ?? []
  const session = stub.sessions.get(id)
  if (step === undefined || !session) return undefined
  if (request.method === 'GET' && session.status !== 'open') return html(`<h1>This page is ${session.status}</h1>`)
  if (request.method === 'GET') {
    const form = (action: string, words: string) =>
      `<form method="post" action="${action}"><button>${words}</button></form>`
    if (session.mode === 'setup') return html(`<h1>Card page of the stub</h1>${form(`/pay/${id}?card`, 'Save card')}`)
    if (step === 'bank') return html(`<h1>Your bank</h1>${form(`/pay/${id}?card`, 'Confirm')}`)
    return html(`<h1>Checkout of the stub</h1><p>${session.amount_total / 100} USD</p>
      <label>Card number <input autocomplete="cc-number"></label>
      ${form(`/pay/${id}?card`, 'Pay')}${form(`/pay/${id}?secure`, 'Pay with a card that asks the bank')}
      <a href="${session.cancel_url}">Back</a>`)
  }
  if (new URL(request.url).search === '?secure') return Response.redirect(`${stub.url}/bank/${id}`, 303)
  if (session.mode === 'setup') stub.saveCard(id)
  else stub.pay(id)
  return Response.redirect(String(session.success_url), 303)
}

function html(body: string): Response {
  return new Response(`<!doctype html><html lang="en"><title>Stub</title><main>${body}</main></html>`, {
    headers: { 'content-type': 'text/html' },
  })
}
