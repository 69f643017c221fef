/** The dashboard's routes of credit: what a customer can order, see and cancel. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import type { OrderBody, OrderDetailBody } from '@/people/orders/bodies'

let gateway: TestGateway
let person: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response(null, { status: 500 }) })
  person = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

describe('the options', () => {
  test('order options name limits and methods, and mark the example bank account if none is configured', async () => {
    const { status, body } = await person.json('GET', '/dashboard/api/a/:accountId/orders/options')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      minimumUsd: '5',
      maximumUsd: '10000',
      maxOpenOrders: 5,
      bankTransfer: { bank: { isExample: true }, expiresAfterHours: 336 },
      deposit: { provider: 'sandbox', isSandbox: true, expiresAfterHours: 24 },
    })
  })

  test('order options show the configured bank account, and offer no transfer in production without one', async () => {
    const environment = {
      NODE_ENV: 'production',
      AUTH_SECRET: 'x'.repeat(32),
      BANK_TRANSFER_BENEFICIARY: 'Gateway Ltd',
      BANK_TRANSFER_IBAN: 'DE89370400440532013000',
    }
    const real = await startGateway({ respond: () => new Response(), environment })
    const bare = await startGateway({
      respond: () => new Response(),
      environment: { NODE_ENV: 'production', AUTH_SECRET: 'x'.repeat(32) },
    })
    try {
      expect(real.gateway.deps.dashboard.methods).toMatchObject({
        bankTransfer: { beneficiary: 'Gateway Ltd', iban: 'DE89370400440532013000', isExample: false },
        deposit: undefined,
      })
      const buyer = await real.customer('0')
      const outcome = await real.gateway.deps.dashboard.orders.create({
        accountId: buyer.accountId,
        method: 'bank_transfer',
        amountCents: 5_000,
        actor: { kind: 'system', name: 'test' },
      })
      expect(outcome).toMatchObject({ order: { bankDetails: { beneficiary: 'Gateway Ltd', isExample: false } } })
      expect(bare.gateway.deps.dashboard.methods).toEqual({ bankTransfer: undefined, deposit: undefined })
    } finally {
      await real.stop()
      await bare.stop()
    }
  })
})

describe('an order', () => {
  test('an order is created, read, marked as paid, credited, and gets a receipt', async () => {
    const order = await create({ amountUsd: '12.5', method: 'bank_transfer' })
    expect(order).toMatchObject({ amountUsd: '12.5', state: 'pending', paidUsd: '0', method: 'bank_transfer' })
    const pending = await detail(order.orderId)
    expect(pending).toMatchObject({
      bank: { iban: order.paymentAccount, isExample: true },
      receipt: null,
      payments: [],
    })
    expect(pending.events).toMatchObject([{ kind: 'created', by: 'you', amountUsd: '12.5' }])
    const claimed = await person.json('POST', `/dashboard/api/a/:accountId/orders/${order.orderId}/claim-paid`, {
      note: ' today ',
    })
    expect(claimed.body).toMatchObject({ state: 'pending', claimNote: 'today' })
    await gateway.gateway.deps.dashboard.orders.confirmPayment({
      source: 'manual',
      externalId: order.orderId,
      orderId: order.orderId,
      amountCents: 1_250,
      currency: 'USD',
      reason: 'for our eyes only',
      actor: { kind: 'person', userId: 'user_admin', email: 'somebody@operator.test' },
    })
    const paid = await detail(order.orderId)
    expect(paid).toMatchObject({
      state: 'paid',
      paidUsd: '12.5',
      payments: [{ amount: '12.5', currency: 'USD', state: 'credited', creditedUsd: '12.5' }],
      seller: { name: 'svc', address: null, vatId: null },
      customer: { name: person.viewer.name, email: person.email, country: null, vatId: null },
      receipt: { number: order.reference, paidUsd: '12.5', refundedUsd: '0', totalUsd: '12.5' },
    })
    expect(paid.events.map(({ kind, by }) => [kind, by])).toEqual([
      ['created', 'you'],
      ['claimed', 'you'],
      ['paid', 'service'],
    ])
    const company = { name: 'Engines Ltd', country: 'GB', vatId: 'GB 123 4567 89' }
    await person.json('POST', '/dashboard/api/a/:accountId/organisation', company)
    // The receipt stays as it was issued.
    expect((await detail(order.orderId)).customer).toEqual(paid.customer)
    const next = await create({ amountUsd: '5', method: 'bank_transfer' })
    expect((await detail(next.orderId)).customer).toEqual({ ...company, email: person.email })
    expect(JSON.stringify(paid)).not.toContain('operator.test')
    expect(JSON.stringify(paid)).not.toContain('for our eyes only')
    expect((await gateway.balance(person.viewer.accountId)).available).toBe(12_500_000_000 as never)
    const cancelled = await person.json('POST', `/dashboard/api/a/:accountId/orders/${order.orderId}/cancel`, {})
    expect(cancelled).toMatchObject({ status: 409, body: { error: { code: 'order_not_pending' } } })
  })

  test('an order by deposit has a payment page', async () => {
    const order = await create({ amountUsd: '20', method: 'deposit' })
    expect(order.paymentUrl).toStartWith('/sandbox/deposits/')
    const page = await (await person.fetch(order.paymentUrl ?? '')).text()
    expect(page).toContain(`${gateway.url}/dashboard/a/${person.viewer.accountId}/credit/orders/${order.orderId}`)
    const cancelled = await person.json('POST', `/dashboard/api/a/:accountId/orders/${order.orderId}/cancel`, {})
    expect(cancelled).toMatchObject({ status: 200, body: { state: 'cancelled' } })
  })

  test.each([
    [{ amountUsd: '4.99', method: 'deposit' }, 'amountUsd'],
    [{ amountUsd: '10000.01', method: 'deposit' }, 'amountUsd'],
    [{ amountUsd: '10.001', method: 'deposit' }, 'amountUsd'],
    [{ amountUsd: '-10', method: 'deposit' }, 'amountUsd'],
    [{ amountUsd: '1e3', method: 'deposit' }, 'amountUsd'],
    [{ amountUsd: 10, method: 'deposit' }, 'amountUsd'],
    [{ amountUsd: '10', method: 'cash' }, 'method'],
    [{ amountUsd: '10' }, 'method'],
  ])('an order of %p is refused', async (body, param) => {
    const answer = await person.json('POST', '/dashboard/api/a/:accountId/orders', body)
    expect(answer).toMatchObject({ status: 400, body: { error: { param } } })
  })

  test('a sixth open order is refused', async () => {
    const busy = await signUpPerson(gateway)
    const answers = []
    for (let index = 0; index < 6; index++) {
      answers.push(
        await busy.json('POST', '/dashboard/api/a/:accountId/orders', { amountUsd: '10', method: 'bank_transfer' }),
      )
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 409])
    expect(answers.at(-1)?.body).toMatchObject({ error: { code: 'too_many_open_orders' } })
  })
})

describe('the list', () => {
  test('the list of orders has pages', async () => {
    const reader = await signUpPerson(gateway)
    for (const amountUsd of ['5', '6', '7']) {
      await reader.json('POST', '/dashboard/api/a/:accountId/orders', { amountUsd, method: 'bank_transfer' })
    }
    const first = (await reader.json('GET', '/dashboard/api/a/:accountId/orders?limit=2')).body as {
      items: OrderBody[]
      nextCursor: string
    }
    const rest = (await reader.json('GET', `/dashboard/api/a/:accountId/orders?limit=2&cursor=${first.nextCursor}`))
      .body
    expect(first.items.map(({ amountUsd }) => amountUsd)).toEqual(['7', '6'])
    expect(rest).toMatchObject({ items: [{ amountUsd: '5' }], nextCursor: null })
    expect((await reader.json('GET', '/dashboard/api/a/:accountId/orders?cursor=nonsense')).status).toBe(400)
    expect((await reader.json('GET', '/dashboard/api/a/:accountId/orders?limit=1000')).status).toBe(400)
  })
})

test('a person’s actions on orders are in the audit log with their network address', async () => {
  const { orderId } = await create({ amountUsd: '10', method: 'bank_transfer' })
  await person.json('POST', `/dashboard/api/a/:accountId/orders/${orderId}/cancel`, {})
  const entries = await gateway.gateway.database.sql`
    SELECT action, actor_id, actor_email, ip FROM audit_entries WHERE subject = ${orderId} ORDER BY seq`
  const who = { actor_id: person.viewer.userId, actor_email: person.email, ip: expect.any(String) }
  expect([...entries]).toEqual([
    { action: 'order.create', ...who },
    { action: 'order.cancel', ...who },
  ])
})

async function create(body: { amountUsd: string; method: string }): Promise<OrderBody> {
  const answer = await person.json('POST', '/dashboard/api/a/:accountId/orders', body)
  expect(answer.status).toBe(200)
  return answer.body as OrderBody
}

async function detail(orderId: string): Promise<OrderDetailBody> {
  const { status, body } = await person.json('GET', `/dashboard/api/a/:accountId/orders/${orderId}`)
  expect(status).toBe(200)
  return body as OrderDetailBody
}
