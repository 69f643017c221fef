/** The deposit webhook of a real gateway: only signed events count, and each counts once. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { startPostgres } from '@test/support/stores'
import { until } from '@test/support/until'
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

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Response(null, { status: 500 }),
    environment: ENVIRONMENT,
  })
  customer = await gateway.customer('0')
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

  test('a signed event for an order with another payment method is stored without credit', async () => {
    const order = await newOrder('bank_transfer')
    expect((await post(deposit(order))).result).toBe('unmatched')
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

async function newOrder(method: Order['method'] = 'deposit'): Promise<Order> {
  const { accountId } = await gateway.customer('0')
  customer = { ...customer, accountId }
  const outcome = await orders().create({ ...WANTED, accountId, method })
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
  const paymentId = JSON.parse(
    Buffer.from(/\/deposits\/([^.]+)/.exec(order.paymentUrl ?? '')?.[1] ?? '', 'base64url').toString() || '{}',
  ).paymentId
  const data = {
    transfer_id: crypto.randomUUID(),
    payment_id: paymentId ?? 'dep_none',
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
