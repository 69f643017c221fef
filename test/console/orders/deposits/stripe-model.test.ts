/** Random Stripe events in any order, repeated, with crashes at any time: the account has what was paid less what was returned. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { CUSTOMER, DAY_MS, type OrdersFixture, openOrders, testClock } from '@test/console/orders/fixture'
import { fc } from '@test/support/property'
import { STRIPE_KEY, STRIPE_SECRET, type StripeStub, type StubEvent, startStripeStub } from '@test/support/stripe-stub'
import { createOutboxWorker } from '@/accounts/outbox'
import type { StripeSettings } from '@/console/orders/deposits/stripe/stripe-client'
import { createStripeProvider } from '@/console/orders/deposits/stripe/stripe-provider'
import type { Orders } from '@/console/orders/orders'
import type { JsonObject } from '@/lib/json'
import { crashingOrders } from './crashing'

const CREDIT_CENTS = 5_000
/** More statements than any delivery has. */
const MOST_STATEMENTS = 200

let stripe: StripeStub
let world: OrdersFixture

const SETTINGS: Omit<StripeSettings, 'apiBase'> = {
  ...{ secretKey: STRIPE_KEY, isLive: false, webhookSecrets: [STRIPE_SECRET] },
  ...{ hasInvoices: true, addsTax: true, asksTaxId: false, billingAddress: 'auto' },
}
const provider = () => createStripeProvider({ ...SETTINGS, apiBase: stripe.url }, testClock())

beforeAll(async () => {
  stripe = startStripeStub()
  world = await openOrders({ deposit: provider() })
})
afterAll(async () => {
  expect(await world.check()).toEqual([])
  await world.close()
  await stripe.stop()
})

/** What happens at Stripe; parts are percent of what is left. */
type Story = {
  ending: 'card' | 'debit' | 'failed' | 'expired'
  taxPercent: number
  refunds: { percent: number; hasFailed: boolean }[]
  disputes: { percent: number; ending: 'open' | 'won' | 'lost' }[]
}
const percent = fc.integer({ min: 1, max: 100 })
const story = fc.record({
  ending: fc.constantFrom('card', 'card', 'debit', 'failed', 'expired'),
  taxPercent: fc.constantFrom(0, 7, 19),
  refunds: fc.array(fc.record({ percent, hasFailed: fc.boolean() }), { maxLength: 3 }),
  disputes: fc.array(fc.record({ percent, ending: fc.constantFrom('open', 'won', 'lost') }), { maxLength: 2 }),
})

/** A delivery names an event by a number; beyond them it is a look at Stripe, or the order's end. */
const delivery = fc.record({ pick: fc.nat(), diesAt: fc.option(fc.nat(40)) })

type Scene = { accountId: string; orderId: string; events: StubEvent[]; leftCents: number }

/** Plays the story at Stripe, of which no gateway has heard yet. */
async function play({ ending, taxPercent, refunds, disputes }: Story): Promise<Scene> {
  const accountId = await world.account()
  const { orderId } = await world.order(accountId, {
    method: 'deposit',
    amountCents: CREDIT_CENTS,
    returnUrl: 'http://x/',
  })
  const session = [...stripe.sessions.values()].find((one) => one.client_reference_id === orderId)
  if (!session) throw new Error('the order has no session')
  const { id } = session
  const first = stripe.events.length
  stripe.taxPercent = taxPercent
  if (ending === 'expired') stripe.expire(id)
  else if (ending === 'card') stripe.pay(id)
  else {
    stripe.begin(id)
    stripe.settle(id, ending === 'debit')
  }
  const isPaid = ending === 'card' || ending === 'debit'
  const leftCents = isPaid ? giveBack(id, session.amount_total, { refunds, disputes }) : 0
  return { accountId, orderId, events: stripe.events.slice(first), leftCents }
}

/** Refunds and disputes of a payment. Returns what is left of its credit. */
function giveBack(id: string, paidCents: number, { refunds, disputes }: Pick<Story, 'refunds' | 'disputes'>): number {
  let returnedCents = 0
  for (const { percent: part, hasFailed } of refunds) {
    const cents = partOf(paidCents - returnedCents, part)
    if (cents === 0) continue
    const refund = idIn(stripe.refund(id, cents))
    if (hasFailed) stripe.failRefund(refund)
    else returnedCents += cents
  }
  for (const { percent: part, ending: end } of disputes) {
    const cents = partOf(paidCents - returnedCents, part)
    if (cents === 0) continue
    const dispute = idIn(stripe.dispute(id, cents))
    if (end !== 'open') stripe.closeDispute(dispute, end === 'won')
    if (end !== 'won') returnedCents += cents
  }
  return CREDIT_CENTS - Math.floor((CREDIT_CENTS * returnedCents) / paidCents)
}

function partOf(cents: number, part: number): number {
  return Math.floor((cents * part) / 100)
}

function idIn({ data }: StubEvent): string {
  return String((data as { object: { id: unknown } }).object.id)
}

async function tell(orders: Orders, event: StubEvent): Promise<void> {
  for (const one of await provider().readEvents(event as JsonObject)) await orders.applyDeposit('stripe', one)
}

/** Tells of the event in a process that may die; then Stripe sends it again. */
async function tellTo(diesAt: number | null, act: (orders: Orders) => Promise<unknown>): Promise<boolean> {
  if (diesAt === null) {
    await act(world.orders)
    return false
  }
  const { orders, isDead } = crashingOrders(world.deps, diesAt)
  await act(orders).catch((error: unknown) => {
    if (!isDead()) throw error
  })
  return isDead()
}

async function expectLeft(
  { accountId, leftCents }: Pick<Scene, 'accountId' | 'leftCents'>,
  context: unknown,
): Promise<void> {
  const { database, ledger } = world.fixture
  await createOutboxWorker(database, ledger, silentLogger).runOnce()
  const { ledger: balance, history, entries, paidLessRefunded } = await world.money(accountId)
  const expected = { balance: leftCents, history: leftCents, entries: leftCents, paidLessRefunded: leftCents }
  expect({ context, balance, history, entries, paidLessRefunded }).toEqual({ context, ...expected })
}

test('the credit is the paid less the returned amount, whatever the order of events, repetitions and crashes', async () => {
  // Deliveries of one group happen at the same time.
  const groups = fc.array(fc.array(delivery, { minLength: 1, maxLength: 4 }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(story, groups, async (told, chosen) => {
      const scene = await play(told)
      const acts: ((orders: Orders) => Promise<unknown>)[] = [
        ...scene.events.map((event) => (orders: Orders) => tell(orders, event)),
        (orders) => orders.settle(scene.orderId),
        async (orders) => {
          world.clock.advance(DAY_MS)
          await orders.expireDue(100)
        },
      ]
      for (const group of chosen)
        await Promise.all(
          group.map(({ pick, diesAt }) => tellTo(diesAt, acts[pick % acts.length] ?? (async () => undefined))),
        )
      // Whatever was not delivered comes in the end, newest first.
      for (const event of scene.events.toReversed()) await tell(world.orders, event)
      await expectLeft(scene, told)
    }),
    { numRuns: 40 },
  )
}, 300_000)

test('checks at Stripe give the same credit without any event', async () => {
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const scene = await play(told)
      expect((await world.orders.settle(scene.orderId)).kind).toBe('settled')
      await expectLeft(scene, told)
    }),
    { numRuns: 20 },
  )
}, 300_000)

const ALL: Story = {
  ...{ ending: 'debit', taxPercent: 19 },
  refunds: [
    { percent: 20, hasFailed: false },
    { percent: 10, hasFailed: true },
  ],
  disputes: [
    { percent: 30, ending: 'won' },
    { percent: 40, ending: 'lost' },
  ],
}

test('no money moves twice if the process crashes at any statement of an event or check', async () => {
  const { events } = await play(ALL)
  const kindOf = ({ type, data }: StubEvent) => `${type} ${(data as { object: { status: unknown } }).object.status}`
  const kinds = events.map(kindOf)
  // The first event of each kind: the second takes the same statements.
  const targets = [...events.keys()].filter((index) => kinds.indexOf(kinds[index] ?? '') === index)
  for (const target of [...targets, events.length]) {
    let diesAt = 0
    for (; diesAt < MOST_STATEMENTS; diesAt++) {
      const scene = await play(ALL)
      const event = scene.events[target]
      for (const before of scene.events.slice(0, target)) await tell(world.orders, before)
      const act = event ? (orders: Orders) => tell(orders, event) : (orders: Orders) => orders.settle(scene.orderId)
      const isDead = await tellTo(diesAt, act)
      for (const again of scene.events) await tell(world.orders, again)
      await expectLeft(scene, { target, diesAt })
      if (!isDead) break
    }
    expect({ target, isWhole: diesAt < MOST_STATEMENTS }).toEqual({ target, isWhole: true })
  }
}, 300_000)

/** The charge of a saved card, and what becomes of it. `isLost`: the answer to the first request. */
type Charge = Omit<Story, 'ending'> & {
  behaviour: 'ok' | 'authentication_required' | 'insufficient_funds'
  isLost: boolean
}
const charge = fc.record({
  behaviour: fc.constantFrom('ok', 'ok', 'authentication_required', 'insufficient_funds'),
  isLost: fc.boolean(),
  taxPercent: fc.constantFrom(0, 7, 19),
  refunds: fc.array(fc.record({ percent, hasFailed: fc.boolean() }), { maxLength: 2 }),
  disputes: fc.array(fc.record({ percent, ending: fc.constantFrom('open', 'won', 'lost') }), { maxLength: 1 }),
})

/** An account below its threshold, whose auto top-up is on. */
async function armed({ behaviour }: Pick<Charge, 'behaviour'>): Promise<string> {
  // Accounts of earlier stories are left alone.
  await world.fixture.database.sql`UPDATE auto_top_ups SET is_on = false, stopped = 'person' WHERE is_on`
  const accountId = await world.account()
  const page = await world.orders.openCardPage({ accountId, returnUrl: 'http://x' })
  if (page.kind !== 'opened') throw new Error(page.kind)
  await tell(world.orders, stripe.saveCard(page.url.split('/').at(-1) ?? '', { behaviour }))
  const amounts = { belowCents: 1_000, amountCents: CREDIT_CENTS, dailyCents: CREDIT_CENTS * 4 }
  expect(await world.orders.turnOnTopUp({ accountId, actor: CUSTOMER, ...amounts })).toEqual({ kind: 'on' })
  return accountId
}

/** What gateways do by themselves: look at balances, and ask again about charges without an answer. */
const LOOKS: readonly ((orders: Orders) => Promise<unknown>)[] = [
  (orders) => orders.topUpDue(),
  (orders) => orders.topUpDue(),
  (orders) => {
    world.clock.advance(61_000)
    return orders.settleDue(100)
  },
]

async function chargesOf(accountId: string) {
  const { items } = await world.orders.list(accountId, {})
  const own = new Set<unknown>(items.map(({ orderId }) => orderId))
  return { order: items[0], intents: stripe.intents.filter(({ metadata }) => own.has(metadata.order)) }
}

test('a saved card is charged once, even if answers are lost, repeated or late, or a process crashes', async () => {
  const groups = fc.array(fc.array(delivery, { minLength: 1, maxLength: 4 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(charge, groups, groups, async (told, before, after) => {
      const accountId = await armed(told)
      const first = stripe.events.length
      stripe.taxPercent = told.taxPercent
      let isLost = told.isLost
      stripe.intercept = (line) => {
        if (line !== 'POST /v1/payment_intents' || !isLost) return undefined
        isLost = false
        const body = { error: { type: 'authentication_error', message: 'x' } }
        return { response: Response.json(body, { status: 401 }), isLate: true }
      }
      const play = async (chosen: typeof before) => {
        for (const group of chosen)
          await Promise.all(
            group.map(({ pick, diesAt }) => {
              const events = stripe.events.slice(first).map((event) => (orders: Orders) => tell(orders, event))
              const acts = [...events, ...LOOKS]
              return tellTo(diesAt, acts[pick % acts.length] ?? (async () => undefined))
            }),
          )
      }
      await play(before)
      // In the end a gateway lives, and Stripe answers.
      for (const look of [...LOOKS, ...LOOKS]) await look(world.orders)
      const { order, intents } = await chargesOf(accountId)
      expect({ told, charges: intents.length }).toEqual({ told, charges: 1 })
      const leftCents = await finish(told, { accountId, orderId: order?.orderId ?? '', intentId: intents[0]?.id ?? '' })
      await play(after)
      for (const event of stripe.events.slice(first).toReversed()) await tell(world.orders, event)
      await expectLeft({ accountId, leftCents }, told)
      expect({ told, charges: (await chargesOf(accountId)).intents.length }).toEqual({ told, charges: 1 })
    }),
    { numRuns: 30 },
  )
}, 300_000)

/** A person pays the order where the bank asked for that; then parts go back. Returns what is left of the credit. */
async function finish(
  told: Charge,
  { accountId, orderId, intentId }: Record<'accountId' | 'orderId' | 'intentId', string>,
) {
  const paidCents = CREDIT_CENTS + Math.round((CREDIT_CENTS * told.taxPercent) / 100)
  if (told.behaviour === 'insufficient_funds') return 0
  if (told.behaviour === 'ok') return giveBack(intentId, paidCents, told)
  const set = await world.orders.setUpPayment({ orderId, accountId, returnUrl: 'http://x/' })
  if (set.kind !== 'set_up') throw new Error(set.kind)
  const sessionId = set.order.paymentUrl?.split('/').at(-1) ?? ''
  stripe.pay(sessionId)
  return giveBack(sessionId, paidCents, told)
}

test('a card is charged once if the process crashes at any statement of the charge', async () => {
  for (const behaviour of ['ok', 'authentication_required', 'insufficient_funds'] as const) {
    stripe.intercept = undefined
    let diesAt = 0
    for (; diesAt < MOST_STATEMENTS; diesAt++) {
      const accountId = await armed({ behaviour })
      const isDead = await tellTo(diesAt, (orders) => orders.topUpDue())
      for (const look of [...LOOKS, ...LOOKS]) await look(world.orders)
      expect({ behaviour, diesAt, charges: (await chargesOf(accountId)).intents.length }).toEqual({
        ...{ behaviour, diesAt, charges: 1 },
      })
      await expectLeft({ accountId, leftCents: behaviour === 'ok' ? CREDIT_CENTS : 0 }, { behaviour, diesAt })
      if (!isDead) break
    }
    expect({ behaviour, isWhole: diesAt < MOST_STATEMENTS }).toEqual({ behaviour, isWhole: true })
  }
}, 300_000)
