/** Refunds while requests spend, the database is slow, or the process dies: the credit is either spent or refunded. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createCredits } from '@/accounts/credits'
import { createUser } from '@/accounts/users'
import { requestIdOf } from '@/console/administration/approvals/operation'
import { requestOperation } from '@/console/administration/approvals/request-operation'
import { createOrders } from '@/console/orders/orders'
import type { Order } from '@/console/orders/types'
import type { Ledger } from '@/ledger/ledger'
import { deadlinesName, holdMember, NO_KEY, parseHoldMember, shardOf } from '@/ledger/store/names'
import { nano } from '@/lib/money'
import { ADMINISTRATOR, noticeOf, type OrdersFixture, openOrders } from './fixture'

const USD = 1_000_000_000
const ROUNDS = 10

let world: OrdersFixture
let accountId: string
let keyId: string

beforeAll(async () => {
  world = await openOrders()
  // What a loaded database does: the commit of an entry takes its time.
  await world.fixture.database.sql.unsafe(`
    CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.04); RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON ledger_entries DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.amount_nano < 0) EXECUTE FUNCTION take_time()`)
})
beforeEach(async () => {
  accountId = await world.account()
  const key = await world.fixture.apiKeys.create({ accountId, name: 'test' })
  if (key.kind !== 'created') throw new Error(key.kind)
  keyId = key.keyId
})
afterAll(() => world.close())

describe('refunds with a slow database', () => {
  test(`${ROUNDS} refunds of nearly the whole balance leave no account below zero`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const order = await paidOrder(2_000)
      const [outcome] = await whileSpending(() => refund(order, 1_990, `round ${round}`))
      expect(['refunded', 'insufficient_balance']).toContain(outcome.kind)
      expect(await available()).toBeGreaterThanOrEqual(0)
      await takeRest()
    }
    expect(await world.check()).toEqual([])
  })

  test(`${ROUNDS} debits by an administrator or by command leave no account below zero`, async () => {
    const email = 'ada@example.test'
    const created = await createUser(world.fixture.database, { email, password: 'a long password', role: 'admin' })
    if (created.kind !== 'created') throw new Error(created.kind)
    const administrator = { userId: created.userId, email, accountId: 'acct_own' }
    for (let round = 0; round < ROUNDS; round++) {
      await paidOrder(2_000)
      const operation = { kind: 'credit.adjust', accountId, amountNano: -19.9 * USD, allowNegative: false } as const
      const request = { operation, reason: 'not needed', requestId: requestIdOf(email, crypto.randomUUID()) }
      const debit = { accountId, amount: nano(-19.9 * USD), reference: `back ${round}`, isCovered: true }
      await whileSpending(async () => {
        if (round % 2 === 0) return await world.fixture.credits.addCredit(debit)
        return await requestOperation({ ...world.deps, approvalLimit: nano(10_000 * USD) }, administrator, request)
      })
      expect(await available()).toBeGreaterThanOrEqual(0)
      await takeRest()
    }
    expect(await world.check()).toEqual([])
  })

  test('many concurrent refunds of one account take at most its balance', async () => {
    const orders = [await paidOrder(1_000), await paidOrder(1_000), await paidOrder(1_000)]
    await reserve(15)
    const outcomes = await Promise.all(orders.map((order, index) => refund(order, 1_000, `at once ${index}`)))
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual([
      'insufficient_balance',
      'insufficient_balance',
      'refunded',
    ])
    expect(await available()).toBe(5 * USD)
  })
})

describe('a process that crashes', () => {
  test('if a process crashes before the commit, the credit stays withheld until the database ends the transaction', async () => {
    const order = await paidOrder(2_000)
    const withheld = Promise.withResolvers<void>()
    const death = Promise.withResolvers<never>()
    const dying: Ledger = {
      ...world.deps.ledger,
      async withhold(withholding) {
        await world.deps.ledger.withhold(withholding)
        withheld.resolve()
        return await death.promise
      },
      resolveWithheld: () => Promise.reject(new Error('killed')),
    }
    const refunding = createOrders({ ...world.deps, ledger: dying }).refund(refundOf(order, 1_990, 'k'))
    await withheld.promise
    await lapse()
    await world.fixture.ledger.expireDue(100)
    expect(await balance()).toEqual({ available: USD / 10, held: 19.9 * USD })
    death.reject(new Error('killed'))
    await expect(refunding).rejects.toThrow('killed')
    await world.fixture.ledger.expireDue(100)
    expect(await balance()).toEqual({ available: 20 * USD, held: 0 })
    expect(await world.check()).toEqual([])
  })

  test('if a process crashes before Redis confirms the withheld amount, there is no refund and no credit is lost', async () => {
    const order = await paidOrder(2_000)
    const unsure: Ledger = {
      ...world.deps.ledger,
      async withhold(withholding) {
        await world.deps.ledger.withhold(withholding)
        throw new Error('no answer in time')
      },
    }
    const refunding = createOrders({ ...world.deps, ledger: unsure }).refund(refundOf(order, 1_990, 'k'))
    await expect(refunding).rejects.toThrow('no answer')
    expect(await balance()).toEqual({ available: 20 * USD, held: 0 })
  })
})

test('an administrator cannot remove credit that the account does not have', async () => {
  await paidOrder(2_000)
  const { addCredit } = createCredits(world.fixture.database, world.fixture.ledger)
  const debit = { accountId, amount: nano(-21 * USD), reference: 'too much', isCovered: true }
  expect(await addCredit(debit)).toEqual({ kind: 'insufficient', available: nano(20 * USD) })
  expect(await addCredit({ ...debit, isCovered: false })).toMatchObject({ kind: 'credited', available: -USD })
  expect(await addCredit({ ...debit, isCovered: false })).toMatchObject({ kind: 'exists', available: -USD })
  expect(await balance()).toEqual({ available: -USD, held: 0 })
  expect(await world.check()).toEqual([])
})

/** Requests take a dollar each as long as `work` lasts, and settle it. */
async function whileSpending<T>(work: () => Promise<T>): Promise<[T]> {
  let isOver = false
  const spending = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const holdId = await reserve(1)
      if (holdId === undefined) await Bun.sleep(0)
    }
  })
  try {
    return [await work()]
  } finally {
    isOver = true
    await Promise.all(spending)
  }
}

async function reserve(usd: number): Promise<string | undefined> {
  const holdId = crypto.randomUUID()
  const request = { accountId, keyId, holdId, amount: nano(usd * USD), inputCost: nano(0), tokens: 1, ttlMs: 3_600_000 }
  return (await world.fixture.ledger.reserve(request)).kind === 'reserved' ? holdId : undefined
}

async function paidOrder(amountCents: number): Promise<Order> {
  const outcome = await world.orders.confirmPayment(noticeOf(await world.order(accountId, { amountCents })))
  if (outcome.kind !== 'credited') throw new Error(outcome.kind)
  return outcome.order
}

function refundOf({ orderId }: Order, amountCents: number, key: string) {
  return { orderId, amountCents, key, reason: 'not needed', actor: ADMINISTRATOR }
}

function refund(order: Order, amountCents: number, key: string) {
  return world.orders.refund(refundOf(order, amountCents, key))
}

async function balance() {
  const found = await world.fixture.ledger.readBalance(accountId)
  return { available: Number(found?.available), held: Number(found?.held) }
}

async function available(): Promise<number> {
  return (await balance()).available
}

/** Leaves the account with nothing, for the next round. */
async function takeRest(): Promise<void> {
  const rest = await available()
  if (rest > 0)
    await world.fixture.credits.addCredit({ accountId, amount: nano(-rest), reference: crypto.randomUUID() })
}

/** Makes the deadline of what is withheld pass. */
async function lapse(): Promise<void> {
  const { redis } = world.fixture
  const name = deadlinesName(shardOf(accountId))
  for (const member of await redis.zrange(name, '0', '-1')) {
    const hold = parseHoldMember(member)
    if (hold?.accountId === accountId && hold.keyId === NO_KEY) await redis.zadd(name, 'XX', 1, holdMember(hold))
  }
}
