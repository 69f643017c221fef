/** Chargebacks through the deposit webhook: signed, visible to customer and administrator, and never ignored silently. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { renderMail } from '@/accounts/mails/render'
import { contentOf } from '@/accounts/mails/templates'
import { signWebhook } from '@/console/orders/deposits/webhook-signature'
import type { Order } from '@/console/orders/types'

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

let gateway: TestGateway
let customer: Person
let administrator: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    environment: { DEPOSIT_PROVIDER: 'sandbox', DEPOSIT_WEBHOOK_SECRETS: SECRET },
  })
  customer = await signUpPerson(gateway)
  administrator = await signUpPerson(gateway, { role: 'admin' })
})
afterAll(() => gateway.stop())

test('a chargeback removes the credit, suspends an account that has spent it, and is mailed', async () => {
  const { accountId } = customer.viewer
  const { order, transferId } = await deposited()
  const { apiKeys } = gateway
  const key = await apiKeys.create({ accountId, name: 'test' })
  if (key.kind !== 'created') throw new Error(key.kind)
  expect((await chat(key.key)).status).toBe(200)
  const before = await count('chargeback')
  const event = {
    type: 'deposit.charged_back',
    data: reversal(order, { chargeback_id: 'cb_1', transfer_id: transferId }),
  }
  expect(await post(event)).toEqual({ status: 200, result: 'reversed' })
  expect(await post(event)).toEqual({ status: 200, result: 'duplicate' })
  expect((await gateway.balance(accountId)).available).toBeLessThan(0)
  expect((await chat(key.key)).status).toBe(403)
  expect((await count('chargeback')) - before).toBe(1)
  expect(gateway.logLines.filter((line) => line.includes('"deposit_reversed"'))).toHaveLength(1)
  const { body: seen } = await customer.json('GET', `/dashboard/api/a/:accountId/orders/${order.orderId}`)
  expect(seen).toMatchObject({ state: 'charged_back', chargedBackUsd: '50' })
  const { body: shown } = await administrator.json('GET', `/dashboard/api/admin/orders/${order.orderId}`)
  expect(shown).toMatchObject({
    state: 'charged_back',
    reversals: [{ kind: 'chargeback', externalId: 'cb_1', state: 'applied', note: 'fraudulent' }],
  })
  const won = reversal(order, { reinstatement_id: 'won_1', chargeback_id: 'cb_1' })
  expect(await post({ type: 'deposit.chargeback_won', data: won })).toEqual({ status: 200, result: 'reinstated' })
  expect(await customer.json('GET', `/dashboard/api/a/:accountId/orders/${order.orderId}`)).toMatchObject({
    body: { state: 'paid' },
  })
})

test('a refund and a failed refund are booked, also if they arrive before their deposit', async () => {
  const { order, transferId } = await deposited()
  const refund = reversal(order, { refund_id: 're_1', transfer_id: transferId, amount: '20.00' })
  expect((await post({ type: 'deposit.refunded', data: refund })).result).toBe('reversed')
  const failed = reversal(order, { reinstatement_id: 'rf_1', refund_id: 're_1', amount: '20.00' })
  expect((await post({ type: 'deposit.refund_failed', data: failed })).result).toBe('reinstated')
  const early = reversal(order, { refund_id: 're_2', transfer_id: 'tr_not_here' })
  expect((await post({ type: 'deposit.refunded', data: early })).result).toBe('waiting')
})

test('a chargeback of an unknown payment is listed for administrators and mailed only to them', async () => {
  await gateway.gateway.database.sql`UPDATE users SET email_verified = true`
  const data = { payment_id: 'pay_of_nobody', amount: '50.00', currency: 'USD', reason: 'fraudulent' }
  const event = { type: 'deposit.charged_back', data: { ...data, chargeback_id: 'cb_lost', transfer_id: 'tr_lost' } }
  expect(await post(event)).toEqual({ status: 200, result: 'waiting' })
  const path = '/dashboard/api/admin/reversals'
  const { items } = (await administrator.json('GET', path)).body as { items: Record<string, unknown>[] }
  const lost = items.find(({ externalId }) => externalId === 'cb_lost')
  expect(lost).toMatchObject({ undoes: 'tr_lost', state: 'waiting', orderId: null, amount: '50' })
  expect(items.filter(({ state }) => state === 'applied')).toEqual([])
  expect((await customer.json('GET', path)).status).toBe(404)
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
  expect(await post({ type: 'deposit.reserved', data: {} })).toEqual({ status: 200, result: 'unknown' })
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
  expect((await post({ type, data: reversal(order, fields) })).status).toBe(400)
})

async function deposited(): Promise<{ order: Order; transferId: string }> {
  const { orders } = gateway.gateway.deps.dashboard
  const actor = { kind: 'system', name: 'test' } as const
  const { accountId } = customer.viewer
  await gateway.gateway.database
    .sql`UPDATE orders SET created_at = created_at - interval '2 days' WHERE account_id = ${accountId}`
  const outcome = await orders.create({ accountId, method: 'deposit', amountCents: 5_000, actor })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  const transferId = crypto.randomUUID()
  const data = { ...reversal(outcome.order, { transfer_id: transferId }), reference: outcome.order.reference }
  expect((await post({ type: 'deposit.received', data })).result).toBe('credited')
  return { order: outcome.order, transferId }
}

function reversal(order: Order, fields: Record<string, string>): Record<string, string> {
  const content = /\/deposits\/([^.]+)/.exec(order.paymentUrl ?? '')?.[1] ?? ''
  const { paymentId } = JSON.parse(Buffer.from(content, 'base64url').toString()) as { paymentId: string }
  return { payment_id: paymentId, amount: '50.00', currency: 'USD', reason: 'fraudulent', ...fields }
}

async function post(event: { type: string; data: object }) {
  const body = JSON.stringify({ ...event, timestamp: new Date().toISOString() })
  const headers = signWebhook(SECRET, { id: `msg_${crypto.randomUUID()}`, at: new Date(), body })
  const response = await fetch(`${gateway.url}/webhooks/deposits/sandbox`, {
    method: 'POST',
    headers: {
      'webhook-id': headers.id,
      'webhook-timestamp': headers.timestamp,
      'webhook-signature': headers.signature,
    },
    body,
  })
  const answer = (await response.json()) as { result?: string }
  return { status: response.status, ...(answer.result !== undefined && { result: answer.result }) }
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
