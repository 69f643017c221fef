/** The deposit webhook of a real gateway: only signed events count, each once; refunds and chargebacks are shown. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { startPostgres } from '@test/support/stores'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { renderMail } from '@/accounts/mails/render'
import { contentOf } from '@/accounts/mails/templates'
import { MAX_WEBHOOK_BYTES, signWebhook } from '@/console/orders/deposits/webhook-signature'
import type { Actor, Order } from '@/console/orders/types'
import { migrate } from '@/db/migrate'

const NEW_SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const OLD_SECRET = `whsec_${Buffer.alloc(24, 2).toString('base64')}`
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const ENVIRONMENT = { DEPOSIT_PROVIDER: 'sandbox', DEPOSIT_WEBHOOK_SECRETS: `${NEW_SECRET},${OLD_SECRET}` }
const ACTOR: Actor = { kind: 'system', name: 'test' }
const WANTED = { method: 'deposit', amountCents: 5_000, actor: ACTOR } as const

let gateway: TestGateway
let customer: Customer
/** Whose payments are refunded and charged back. */
let payer: Person
let administrator: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    environment: ENVIRONMENT,
  })
  customer = await gateway.customer('0')
  payer = await signUpPerson(gateway)
  administrator = await signUpPerson(gateway, { role: 'admin' })
})
afterAll(() => gateway.stop())

describe('a signed event', () => {
  test('a signed event credits its order once in twenty deliveries to two gateways', async () => {
    const order = await newOrder()
    const message = deposit(order)
    const twin = await gateway.twin()
    const before = await available()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(message, { url: index % 2 ? twin.url : gateway.url })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const results = answers.map(({ result }) => result)
    expect(results.filter((result) => result === 'credited')).toHaveLength(1)
    expect(results.filter((result) => result === 'duplicate')).toHaveLength(19)
    expect((await available()) - before).toBe(50_000_000_000)
    expect(await stateOf(order)).toBe('paid')
  })

  test('a signed event may be signed with an older secret, or with several at once', async () => {
    const [first, second] = [await newOrder(), await newOrder()]
    expect(await post(deposit(first), { secret: OLD_SECRET })).toEqual({ status: 200, result: 'credited' })
    const message = deposit(second)
    const strange = signed(message, { secret: OTHER_SECRET })
    const known = signed(message, {})
    known.headers.signature = `v1a,AAAA ${strange.headers.signature} ${known.headers.signature}`
    expect(await deliver(known)).toEqual({ status: 200, result: 'credited' })
  })

  test('a signed event of one transfer under two message ids credits once', async () => {
    const order = await newOrder()
    const message = deposit(order)
    expect((await post(message)).result).toBe('credited')
    expect((await post(message)).result).toBe('duplicate')
  })

  test.each([
    ['a smaller amount', { amount: '49.99' }],
    ['a larger amount', { amount: '50.01' }],
    ['another currency', { currency: 'EUR' }],
    ['another payment of the provider', { payment_id: 'dep_somebody_else' }],
    ['an unknown reference', { reference: 'SVC-2222-2222' }],
  ])('a signed event with %s is stored without credit', async (_, changes) => {
    const order = await newOrder()
    const before = await available()
    expect(await post(deposit(order, changes))).toEqual({ status: 200, result: 'unmatched' })
    expect(await available()).toBe(before)
    expect(await stateOf(order)).toBe('pending')
  })

  test('a signed event that moves no money is acknowledged', async () => {
    const order = await newOrder()
    for (const type of ['deposit.failed', 'deposit.pending', 'deposit.cancelled']) {
      expect(await post({ ...deposit(order), type })).toEqual({ status: 200, result: 'ignored' })
    }
    expect(await stateOf(order)).toBe('pending')
  })

  test.each(['50', '-50.00', '0', '50.001', '1e3', 50, null, '9000000.01'])(
    'a signed event with the amount %p is refused',
    async (amount) => {
      const order = await newOrder()
      const { status } = await post(deposit(order, { amount }))
      expect(status).toBe(amount === '50' ? 200 : 400)
    },
  )

  test('a signed event that is no JSON object, or nested too deep, is refused', async () => {
    for (const body of ['', '[]', '"text"', '{', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`]) {
      expect((await deliver(signed(body, {}))).status).toBe(400)
    }
  })
})

describe('unsigned events', () => {
  test('an event whose body, id or time differs from the signed one is refused', async () => {
    const order = await newOrder()
    const { headers, body } = signed(deposit(order), {})
    const changes = [
      { headers, body: body.replace('50', '51') },
      { headers, body: `${body} ` },
      { headers: { ...headers, id: `${headers.id}x` }, body },
      { headers: { ...headers, timestamp: String(Number(headers.timestamp) + 1) }, body },
      { headers: { ...headers, timestamp: `${headers.timestamp}.0` }, body },
      { headers: { ...headers, signature: headers.signature.replace('v1,', 'v2,') }, body },
      { headers: { ...headers, signature: '' }, body },
      { headers: { ...headers, id: '' }, body },
    ]
    for (const change of changes) expect((await deliver(change)).status).toBe(401)
    expect((await deliver({ headers, body })).result).toBe('credited')
  })

  test('the body of an unsigned event is not read beyond the limit, and not logged', async () => {
    const canary = 'canary-in-a-large-body'
    const body = JSON.stringify({ text: canary.repeat(100_000) })
    expect(body.length).toBeGreaterThan(2 * MAX_WEBHOOK_BYTES)
    const logged = gateway.logLines.length
    expect((await deliver(signed(body, {}))).status).toBe(413)
    expect((await deliver(signed(body, { secret: OTHER_SECRET }))).status).toBe(413)
    expect((await streamed(body)).status).toBe(413)
    expect((await deliver(signed('x'.repeat(MAX_WEBHOOK_BYTES + 1), {}))).status).toBe(413)
    expect((await deliver(signed('x'.repeat(MAX_WEBHOOK_BYTES), {}))).status).toBe(400)
    expect(gateway.logLines.slice(logged).join('')).not.toContain(canary)
  })

  test('an event to another provider’s path is a 404', async () => {
    const order = await newOrder()
    const { headers, body } = signed(deposit(order), {})
    for (const provider of ['stranger', 'constructor', '..%2fsandbox']) {
      expect((await deliver({ headers, body, provider })).status).toBe(404)
    }
    expect(await stateOf(order)).toBe('pending')
  })
})

describe('refunds and chargebacks', () => {
  test('a chargeback removes the credit, suspends an account that has spent it, and is mailed', async () => {
    const { accountId } = payer.viewer
    const { order, transferId } = await deposited()
    const { apiKeys } = gateway
    const key = await apiKeys.create({ accountId, name: 'test' })
    if (key.kind !== 'created') throw new Error(key.kind)
    expect((await chat(key.key)).status).toBe(200)
    const before = await count('chargeback')
    const taken = reversal(order, { chargeback_id: 'cb_1', transfer_id: transferId })
    expect(await tell('deposit.charged_back', taken)).toEqual({ status: 200, result: 'reversed' })
    expect(await tell('deposit.charged_back', taken)).toEqual({ status: 200, result: 'duplicate' })
    expect((await gateway.balance(accountId)).available).toBeLessThan(0)
    expect((await chat(key.key)).status).toBe(403)
    expect((await count('chargeback')) - before).toBe(1)
    expect(gateway.logLines.filter((line) => line.includes('"deposit_reversed"'))).toHaveLength(1)
    const { body: seen } = await payer.json('GET', `/dashboard/api/a/:accountId/orders/${order.orderId}`)
    expect(seen).toMatchObject({ state: 'charged_back', chargedBackUsd: '50' })
    const { body: shown } = await administrator.json('GET', `/dashboard/api/admin/orders/${order.orderId}`)
    expect(shown).toMatchObject({
      state: 'charged_back',
      reversals: [{ kind: 'chargeback', externalId: 'cb_1', state: 'applied', note: 'fraudulent' }],
    })
    const won = reversal(order, { reinstatement_id: 'won_1', chargeback_id: 'cb_1' })
    expect(await tell('deposit.chargeback_won', won)).toEqual({ status: 200, result: 'reinstated' })
    expect(await payer.json('GET', `/dashboard/api/a/:accountId/orders/${order.orderId}`)).toMatchObject({
      body: { state: 'paid' },
    })
  })

  test('a refund and a failed refund are booked, also if they arrive before their deposit', async () => {
    const { order, transferId } = await deposited()
    const refund = reversal(order, { refund_id: 're_1', transfer_id: transferId, amount: '20.00' })
    expect((await tell('deposit.refunded', refund)).result).toBe('reversed')
    const failed = reversal(order, { reinstatement_id: 'rf_1', refund_id: 're_1', amount: '20.00' })
    expect((await tell('deposit.refund_failed', failed)).result).toBe('reinstated')
    const early = reversal(order, { refund_id: 're_2', transfer_id: 'tr_not_here' })
    expect((await tell('deposit.refunded', early)).result).toBe('waiting')
  })

  test('a chargeback of an unknown payment is listed for administrators and mailed only to them', async () => {
    await gateway.gateway.database.sql`UPDATE users SET email_verified = true`
    const data = { payment_id: 'pay_of_nobody', amount: '50.00', currency: 'USD', reason: 'fraudulent' }
    const lostTransfer = { ...data, chargeback_id: 'cb_lost', transfer_id: 'tr_lost' }
    expect(await tell('deposit.charged_back', lostTransfer)).toEqual({ status: 200, result: 'waiting' })
    const path = '/dashboard/api/admin/reversals'
    const { items } = (await administrator.json('GET', path)).body as { items: Record<string, unknown>[] }
    const lost = items.find(({ externalId }) => externalId === 'cb_lost')
    expect(lost).toMatchObject({ undoes: 'tr_lost', state: 'waiting', orderId: null, amount: '50' })
    expect(items.filter(({ state }) => state === 'applied')).toEqual([])
    expect((await payer.json('GET', path)).status).toBe(404)
    // Without a mail server the log has who would have got a mail.
    const mailed = () => gateway.logLines.filter((line) => line.includes('"A chargeback needs manual review"'))
    await until(() => mailed().length > 0, 'the mail')
    expect(mailed().map((line) => JSON.parse(line).to)).toEqual([administrator.email])
  })

  test('the mail about a chargeback has the amount, the payment and a link to decide', () => {
    const facts = { reversal: 'refund', amount: '12.5', currency: 'EUR', undoes: 'tr_7', hasOrder: 0 }
    const { text } = renderMail(contentOf('idle_reversal', facts), {
      baseUrl: 'https://svc.example.test',
      service: 'svc',
    })
    expect(text).toContain('A refund of 12.5 EUR has moved no credit.')
    expect(text).toContain('Nobody here knows what it undoes (tr_7).')
    expect(text.split('\n')).toContain('https://svc.example.test/dashboard/admin/orders')
  })

  test('an event of an unknown type is acknowledged, logged and counted', async () => {
    const before = await count('unknown')
    expect(await tell('deposit.reserved', {})).toEqual({ status: 200, result: 'unknown' })
    expect((await count('unknown')) - before).toBe(1)
    expect(
      gateway.logLines.some((line) => line.includes('"deposit_event_unknown"') && line.includes('deposit.reserved')),
    ).toBe(true)
  })

  test.each([
    ['deposit.charged_back', { chargeback_id: 'cb_9' }],
    ['deposit.charged_back', { chargeback_id: '', transfer_id: 'tr' }],
    ['deposit.refunded', { refund_id: 're_9', transfer_id: 'tr', amount: '-1.00' }],
    ['deposit.chargeback_won', { reinstatement_id: 'won_9' }],
    ['deposit.refunded', { refund_id: 're_9', transfer_id: 'tr', currency: 'usd' }],
  ])('the event %s with a missing or invalid field is refused', async (type, fields) => {
    const { order } = await deposited()
    expect((await tell(type, reversal(order, fields))).status).toBe(400)
  })
})

describe('while the database is away', () => {
  test('an event gets a 503 while the database is unreachable; sent again later, it is credited', async () => {
    const server = await startPostgres()
    await migrate(server.url)
    const lonely = await startGateway({
      respond: () => new Response(),
      environment: ENVIRONMENT,
      databaseUrl: server.url,
    })
    try {
      const { accountId } = await lonely.customer('0')
      const outcome = await lonely.gateway.deps.dashboard.orders.create({ ...WANTED, accountId })
      if (outcome.kind !== 'created') throw new Error(outcome.kind)
      const message = signed(deposit(outcome.order), {})
      await server.stop()
      expect(await deliver({ ...message, url: lonely.url })).toEqual({ status: 503 })
      await server.restart()
      await until(async () => (await deliver({ ...message, url: lonely.url })).result === 'credited', 'the credit')
      expect((await lonely.balance(accountId)).available).toBe(50_000_000_000 as never)
    } finally {
      await lonely.stop()
      await server.stop()
    }
  })
})

describe('without a provider', () => {
  test('without a deposit provider neither the webhook nor the page exists', async () => {
    const closed = await startGateway({
      respond: () => new Response(null, { status: 500 }),
      environment: { DEPOSIT_PROVIDER: 'none' },
    })
    try {
      const order = await newOrder()
      expect((await post(deposit(order), { url: closed.url })).status).toBe(404)
      expect((await fetch(closed.url + order.paymentUrl)).status).toBe(404)
    } finally {
      await closed.stop()
    }
  })
})

type Event = { type: string; timestamp: string; data: Record<string, unknown> }
type Signing = { secret?: string; ageSeconds?: number }
type Message = { headers: ReturnType<typeof signWebhook>; body: string }

function orders() {
  return gateway.gateway.deps.dashboard.orders
}

async function newOrder(): Promise<Order> {
  const { accountId } = await gateway.customer('0')
  customer = { ...customer, accountId }
  const outcome = await orders().create({ ...WANTED, accountId })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.order
}

/** What the account of the latest order has, in nano-USD. */
async function available(): Promise<number> {
  return (await gateway.balance(customer.accountId)).available
}

async function stateOf({ orderId }: Order): Promise<string | undefined> {
  return (await orders().get(orderId))?.state
}

function deposit(order: Order, changes: Record<string, unknown> = {}): Event {
  const data = {
    transfer_id: crypto.randomUUID(),
    payment_id: paymentIdOf(order),
    reference: order.reference,
    amount: '50.00',
    currency: 'USD',
    ...changes,
  }
  return { type: 'deposit.received', timestamp: new Date().toISOString(), data }
}

function signed(event: Event | string, { secret = NEW_SECRET, ageSeconds = 0 }: Signing): Message {
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const at = new Date(Date.now() - ageSeconds * 1000)
  return { headers: signWebhook(secret, { id: `msg_${crypto.randomUUID()}`, at, body }), body }
}

function post(event: Event, { url, ...signing }: Signing & { url?: string } = {}) {
  return deliver({ ...signed(event, signing), ...(url !== undefined && { url }) })
}

type Delivery = Message & { url?: string; provider?: string }

async function deliver({ headers, body, url = gateway.url, provider = 'sandbox' }: Delivery) {
  const response = await fetch(`${url}/webhooks/deposits/${provider}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': headers.id,
      'webhook-timestamp': headers.timestamp,
      'webhook-signature': headers.signature,
    },
    body,
  })
  const answer = (await response.json()) as { result?: string }
  return { status: response.status, ...(answer.result !== undefined && { result: answer.result }) }
}

/** The same body without its length in the headers. */
async function streamed(body: string): Promise<Response> {
  const { headers } = signed(body, {})
  return fetch(`${gateway.url}/webhooks/deposits/sandbox`, {
    method: 'POST',
    headers: {
      'webhook-id': headers.id,
      'webhook-timestamp': headers.timestamp,
      'webhook-signature': headers.signature,
    },
    body: new Blob([body]).stream(),
  })
}

function paymentIdOf(order: Order): string {
  const content = /\/deposits\/([^.]+)/.exec(order.paymentUrl ?? '')?.[1] ?? ''
  return JSON.parse(Buffer.from(content, 'base64url').toString() || '{"paymentId":"dep_none"}').paymentId
}

function tell(type: string, data: Record<string, unknown>) {
  return post({ type, timestamp: new Date().toISOString(), data })
}

async function deposited(): Promise<{ order: Order; transferId: string }> {
  const { accountId } = payer.viewer
  await gateway.gateway.database
    .sql`UPDATE orders SET created_at = created_at - interval '2 days' WHERE account_id = ${accountId}`
  const outcome = await orders().create({ ...WANTED, accountId })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  const transferId = crypto.randomUUID()
  const data = { ...reversal(outcome.order, { transfer_id: transferId }), reference: outcome.order.reference }
  expect((await tell('deposit.received', data)).result).toBe('credited')
  return { order: outcome.order, transferId }
}

function reversal(order: Order, fields: Record<string, string>): Record<string, string> {
  return { payment_id: paymentIdOf(order), amount: '50.00', currency: 'USD', reason: 'fraudulent', ...fields }
}

async function count(outcome: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  const series = new RegExp(`^svc_deposit_events_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)$`, 'm')
  return Number(series.exec(text)?.[1] ?? 0)
}

/** A paid request of the customer, who spends a little of what was deposited. */
async function chat(key: string): Promise<Response> {
  return await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
  })
}
