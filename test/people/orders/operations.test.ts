/** Operations on orders, auto top-ups and transfers: each changes something once per request key. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { fillPath } from '@test/console/http/routes'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { type StripeStub, startStripeStub, stripeEnvironment } from '@test/support/stripe-stub'
import { until } from '@test/support/until'
import { addCredit } from '@test/usage/customer'
import { ACCOUNT_PREFIX } from '@/console/http/guard'
import { placeOf } from '@/people/operation'
import { ORDER_OPERATIONS } from '@/people/orders/operations'

const CHANGES = ORDER_OPERATIONS.filter(({ path }) => !path.startsWith('GET '))
const OWN = '/dashboard/api/a/:accountId'
const AMOUNTS = { belowUsd: '10', amountUsd: '50', perDayUsd: '100' }

let stripe: StripeStub
let gateway: TestGateway
let person: Person

beforeAll(async () => {
  stripe = startStripeStub()
  const environment = stripeEnvironment(stripe)
  gateway = await startGateway({ respond: () => Response.json({}), environment })
  stripe.webhookUrl = `${gateway.url}/webhooks/deposits/stripe`
})
beforeEach(async () => {
  person = await signUpPerson(gateway)
})
afterAll(async () => {
  await gateway.stop()
  await stripe.stop()
})

async function order(method = 'bank_transfer'): Promise<string> {
  const { body } = await person.json('POST', `${OWN}/orders`, { amountUsd: '25', method })
  return (body as { orderId: string }).orderId
}

/** An order whose gateway died before the provider had it. */
async function orderWithoutPage(): Promise<string> {
  const orderId = await order('deposit')
  await gateway.gateway.database.sql`UPDATE orders SET payee = NULL, payment_url = NULL WHERE id = ${orderId}`
  return orderId
}

async function openCardPage(): Promise<string> {
  const { body } = await person.json('POST', `${OWN}/auto-top-up/card`, {})
  return (body as { url: string }).url.split('/').at(-1) ?? ''
}

async function saveCard(): Promise<void> {
  stripe.saveCard(await openCardPage())
  const card = async () => ((await person.json('GET', `${OWN}/auto-top-up`)).body as { card: unknown }).card
  await until(async () => (await card()) !== null, 'the saved card')
}

async function turnOn(): Promise<void> {
  await saveCard()
  expect((await person.json('PUT', `${OWN}/auto-top-up`, AMOUNTS)).status).toBe(200)
}

/** With credit in the first. */
async function secondAccount(): Promise<string> {
  await addCredit(gateway, person.viewer.accountId, '10')
  const { accountId } = (await signUpPerson(gateway)).viewer
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${person.viewer.userId}, 'owner')`
  return accountId
}

type Press = {
  /** Returns the id of the order that the operation is on, or of what its body names. */
  prepare?: () => Promise<unknown>
  body?: (id: string) => object
  /** Audit entries it writes; by default one of its name. */
  entries?: string[]
  /** The call of Stripe that it makes. */
  call?: string
}

const PRESSES: Record<(typeof CHANGES)[number]['name'], Press> = {
  'order.create': { body: () => ({ amountUsd: '25', method: 'deposit' }), call: 'POST /v1/checkout/sessions' },
  'order.set_up': { prepare: orderWithoutPage, entries: [], call: 'POST /v1/checkout/sessions' },
  'order.cancel': { prepare: () => order() },
  'order.claim': { prepare: () => order(), body: () => ({ note: 'paid' }) },
  'auto_top_up.on': { prepare: saveCard, body: () => AMOUNTS },
  'auto_top_up.off': { prepare: turnOn },
  'auto_top_up.card_page': { entries: [], call: 'POST /v1/checkout/sessions' },
  'auto_top_up.card_look': { prepare: openCardPage, entries: [] },
  'auto_top_up.card_remove': { prepare: saveCard },
  'credit.move': {
    prepare: secondAccount,
    body: (toAccountId) => ({ toAccountId, amountUsd: '2.5', key: 'k' }),
  },
}

test.each(CHANGES)('$name, sent thirty times at once with one request key, happens once', async ({ name, path }) => {
  const { prepare, body = () => ({}), entries = [name], call } = PRESSES[name] ?? {}
  const orderId = String(await prepare?.())
  const { sql } = gateway.gateway.database
  const { accountId } = person.viewer
  const audited = async () =>
    (await sql`SELECT action FROM audit_entries WHERE account_id = ${accountId} ORDER BY seq`).map(
      ({ action }) => action,
    )
  const [before, callsBefore] = [await audited(), stripe.calls.length]
  const { method, place } = placeOf({ path })
  const headers = { 'idempotency-key': name, 'content-type': 'application/json' }
  const send = async () => {
    const init = method === 'DELETE' ? { method, headers } : { method, headers, body: JSON.stringify(body(orderId)) }
    const response = await person.fetch(fillPath(ACCOUNT_PREFIX + place, { accountId, orderId }), init)
    return { status: response.status, text: await response.text() }
  }
  const done = (await Promise.all(Array.from({ length: 30 }, send))).filter(({ status }) => status === 200)
  expect(new Set(done.map(({ text }) => text)).size).toBe(1)
  expect((await audited()).slice(before.length)).toEqual(entries)
  const calls = stripe.calls.slice(callsBefore).filter(({ line }) => line === call)
  expect(calls.length).toBe(call === undefined ? 0 : 1)
  // After a lost answer, once more.
  expect(await send()).toEqual({ status: 200, text: done[0]?.text ?? '' })
  expect((await audited()).slice(before.length)).toEqual(entries)
})
