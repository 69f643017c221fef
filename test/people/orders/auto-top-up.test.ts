/** Automatic top-ups on real gateways with a simulated Stripe: who may set them up, and requests that cross the threshold. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { run } from '@test/cli/run'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { type StripeStub, startStripeStub, stripeEnvironment } from '@test/support/stripe-stub'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit, flushed } from '@test/usage/customer'
import { assert } from '@/lib/assert'
import type { AutoTopUpBody } from '@/people/orders/auto-top-up'
import type { OrderBody } from '@/people/orders/bodies'

const OWN = '/dashboard/api/a/:accountId'
const PATH = `${OWN}/auto-top-up`
const AMOUNTS = { belowUsd: '10', amountUsd: '50', perDayUsd: '100' }

let stripe: StripeStub
let gateway: TestGateway
let person: Person

beforeAll(async () => {
  stripe = startStripeStub()
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok', usageOf(10, 5))),
    environment: { ...stripeEnvironment(stripe), STRIPE_AUTOMATIC_TAX: 'on' },
  })
  stripe.webhookUrl = `${gateway.url}/webhooks/deposits/stripe`
})
beforeEach(async () => {
  Object.assign(stripe, { intercept: undefined, taxPercent: 0 })
  person = await signUpPerson(gateway)
})
afterAll(async () => {
  await gateway.stop()
  await stripe.stop()
})

async function show(who = person): Promise<AutoTopUpBody> {
  return (await who.json('GET', PATH)).body as AutoTopUpBody
}

/** Saves a card on the page of Stripe that the dashboard opens. Returns the page's session. */
async function saveCard(card: Parameters<StripeStub['saveCard']>[1] = {}): Promise<string> {
  const { status, body } = await person.json('POST', `${PATH}/card`, {})
  expect(status).toBe(200)
  const id = (body as { url: string }).url.split('/').at(-1) ?? ''
  stripe.saveCard(id, card)
  await until(async () => (await show()).card !== null, 'the saved card')
  return id
}

async function colleague(role: string): Promise<Person> {
  const other = await signUpPerson(gateway)
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${person.viewer.accountId}, ${other.viewer.userId}, ${role})`
  return other
}

describe('an auto top-up', () => {
  test('an auto top-up is empty at first, gets a card on a page of Stripe, is turned on and off, and is audited', async () => {
    expect(await show()).toEqual({
      ...{ isOn: false, stopped: null, card: null, amounts: null, orders: [] },
      limits: {
        belowUsd: { minimumUsd: '1', maximumUsd: '5000' },
        amountUsd: { minimumUsd: '5', maximumUsd: '10000' },
        perDayUsd: { minimumUsd: '5', maximumUsd: '100000' },
      },
    })
    const early = await person.json('PUT', PATH, AMOUNTS)
    expect([early.status, JSON.stringify(early.body)]).toEqual([409, expect.stringContaining('no_saved_card')])
    const id = await saveCard()
    const { form } = stripe.calls.findLast(({ form: sent }) => sent.get('mode') === 'setup') ?? {}
    const back = `${gateway.url}/dashboard/a/${person.viewer.accountId}/credit`
    expect(Object.fromEntries(form ?? [])).toEqual({
      ...{ mode: 'setup', currency: 'usd', 'allowed_payment_method_types[0]': 'card' },
      ...{ client_reference_id: person.viewer.accountId, 'metadata[account]': person.viewer.accountId },
      'setup_intent_data[metadata][account]': person.viewer.accountId,
      'setup_intent_data[description]': 'Card for automatic top-ups',
      ...{ customer_creation: 'always', customer_email: person.email },
      ...{ success_url: `${back}?card`, cancel_url: back, billing_address_collection: 'required' },
    })
    expect(stripe.sessions.get(id)?.status).toBe('complete')
    const card = { brand: 'visa', lastFour: '4242', expMonth: 12, expYear: 2040 }
    expect(await show()).toMatchObject({ card, isOn: false })
    expect((await person.json('PUT', PATH, AMOUNTS)).body).toMatchObject({ isOn: true, amounts: AMOUNTS, card })
    expect((await person.json('POST', `${PATH}/off`, {})).body).toMatchObject({ isOn: false, stopped: 'person', card })
    expect((await person.json('DELETE', `${PATH}/card`)).body).toMatchObject({ card: null, stopped: 'card_removed' })
    const rows = await gateway.gateway.database.sql<{ action: string }[]>`
      SELECT action FROM audit_entries WHERE account_id = ${person.viewer.accountId} AND action LIKE 'auto%' ORDER BY seq`
    expect(rows.map(({ action }) => action)).toEqual([
      ...['auto_top_up.card_saved', 'auto_top_up.on', 'auto_top_up.off', 'auto_top_up.card_remove'],
    ])
  })

  test('a member who lost the role cannot change an auto top-up, which stays on', async () => {
    await saveCard()
    const billing = await colleague('billing')
    const path = PATH.replace(':accountId', person.viewer.accountId)
    expect((await billing.json('PUT', path, AMOUNTS)).status).toBe(200)
    await gateway.gateway.database.sql`UPDATE memberships SET role = 'viewer' WHERE user_id = ${billing.viewer.userId}
      AND account_id = ${person.viewer.accountId}`
    expect((await billing.json('POST', `${path}/off`, {})).status).toBe(403)
    expect(await show()).toMatchObject({ isOn: true })
  })

  test('turning on an auto top-up needs a recent proof', async () => {
    await saveCard()
    const { userId } = person.viewer
    await gateway.gateway.database
      .sql`UPDATE sessions SET proved_at = proved_at - interval '10 minutes' WHERE user_id = ${userId}`
    const refused = await person.json('PUT', PATH, AMOUNTS)
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([403, expect.stringContaining('step_up_required')])
    expect((await person.json('POST', `${PATH}/off`, {})).status).toBe(200)
  })

  test('wrong amounts of an auto top-up are refused with their field, and an unreachable Stripe is reported', async () => {
    await saveCard()
    for (const [change, field] of [
      [{ belowUsd: '0.5' }, 'belowUsd'],
      [{ amountUsd: '9.99' }, 'amountUsd'],
      [{ perDayUsd: '49' }, 'perDayUsd'],
      [{ perDayUsd: 'x' }, 'perDayUsd'],
    ] as const) {
      const { status, body } = await person.json('PUT', PATH, { ...AMOUNTS, ...change })
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)])
    }
    stripe.intercept = () => ({
      response: Response.json({ error: { type: 'authentication_error', message: 'x' } }, { status: 401 }),
    })
    expect((await person.json('POST', `${PATH}/card`, {})).status).toBe(502)
    expect((await person.json('DELETE', `${PATH}/card`)).status).toBe(502)
  })

  test('when requests on two gateways cross the threshold, 500 parallel checks make one charge, which all lists of orders show', async () => {
    stripe.taxPercent = 19
    const { accountId } = person.viewer
    await addCredit(gateway, accountId, '10')
    await saveCard()
    expect((await person.json('PUT', PATH, AMOUNTS)).status).toBe(200)
    const twin = await gateway.twin()
    const made = await gateway.apiKeys.create({ accountId, name: 'crossing' })
    assert(made.kind === 'created', 'the account exists')
    const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 })
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const { url } = index % 2 ? twin : gateway
        return (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).status
      }),
    )
    expect(answers).toContain(200)
    await flushed(gateway, accountId)
    const both = [gateway, twin].map((one) => one.gateway.deps.dashboard.orders)
    await Promise.all(Array.from({ length: 500 }, (_, index) => both[index % 2]?.topUpDue()))
    await until(async () => (await show()).orders[0]?.state === 'paid', 'the payment')
    const [order] = (await show()).orders
    const mine = stripe.intents.filter(({ metadata }) => metadata.order === order?.orderId)
    expect((await show()).orders).toHaveLength(1)
    expect(mine).toMatchObject([{ amount: 5_950, status: 'succeeded' }])
    const card = { brand: 'visa', lastFour: '4242' }
    expect(order).toMatchObject({ origin: 'auto_top_up', card, amountUsd: '50', paidUsd: '50' })
    const listed = (await person.json('GET', `${OWN}/orders`)).body as { items: OrderBody[] }
    expect(listed.items).toMatchObject([{ orderId: order?.orderId, origin: 'auto_top_up', card }])
    const detail = await person.json('GET', `${OWN}/orders/${order?.orderId}`)
    expect(detail.body).toMatchObject({
      hasProviderDocument: true,
      events: [{ kind: 'created', by: 'service' }, { kind: 'paid' }],
      receipt: { paidUsd: '50', taxUsd: '9.5', taxReturnedUsd: '0', totalUsd: '59.5' },
    })
    const document = await person.json('GET', `${OWN}/orders/${order?.orderId}/document`)
    expect(document.body).toEqual({ url: `${stripe.url}/invoice` })
    const statement = JSON.stringify((await person.json('GET', `${OWN}/statement`)).body)
    expect(statement).toContain(order?.reference ?? 'no reference')
    const { redisUrl, databaseUrl } = gateway.stores
    const shown = await run(['order', 'show', order?.reference ?? ''], {
      REDIS_URL: redisUrl,
      DATABASE_URL: databaseUrl,
    })
    expect(shown.json).toMatchObject({ origin: 'auto_top_up', state: 'paid' })
  })
})

test('if the payment provider saves no cards, an auto top-up cannot be set up', async () => {
  const other = await startGateway({ respond: () => new Response(null, { status: 500 }) })
  try {
    const who = await signUpPerson(other)
    expect((await who.json('GET', PATH)).body).toMatchObject({ card: null, isOn: false })
    expect((await who.json('PUT', PATH, AMOUNTS)).status).toBe(409)
    expect((await who.json('POST', `${PATH}/card`, {})).status).toBe(409)
    const { body } = await who.json('GET', `${OWN}/orders/options`)
    expect(body).toMatchObject({ deposit: { provider: 'sandbox', savesCards: false } })
  } finally {
    await other.stop()
  }
})
