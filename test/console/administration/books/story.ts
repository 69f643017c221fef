/** Random movements of money over days and months, and a second set of books that a test keeps of them by itself. */
import { newOwner, type Owner } from '@test/accounts/transfers/owner'
import { CUSTOMER, noticeOf, type OrdersFixture, STATEMENT } from '@test/console/orders/fixture'
import { fc } from '@test/support/property'
import { usageRecord } from '@test/usage/sample-records'
import { recordCredit } from '@/accounts/credits'
import { applyCredit } from '@/accounts/outbox'
import { moveCredit } from '@/accounts/transfers/move-credit'
import type { Movement } from '@/console/administration/books/book-rows'
import type { CashSums } from '@/console/administration/books/read-books'
import type { Order } from '@/console/orders/types'
import { textArray } from '@/db/array-literal'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const CENT = 10_000_000n
const WAYS = ['bank', 'manual', 'deposit:sandbox', 'deposit:stripe'] as const
const MODELS = ['svc/alpha', 'svc/beta'] as const

const which = fc.nat({ max: 9 })
const cents = fc.integer({ min: 1, max: 900 })
const one = <Shape>(arbitraries: { [Name in keyof Shape]: fc.Arbitrary<Shape[Name]> }) => fc.record(arbitraries)

/** One thing that happens. Numbers choose among the accounts, orders and payments that there are. */
export const step = fc.oneof(
  one({
    kind: fc.constant('buy' as const),
    which,
    way: fc.constantFrom(...WAYS),
    taxCents: fc.constantFrom(0, 0, 950),
  }),
  one({ kind: fc.constant('stray' as const), which, cents, isCredited: fc.boolean() }),
  one({ kind: fc.constant('refund' as const), which, cents }),
  one({
    kind: fc.constant('reverse' as const),
    which,
    cents,
    of: fc.constantFrom('chargeback' as const, 'refund' as const),
  }),
  one({ kind: fc.constant('win' as const), which, cents }),
  one({
    kind: fc.constant('operator' as const),
    which,
    cents: fc.integer({ min: -900, max: 900 }),
    isPage: fc.boolean(),
  }),
  one({ kind: fc.constant('transfer' as const), which, cents }),
  {
    weight: 3,
    arbitrary: one({
      kind: fc.constant('use' as const),
      which,
      cost: fc.integer({ min: 0, max: 5_000_000_000 }),
      providerCost: fc.option(fc.integer({ min: 0, max: 6_000_000_000 })),
      isLate: fc.boolean(),
    }),
  },
  {
    weight: 3,
    // Also the first and the last millisecond of a day, and of a month.
    arbitrary: one({
      kind: fc.constant('wait' as const),
      until: fc.constantFrom('later', 'day', 'month'),
      isBefore: fc.boolean(),
    }),
  },
)
export type Step = typeof step extends fc.Arbitrary<infer One> ? One : never

type CashLine = Exclude<keyof CashSums, 'way' | 'currency' | 'isTest'>
/** What was booked on a day (UTC), as `section line detail`, and how much, in billionths. */
export type Booked = { day: string; name: string; amount: bigint }

/** Tells a story on `world`, and keeps books of it from what the calls answered. */
export function createStory(world: OrdersFixture) {
  const accountIds: string[] = []
  const paid: { order: Order; way: string; externalId: string }[] = []
  const taken: { source: string; externalId: string; kind: string }[] = []
  const booked: Booked[] = []
  let stamped: string[] = []
  let owner: Owner | undefined
  const { fixture, clock, orders } = world
  const { sql, db } = fixture.database

  const today = () => new Date(clock.now()).toISOString().slice(0, 10)
  const book = (name: string, amount: bigint) => booked.push({ day: today(), name, amount })
  const credit = (line: Movement, detail: string, amount: bigint) => book(`liability ${line} ${detail}`, amount)
  const cash = (way: string, line: CashLine, amount: bigint, currency = 'USD') =>
    book(`${way === 'deposit:sandbox' ? 'test' : 'cash'} ${line} ${way} ${currency}`, amount)
  const movement = (line: Movement, way: string, kind: string, amount: bigint) =>
    way === 'deposit:sandbox' ? credit('testCredit', kind, amount) : credit(line, way, amount)

  async function account(number: number): Promise<string> {
    const id = accountIds[number % accountIds.length]
    assert(id, 'the story has begun')
    return id
  }

  async function buy({ which, way, taxCents }: Extract<Step, { kind: 'buy' }>): Promise<void> {
    const order = await world.order(await account(which), {
      method: way.startsWith('deposit') ? 'deposit' : 'bank_transfer',
    })
    if (way === 'deposit:stripe') await sql`UPDATE orders SET provider = 'stripe' WHERE id = ${order.orderId}`
    const externalId = crypto.randomUUID()
    const amountCents = order.amountCents + taxCents
    const outcome = await orders.confirmPayment(noticeOf(order, { source: way, externalId, amountCents, taxCents }))
    assert(outcome.kind === 'credited', outcome.kind)
    paid.push({ order, way, externalId })
    movement('purchases', way, 'payment', BigInt(order.amountCents) * CENT)
    cash(way, 'received', BigInt(amountCents) * CENT)
    cash(way, 'tax', BigInt(taxCents) * CENT)
  }

  /** Money without a reference, which somebody may credit by hand. */
  async function stray({ which, cents, isCredited }: Extract<Step, { kind: 'stray' }>): Promise<void> {
    const order = await world.order(await account(which))
    const asked = { ...noticeOf(order), reference: 'nobody knows', amountCents: cents, currency: 'EUR' }
    const outcome = await orders.confirmPayment(asked)
    assert(outcome.kind === 'unmatched', outcome.kind)
    cash('bank', 'received', BigInt(cents) * CENT, 'EUR')
    if (!isCredited) return
    const resolution = { kind: 'credit', orderId: order.orderId, creditCents: cents } as const
    await orders.resolve({ paymentId: outcome.payment.paymentId, resolution, reason: 'a test', actor: STATEMENT })
    credit('purchases', 'bank', BigInt(cents) * CENT)
  }

  async function refund({ which, cents }: Extract<Step, { kind: 'refund' }>): Promise<void> {
    const payment = paid[which % (paid.length || 1)]
    if (!payment) return
    const { order, way } = payment
    const asked = { orderId: order.orderId, amountCents: cents, key: crypto.randomUUID(), reason: 'a test' }
    const { kind } = await orders.refund({ ...asked, allowNegative: true, actor: CUSTOMER })
    if (kind !== 'refunded') return
    movement('refunds', way, 'refund', BigInt(-cents) * CENT)
    cash(way, 'refunded', BigInt(-cents) * CENT)
  }

  async function reverse(kind: 'chargeback' | 'refund', number: number, cents: number): Promise<void> {
    const payment = paid.filter(({ way }) => way.startsWith('deposit'))[number % 4]
    if (payment) await notice({ source: payment.way, undoes: payment.externalId }, kind, cents)
  }

  async function win(number: number, cents: number): Promise<void> {
    const reversal = taken[number % (taken.length || 1)]
    if (reversal) await notice({ source: reversal.source, undoes: reversal.externalId }, 'reinstatement', cents)
  }

  async function notice(
    { source, undoes }: { source: string; undoes: string },
    kind: 'chargeback' | 'refund' | 'reinstatement',
    cents: number,
  ): Promise<void> {
    const externalId = crypto.randomUUID()
    const told = { source, undoes, externalId, kind, amountCents: cents, currency: 'USD', actor: STATEMENT } as const
    const { reversal } = await orders.reverse(told as Parameters<typeof orders.reverse>[0])
    if (kind !== 'reinstatement') taken.push({ source, externalId, kind })
    const { movedCents, matchedCents } = reversal
    const sign = kind === 'reinstatement' ? 1n : -1n
    if (movedCents > 0) movement(`${kind}s`, source, kind, sign * BigInt(movedCents) * CENT)
    const lines = { chargeback: 'chargedBack', refund: 'refunded', reinstatement: 'reinstated' } as const
    cash(source, lines[kind], sign * BigInt(cents - matchedCents) * CENT)
  }

  async function operate({ which, cents, isPage }: Extract<Step, { kind: 'operator' }>): Promise<void> {
    if (cents === 0) return
    const accountId = await account(which)
    const amount = nano(cents * Number(CENT))
    const reference = `${isPage ? 'adjustment:' : ''}${crypto.randomUUID()}`
    if (isPage) {
      const recorded = await db.transaction((transaction) =>
        recordCredit(transaction, { accountId, amount, reference }),
      )
      assert(recorded.kind === 'recorded', recorded.kind)
      await applyCredit(fixture.database, fixture.ledger, { accountId, amount, entryId: recorded.entryId })
    } else await fixture.credits.addCredit({ accountId, amount, reference })
    const kind = isPage ? 'adjustment' : cents > 0 ? 'credit' : 'correction'
    credit(cents > 0 ? 'grants' : 'corrections', kind, BigInt(amount))
  }

  async function transfer({ which, cents }: Extract<Step, { kind: 'transfer' }>): Promise<void> {
    assert(owner, 'the story has begun')
    const [fromAccountId, toAccountId] = [await account(which), await account(which + 1)]
    const amount = nano(cents * Number(CENT))
    const asked = { fromAccountId, toAccountId, amount, key: crypto.randomUUID(), by: owner.by }
    const { kind } = await moveCredit(fixture.database, fixture.ledger, asked)
    if (kind === 'moved') credit('transfers', 'transfer', 0n)
  }

  /** A late request's hold expired at an amount of yesterday, and is corrected today, upwards or downwards. */
  async function use({ which, cost, providerCost, isLate }: Extract<Step, { kind: 'use' }>): Promise<void> {
    const accountId = await account(which)
    const model = MODELS[which % MODELS.length] ?? MODELS[0]
    const facts = { model, ...(providerCost !== null && { providerCost: nano(providerCost) }) }
    const record = usageRecord({ accountId, atMs: clock.now(), cost, held: cost, facts })
    if (!isLate) {
      await charge(record)
      return
    }
    await charge({ ...record, kind: 'expire' })
    clock.advance(DAY_MS)
    const correction = nano(providerCost === null ? -Math.floor(cost / 2) : 7)
    const late = {
      ...record,
      recordId: `${record.recordId}:late`,
      kind: 'late',
      held: nano(0),
      cost: correction,
      atMs: clock.now(),
    } as const
    await charge({ ...late, flags: ['late'] })
  }

  async function charge(record: ReturnType<typeof usageRecord>): Promise<void> {
    const { cost, kind, facts } = record
    // A record that is delivered again is booked once.
    for (const count of [1, 0]) assert((await writeUsageBatch(sql, [record])) === count, 'a record is booked once')
    credit('revenue', '', -BigInt(cost))
    book(`margin charged ${facts.model}`, BigInt(cost))
    if (facts.providerCost === undefined || kind === 'late')
      book(`margin chargedAtUnknownCost ${facts.model}`, BigInt(cost))
    else {
      book(`margin providerCost ${facts.model}`, BigInt(facts.providerCost))
      book(`margin margin ${facts.model}`, BigInt(cost) - BigInt(facts.providerCost))
    }
  }

  function wait({ until, isBefore }: Extract<Step, { kind: 'wait' }>): void {
    const now = new Date(clock.now())
    const midnight = Date.UTC(
      now.getUTCFullYear(),
      now.getUTCMonth() + (until === 'month' ? 1 : 0),
      until === 'month' ? 1 : now.getUTCDate() + 1,
    )
    const wanted = until === 'later' ? clock.now() + 5 * HOUR_MS : midnight - (isBefore ? 1 : 0)
    clock.advance(Math.max(wanted - clock.now(), 0))
  }

  /** Postgres' own clock dates entries: what was written now moves to the story's time. */
  async function stamp(): Promise<void> {
    const at = new Date(clock.now()).toISOString()
    const rows = await sql.begin(async (transaction) => {
      await transaction`SET LOCAL session_replication_role = replica`
      await transaction`UPDATE credit_outbox SET created_at = ${at}::text::timestamptz WHERE NOT entry_id = ANY(${textArray(stamped)}::text::text[])`
      return await transaction<{ id: string }[]>`UPDATE ledger_entries SET created_at = ${at}::text::timestamptz
        WHERE NOT id = ANY(${textArray(stamped)}::text::text[]) RETURNING id`
    })
    stamped = [...stamped, ...rows.map(({ id }) => id)]
  }

  return {
    booked,
    accountIds,
    today,
    /** Opens accounts with credit of every kind, so that later steps find something to refund and to move. */
    async begin(): Promise<void> {
      accountIds.push(await world.account(), await world.account(), await world.account())
      owner = await newOwner(fixture, accountIds)
      for (const [which, way] of WAYS.entries()) await buy({ kind: 'buy', which, way, taxCents: 0 })
      for (const which of accountIds.keys()) await operate({ kind: 'operator', which, cents: 900, isPage: false })
      await transfer({ kind: 'transfer', which: 0, cents: 1 })
      await stamp()
    },
    async tell(told: Step): Promise<void> {
      if (told.kind === 'buy') await buy(told)
      else if (told.kind === 'stray') await stray(told)
      else if (told.kind === 'refund') await refund(told)
      else if (told.kind === 'reverse') await reverse(told.of, told.which, told.cents)
      else if (told.kind === 'win') await win(told.which, told.cents)
      else if (told.kind === 'operator') await operate(told)
      else if (told.kind === 'transfer') await transfer(told)
      else if (told.kind === 'use') await use(told)
      else wait(told)
      await stamp()
    },
  }
}
