/** The sandbox deposit page of a real gateway, with the secret that the gateway generated. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import type { Order } from '@/console/orders/types'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response(null, { status: 500 }) })
})
afterAll(() => gateway.stop())

describe('the sandbox page', () => {
  test('the sandbox page pays by calling the webhook, as a real provider does', async () => {
    const order = await newOrder()
    const page = await fetch(gateway.url + order.paymentUrl)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    const html = await page.text()
    expect(html).toContain(order.reference)
    expect(html).not.toContain('<script')
    const paid = await submit(order, { action: 'pay' })
    expect(paid.status).toBe(200)
    expect(await paid.text()).toContain('Paid. The gateway has been told.')
    expect(await stateOf(order)).toBe('paid')
  })

  test('a sandbox payment of another amount credits nothing; after a cancellation the order is still pending', async () => {
    const order = await newOrder()
    expect((await submit(order, { action: 'pay_other', amount: '12.345' })).status).toBe(400)
    expect((await submit(order, { action: 'pay_other', amount: '12.34' })).status).toBe(200)
    expect((await submit(order, { action: 'cancel' })).status).toBe(200)
    const details = await orders().get(order.orderId)
    expect(details).toMatchObject({ state: 'pending', payments: [{ amountCents: 1_234, mismatch: 'underpaid' }] })
  })

  test('a sandbox page with a changed URL is a 404', async () => {
    const order = await newOrder()
    const [, content = '', seal = ''] = /\/deposits\/([^.]+)\.(.+)$/.exec(order.paymentUrl ?? '') ?? []
    const cheaper = JSON.parse(Buffer.from(content, 'base64url').toString())
    const changed = Buffer.from(JSON.stringify({ ...cheaper, amountCents: 1 })).toString('base64url')
    for (const token of [`${changed}.${seal}`, `${content}.`, content, `${content}.${seal}é`, 'x']) {
      expect((await fetch(`${gateway.url}/sandbox/deposits/${token}`)).status).toBe(404)
    }
  })
})

describe('the page of one gateway', () => {
  test('the sandbox page of one gateway pays on another with the same database', async () => {
    const order = await newOrder()
    const twin = await gateway.twin()
    const paid = await fetch(twin.url + order.paymentUrl, {
      method: 'POST',
      body: new URLSearchParams({ action: 'pay' }),
    })
    expect(paid.status).toBe(200)
    expect(await stateOf(order)).toBe('paid')
    const secrets = await gateway.gateway.database.sql`SELECT id FROM sandbox_deposit_secret`
    expect(secrets).toHaveLength(1)
  })
})

function orders() {
  return gateway.gateway.deps.dashboard.orders
}

async function newOrder(): Promise<Order> {
  const { accountId } = await gateway.customer('0')
  const actor = { kind: 'system', name: 'test' } as const
  const outcome = await orders().create({ accountId, method: 'deposit', amountCents: 5_000, actor })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.order
}

async function stateOf({ orderId }: Order): Promise<string | undefined> {
  return (await orders().get(orderId))?.state
}

function submit(order: Order, form: Record<string, string>): Promise<Response> {
  return fetch(gateway.url + order.paymentUrl, { method: 'POST', body: new URLSearchParams(form) })
}
