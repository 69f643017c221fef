/** Automatic top-ups on real stores, with a simulated Stripe: when a card is charged, how often, and what turns them off. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { join, newOrganisation } from '@test/accounts/members/people'
import { CUSTOMER, DAY_MS, type OrdersFixture, openOrders, testClock } from '@test/console/orders/fixture'
import { STRIPE_KEY, STRIPE_SECRET, type StripeStub, type StubEvent, startStripeStub } from '@test/support/stripe-stub'
import type { DepositProvider } from '@/console/orders/deposits/deposit-provider'
import type { StripeSettings } from '@/console/orders/deposits/stripe/stripe-client'
import { createStripeProvider } from '@/console/orders/deposits/stripe/stripe-provider'
import { createOrders, type Orders } from '@/console/orders/orders'
import type { JsonObject } from '@/lib/json'

const HOUR_MS = 3_600_000
const AMOUNTS = { belowCents: 1_000, amountCents: 5_000, dailyCents: 10_000 }

let stripe: StripeStub
let world: OrdersFixture
let provider: DepositProvider
let accountId: string

function providerWith(settings: Partial<StripeSettings> = {}): DepositProvider {
  const all: StripeSettings = {
    ...{ secretKey: STRIPE_KEY, isLive: false, webhookSecrets: [STRIPE_SECRET], apiBase: stripe.url },
    ...{ hasInvoices: true, addsTax: false, asksTaxId: false, billingAddress: 'auto', ...settings },
  }
  return createStripeProvider(all, testClock())
}

beforeAll(async () => {
  stripe = startStripeStub()
  provider = providerWith()
  world = await openOrders({ deposit: provider })
})
beforeEach(async () => {
  Object.assign(stripe, { intercept: undefined, taxPercent: 0 })
  // Accounts of other tests are below their threshold too.
  await world.fixture.database.sql`UPDATE auto_top_ups SET is_on = false, stopped = 'person' WHERE is_on`
  accountId = await world.account()
})
afterAll(async () => {
  await world.close()
  await stripe.stop()
})

type Card = Parameters<StripeStub['saveCard']>[1]

/** Saves a card on Stripe's page. Returns the event, of which no gateway has heard. */
async function saveAtStripe(card: Card = {}): Promise<StubEvent> {
  const outcome = await world.orders.openCardPage({ accountId, returnUrl: 'http://x' })
  if (outcome.kind !== 'opened') throw new Error(outcome.kind)
  return stripe.saveCard(outcome.url.split('/').at(-1) ?? '', card)
}

/** An account below its threshold, whose auto top-up is on. */
async function turnedOn(card: Card = {}, amounts = AMOUNTS): Promise<void> {
  await tell(await saveAtStripe(card))
  expect(await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...amounts })).toEqual({ kind: 'on' })
}

async function tell(event: StubEvent, orders: Orders = world.orders): Promise<void> {
  for (const one of await provider.readEvents(event as JsonObject)) await orders.applyDeposit('stripe', one)
}

const charges = () =>
  stripe.intents.filter(({ metadata }) => metadata.charge !== undefined && isMine(String(metadata.order)))
const cardIds = () => stripe.cards.keys().toArray()
let mine = new Set<string>()
const isMine = (orderId: string) => mine.has(orderId)

async function list() {
  const { items } = await world.orders.list(accountId, {})
  mine = new Set(items.map(({ orderId }) => orderId))
  return items
}

/** States of the account's orders, newest first, and the number of its charges at Stripe. */
async function facts() {
  const states = (await list()).map(({ state }) => state)
  const { isOn, stopped } = await world.orders.autoTopUp(accountId)
  return { states, charges: charges().length, isOn, stopped }
}

/** As a flusher books it. */
async function spendAll(): Promise<void> {
  await world.fixture.database.sql`UPDATE accounts SET balance_nano = 0 WHERE id = ${accountId}`
}

async function mailsOf(): Promise<{ kind: string; recipient: string }[]> {
  return [
    ...(await world.fixture.database.sql<{ kind: string; recipient: string }[]>`
      SELECT kind, recipient FROM mails WHERE facts->>'accountId' = ${accountId} ORDER BY created_at, recipient`),
  ]
}

async function balance(): Promise<number> {
  return (await world.money(accountId)).history
}

describe('a charge', () => {
  test('below the threshold the saved card is charged once, and that charge pays the order', async () => {
    await turnedOn()
    expect(await world.orders.topUpDue()).toBe(1)
    expect(await facts()).toMatchObject({ states: ['paid'], charges: 1, isOn: true })
    const [order] = await list()
    expect(order).toMatchObject({ origin: 'auto_top_up', card: { brand: 'visa', lastFour: '4242' }, paidCents: 5_000 })
    const call = stripe.calls.findLast(({ line }) => line === 'POST /v1/payment_intents')
    expect(Object.fromEntries(call?.form ?? [])).toEqual({
      ...{ amount: '5000', currency: 'usd', off_session: 'true', confirm: 'true' },
      customer: String(stripe.cards.get(cardIds().at(-1) ?? '')?.customer),
      payment_method: cardIds().at(-1) ?? '',
      'allowed_payment_method_types[0]': 'card',
      description: `Prepaid credit, automatic top-up, order ${order?.reference}`,
      'metadata[order]': order?.orderId ?? '',
      'metadata[reference]': order?.reference ?? '',
      'metadata[charge]': 'auto_top_up',
      'metadata[tax_cents]': '0',
    })
    expect(call?.headers.get('idempotency-key')).toBe(`${order?.orderId}-charge`)
    expect(await balance()).toBe(5_000)
    expect(await world.orders.topUpDue()).toBe(0)
  })

  test('if the balance crosses the threshold, 500 parallel checks by two gateways make one charge', async () => {
    await turnedOn()
    const other = createOrders(world.deps)
    await Promise.all(Array.from({ length: 500 }, (_, index) => (index % 2 ? other : world.orders).topUpDue()))
    expect(await facts()).toMatchObject({ states: ['paid'], charges: 1 })
    await spendAll()
    await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 ? other : world.orders).topUpDue()))
    expect(await facts()).toMatchObject({ states: ['paid', 'paid'], charges: 2 })
  })

  test('no charge is made at or above the threshold, for a suspended account, or with the auto top-up off', async () => {
    await turnedOn()
    const { sql } = world.fixture.database
    await sql`UPDATE accounts SET balance_nano = 10000000000 WHERE id = ${accountId}`
    expect(await world.orders.topUpDue()).toBe(0)
    await sql`UPDATE accounts SET balance_nano = 9999999999, status = 'suspended' WHERE id = ${accountId}`
    expect(await world.orders.topUpDue()).toBe(0)
    await world.orders.turnOffTopUp({ accountId, actor: CUSTOMER })
    await sql`UPDATE accounts SET status = 'active' WHERE id = ${accountId}`
    expect(await world.orders.topUpDue()).toBe(0)
    await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...AMOUNTS })
    expect(await world.orders.topUpDue()).toBe(1)
    expect(await facts()).toMatchObject({ states: ['paid'], charges: 1 })
  })

  test('a charge that succeeds while the account is suspended is credited', async () => {
    await turnedOn()
    stripe.intercept = onCharge(() => ({ response: unauthorized(), isLate: true }))
    await world.orders.topUpDue()
    await world.fixture.database.sql`UPDATE accounts SET status = 'suspended' WHERE id = ${accountId}`
    await tell(stripe.events.at(-1) ?? noEvent())
    expect(await facts()).toMatchObject({ states: ['paid'] })
    expect(await balance()).toBe(5_000)
  })

  test('the daily amount limits charges until midnight, UTC', async () => {
    await turnedOn({}, { ...AMOUNTS, dailyCents: 12_000 })
    for (const expected of [1, 1, 0]) {
      expect(await world.orders.topUpDue()).toBe(expected)
      await spendAll()
    }
    const untilMidnight = DAY_MS - (world.clock.now() % DAY_MS)
    world.clock.advance(untilMidnight - 1)
    expect(await world.orders.topUpDue()).toBe(0)
    world.clock.advance(1)
    expect(await world.orders.topUpDue()).toBe(1)
    expect((await facts()).charges).toBe(3)
  })

  test('with tax the charge is higher, and the credit is the net amount', async () => {
    const taxed = createOrders({
      ...world.deps,
      methods: { ...world.deps.methods, deposit: providerWith({ addsTax: true }) },
    })
    stripe.taxPercent = 19
    await turnedOn()
    await taxed.topUpDue()
    const [order] = await list()
    const { payments } = (await world.orders.get(order?.orderId ?? '', accountId)) ?? { payments: [] }
    expect(payments).toMatchObject([{ amountCents: 5_950, taxCents: 950, creditedCents: 5_000 }])
    const form = stripe.calls.findLast(({ line }) => line === 'POST /v1/payment_intents')?.form
    expect(form?.get('hooks[inputs][tax][calculation]')).toMatch(/^taxcalc_/)
    expect(await balance()).toBe(5_000)
  })
})

describe('an answer that is lost', () => {
  test.each([
    ['before Stripe got the request', false],
    ['after Stripe charged the card', true],
  ])('%s: the card is charged once, even if another gateway continues later', async (_, isLate) => {
    await turnedOn()
    stripe.intercept = onCharge(() => ({ response: unauthorized(), isLate }))
    await world.orders.topUpDue()
    expect(await facts()).toMatchObject({ states: ['pending'], charges: isLate ? 1 : 0 })
    // No second charge while the first is unknown.
    expect(await world.orders.topUpDue()).toBe(0)
    stripe.intercept = undefined
    world.clock.advance(61_000)
    expect(await Promise.all([world.orders.settleDue(100), createOrders(world.deps).settleDue(100)])).toContain(1)
    expect(await facts()).toMatchObject({ states: ['paid'], charges: 1 })
    expect(await balance()).toBe(5_000)
  })

  test('the order of a running charge can neither be cancelled nor paid in another way', async () => {
    await turnedOn()
    stripe.intercept = onCharge(() => ({ response: unauthorized(), isLate: true }))
    await world.orders.topUpDue()
    const [order] = await list()
    const orderId = order?.orderId ?? ''
    expect(await world.orders.cancel({ orderId, accountId, actor: CUSTOMER })).toEqual({ kind: 'payment_under_way' })
    expect(await world.orders.setUpPayment({ orderId, accountId, returnUrl: 'http://x/' })).toEqual({
      kind: 'payment_under_way',
    })
    stripe.intercept = undefined
    expect(await world.orders.settle(orderId)).toMatchObject({ kind: 'settled', outcomes: [{ kind: 'credited' }] })
  })

  test.each([
    ['never reached Stripe', false, 'expired', 0],
    ['reached Stripe', true, 'paid', 1],
  ])('a charge that %s is not repeated once the auto top-up is off', async (_, isLate, state, count) => {
    await turnedOn()
    stripe.intercept = onCharge(() => ({ response: unauthorized(), isLate }))
    await world.orders.topUpDue()
    await world.orders.turnOffTopUp({ accountId, actor: CUSTOMER })
    stripe.intercept = undefined
    world.clock.advance(61_000)
    await world.orders.settleDue(100)
    expect(await facts()).toMatchObject({ states: [state], charges: count })
  })

  test('an event before Stripe’s answer credits the order; the answer, and the event again, change nothing', async () => {
    await turnedOn()
    stripe.intercept = onCharge(() => ({ response: unauthorized(), isLate: true }))
    await world.orders.topUpDue()
    const event = stripe.events.at(-1) ?? noEvent()
    await Promise.all([1, 2, 3].map(() => tell(event)))
    expect(await balance()).toBe(5_000)
    stripe.intercept = undefined
    world.clock.advance(61_000)
    await world.orders.settleDue(100)
    await tell(event)
    expect(await facts()).toMatchObject({ states: ['paid'], charges: 1 })
    expect(await balance()).toBe(5_000)
  })

  test('an expired order whose answer was lost is credited when its event arrives', async () => {
    await turnedOn()
    stripe.intercept = onCharge(() => ({ response: unauthorized(), isLate: true }))
    await world.orders.topUpDue()
    world.clock.advance(DAY_MS)
    await world.orders.expireDue(100)
    expect((await facts()).states).toEqual(['expired'])
    await tell(stripe.events.at(-1) ?? noEvent())
    expect((await facts()).states).toEqual(['paid'])
    stripe.intercept = undefined
    await world.orders.settleDue(100)
    expect(await world.orders.settleDue(100)).toBe(0)
  })
})

describe('a failed charge', () => {
  test('a declined card is tried again after an hour and after a day; the third failure turns the auto top-up off, with a mail', async () => {
    const { people, accountId: organisation } = await newOrganisation(world.fixture)
    accountId = organisation
    await turnedOn({ behaviour: 'insufficient_funds' })
    expect(await world.orders.topUpDue()).toBe(1)
    const event = stripe.events.at(-1) ?? noEvent()
    expect(event.type).toBe('payment_intent.payment_failed')
    await tell(event)
    expect(await facts()).toMatchObject({ states: ['expired'], charges: 1, isOn: true })
    for (const pauseMs of [HOUR_MS, DAY_MS]) {
      world.clock.advance(pauseMs - 1)
      expect(await world.orders.topUpDue()).toBe(0)
      world.clock.advance(1)
      expect(await world.orders.topUpDue()).toBe(1)
    }
    expect(await mailsOf()).toEqual([])
    await Promise.all([1, 2, 3].map(() => world.orders.topUpDue()))
    expect(await facts()).toMatchObject({ charges: 3, isOn: false, stopped: 'declined' })
    const to = [people.owner, people.billing].map(({ email }) => email).sort()
    expect(await mailsOf()).toEqual(to.map((recipient) => ({ kind: 'top_up_stopped', recipient })))
    world.clock.advance(10 * DAY_MS)
    expect(await world.orders.topUpDue()).toBe(0)
  })

  test('a payment between failures, or turning the auto top-up on again, resets the count of failures', async () => {
    await turnedOn({ behaviour: 'insufficient_funds' })
    const card = stripe.cards.get(cardIds().at(-1) ?? '')
    await world.orders.topUpDue()
    world.clock.advance(HOUR_MS)
    await world.orders.topUpDue()
    Object.assign(card ?? {}, { behaviour: 'ok' })
    world.clock.advance(DAY_MS)
    await world.orders.topUpDue()
    expect((await facts()).states).toEqual(['paid', 'expired', 'expired'])
    Object.assign(card ?? {}, { behaviour: 'insufficient_funds' })
    await spendAll()
    expect(await world.orders.topUpDue()).toBe(1)
    world.clock.advance(1)
    await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...AMOUNTS })
    expect(await world.orders.topUpDue()).toBe(1)
    expect(await facts()).toMatchObject({ isOn: true, charges: 5 })
  })

  test.each(['stolen_card', 'expired_card'] as const)('%s turns the auto top-up off at once', async (behaviour) => {
    await turnedOn({ behaviour })
    await world.orders.topUpDue()
    expect(await facts()).toMatchObject({ states: ['expired'], charges: 1, isOn: false, stopped: 'card_refused' })
  })

  test('if the bank asks for a confirmation, one mail links to the order, and no further charge follows until it is paid', async () => {
    const { people, accountId: organisation } = await newOrganisation(world.fixture)
    accountId = organisation
    // Somebody who may no longer pay gets no mail.
    const former = await join(world.fixture, accountId, 'billing')
    await world.fixture.database.sql`UPDATE memberships SET role = 'viewer'
      WHERE user_id = ${former.userId} AND account_id = ${accountId}`
    await turnedOn({ behaviour: 'authentication_required' })
    await world.orders.topUpDue()
    const event = stripe.events.at(-1) ?? noEvent()
    await Promise.all([tell(event), tell(event)])
    const to = [people.owner, people.billing].map(({ email }) => email).sort()
    expect(await mailsOf()).toEqual(to.map((recipient) => ({ kind: 'top_up_needs_confirmation', recipient })))
    world.clock.advance(2 * DAY_MS)
    expect([await world.orders.topUpDue(), await world.orders.settleDue(100)]).toEqual([0, 0])
    const [order] = await list()
    const orderId = order?.orderId ?? ''
    const set = await Promise.all(
      [1, 2].map(() => world.orders.setUpPayment({ orderId, accountId, returnUrl: 'http://x/' })),
    )
    const urls = set.map((outcome) => (outcome.kind === 'set_up' ? outcome.order.paymentUrl : outcome.kind))
    expect(new Set(urls).size).toBe(1)
    // The failed charge comes late and once more: the page is there, and the order waits for it.
    await tell(event)
    await tell(stripe.pay(String(urls[0]).split('/').at(-1) ?? ''))
    expect(await facts()).toMatchObject({ states: ['paid'], isOn: true })
    await spendAll()
    expect(await world.orders.topUpDue()).toBe(1)
    expect((await mailsOf()).length).toBe(to.length * 2)
  })

  test('an order that is not confirmed ends after a week and counts as a failure', async () => {
    await turnedOn({ behaviour: 'authentication_required' })
    await world.orders.topUpDue()
    world.clock.advance(7 * DAY_MS)
    await world.orders.expireDue(100)
    expect(await facts()).toMatchObject({ states: ['expired'], isOn: true })
    expect(await world.orders.topUpDue()).toBe(1)
  })

  test('an order that waits for confirmation can be cancelled; the next charge follows after an hour', async () => {
    await turnedOn({ behaviour: 'authentication_required' })
    await world.orders.topUpDue()
    const [order] = await list()
    const { kind } = await world.orders.cancel({ orderId: order?.orderId ?? '', accountId, actor: CUSTOMER })
    expect(kind).toBe('cancelled')
    expect(await world.orders.topUpDue()).toBe(0)
    world.clock.advance(HOUR_MS)
    expect(await world.orders.topUpDue()).toBe(1)
  })
})

describe('refunds and disputes', () => {
  test.each(['refund', 'dispute'] as const)(
    'a %s of a charge removes its credit once, and turns the auto top-up off',
    async (what) => {
      await turnedOn()
      await world.orders.topUpDue()
      world.clock.advance(1)
      const paid = charges().length
      expect(paid).toBe((await facts()).charges)
      const event = stripe[what](charges().at(-1)?.id ?? '', 5_000)
      await Promise.all([tell(event), tell(event)])
      expect(await balance()).toBe(0)
      expect(await world.orders.topUpDue()).toBe(0)
      expect(await facts()).toMatchObject({ charges: 1, isOn: false })
    },
  )

  test('a refund of another order also turns the auto top-up off, because the card would pay for it', async () => {
    await turnedOn()
    await world.orders.topUpDue()
    world.clock.advance(1)
    const [order] = await list()
    const refund = { orderId: order?.orderId ?? '', amountCents: 5_000, reason: 'x', key: 'k', actor: CUSTOMER }
    expect((await world.orders.refund(refund)).kind).toBe('refunded')
    expect(await world.orders.topUpDue()).toBe(0)
    expect(await facts()).toMatchObject({ charges: 1, isOn: false, stopped: 'returned' })
    world.clock.advance(1)
    await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...AMOUNTS })
    expect(await world.orders.topUpDue()).toBe(1)
  })

  test('a dispute whose event comes before that of the charge is booked', async () => {
    await turnedOn()
    stripe.intercept = onCharge(() => ({ response: unauthorized(), isLate: true }))
    await world.orders.topUpDue()
    stripe.intercept = undefined
    const paid = stripe.events.at(-1) ?? noEvent()
    await list()
    await tell(stripe.dispute(charges().at(-1)?.id ?? '', 5_000))
    expect(await balance()).toBe(0)
    await tell(paid)
    expect(await balance()).toBe(0)
    expect((await facts()).states).toEqual(['charged_back'])
  })

  test('a check at Stripe finds a refund of a charge whose event was lost', async () => {
    await turnedOn()
    await world.orders.topUpDue()
    const [order] = await list()
    stripe.refund(charges().at(-1)?.id ?? '', 2_000)
    await world.orders.settle(order?.orderId ?? '')
    expect(await balance()).toBe(3_000)
  })
})

describe('a saved card', () => {
  test('a saved card has no number in the gateway, is found without its event, and belongs to the account of its page', async () => {
    const event = await saveAtStripe()
    expect(await world.orders.lookForCard(accountId)).toEqual({ kind: 'done' })
    const { card } = await world.orders.autoTopUp(accountId)
    expect(card).toEqual({ brand: 'visa', lastFour: '4242', expMonth: 12, expYear: 2040 })
    await Promise.all([tell(event), tell(event)])
    const owner = accountId
    accountId = await world.account()
    await world.fixture.database.sql`INSERT INTO auto_top_ups (account_id, provider, card_page)
      VALUES (${accountId}, 'stripe', ${String((event.data as { object: { id: string } }).object.id)})`
    await world.orders.lookForCard(accountId)
    expect((await world.orders.autoTopUp(accountId)).card).toBeNull()
    expect((await world.orders.autoTopUp(owner)).card).toEqual(card)
    const [entry] = await world.fixture.database.sql`
      SELECT * FROM audit_entries WHERE account_id = ${owner} AND action = 'auto_top_up.card_saved'`
    expect(entry?.details).toEqual({ brand: 'visa', lastFour: '4242' })
  })

  test('a removed card is removed at Stripe, ends the auto top-up, and stays removed after a late event', async () => {
    const event = await saveAtStripe()
    await tell(event)
    await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...AMOUNTS })
    const id = cardIds().at(-1) ?? ''
    stripe.intercept = () => ({ response: unauthorized() })
    expect(await world.orders.removeCard({ accountId, actor: CUSTOMER })).toEqual({ kind: 'provider_failed' })
    expect(await facts()).toMatchObject({ isOn: false, stopped: 'card_removed' })
    stripe.intercept = undefined
    expect(await world.orders.removeCard({ accountId, actor: CUSTOMER })).toEqual({ kind: 'done' })
    expect(stripe.cards.get(id)?.customer).toBeNull()
    await tell(event)
    await tell(stripe.events.at(-1) ?? noEvent())
    expect((await world.orders.autoTopUp(accountId)).card).toBeNull()
    expect(await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...AMOUNTS })).toEqual({ kind: 'no_card' })
    expect(await world.orders.topUpDue()).toBe(0)
    expect(await mailsOf()).toEqual([])
  })

  test('a replaced card is removed at Stripe, and its late event changes nothing', async () => {
    const first = await saveAtStripe()
    await tell(first)
    const former = cardIds().at(-1) ?? ''
    const second = await saveAtStripe({ last4: '1881' })
    await tell(second)
    await tell(first)
    expect((await world.orders.autoTopUp(accountId)).card?.lastFour).toBe('1881')
    expect(stripe.cards.get(former)?.customer).toBeNull()
    const ids = [former, cardIds().at(-1) ?? ''].map((id) =>
      stripe.calls.filter(({ line }) => line.includes(`${id}/detach`)),
    )
    expect(ids.map(({ length }) => length)).toEqual([1, 0])
  })

  test('a card that Stripe no longer has ends the auto top-up with a mail; a new expiry date is stored', async () => {
    const { accountId: organisation } = await newOrganisation(world.fixture)
    accountId = organisation
    await turnedOn()
    const card = stripe.cards.get(cardIds().at(-1) ?? '')
    const event = (type: string, object: object) =>
      ({ id: 'evt_1', type, livemode: false, data: { object } }) as StubEvent
    const renewed = { ...card, card: { ...(card?.card as object), exp_month: 3, exp_year: 2044 } }
    await tell(event('payment_method.automatically_updated', renewed))
    expect((await world.orders.autoTopUp(accountId)).card).toMatchObject({ expMonth: 3, expYear: 2044 })
    await tell(event('payment_method.detached', card ?? {}))
    await tell(event('payment_method.detached', card ?? {}))
    expect(await facts()).toMatchObject({ isOn: false, stopped: 'card_gone' })
    expect((await mailsOf()).map(({ kind }) => kind)).toEqual(['top_up_stopped', 'top_up_stopped'])
  })

  test('amounts of an auto top-up outside their limits, and an expired card, are refused', async () => {
    await tell(await saveAtStripe())
    for (const [change, field] of [
      [{ belowCents: 99 }, 'belowCents'],
      [{ belowCents: 6_000 }, 'amountCents'],
      [{ amountCents: 1_000_001, dailyCents: 1_000_001 }, 'amountCents'],
      [{ dailyCents: 4_999 }, 'dailyCents'],
      [{ dailyCents: 10_000_001 }, 'dailyCents'],
    ] as const)
      expect(await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...AMOUNTS, ...change })).toMatchObject({
        ...{ kind: 'out_of_range', field },
      })
    await world.fixture.database.sql`UPDATE auto_top_ups SET card = card || '{"expYear": 2026, "expMonth": 10}'
      WHERE account_id = ${accountId}`
    expect((await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...AMOUNTS })).kind).toBe('card_expired')
  })
})

type Intercept = NonNullable<StripeStub['intercept']>

function onCharge(respond: () => ReturnType<Intercept>): Intercept {
  return (line) => (line === 'POST /v1/payment_intents' ? respond() : undefined)
}

function unauthorized(): Response {
  return Response.json({ error: { type: 'authentication_error', message: 'x' } }, { status: 401 })
}

function noEvent(): never {
  throw new Error('Stripe has no event')
}
