/** The books: every change of a balance appears in them once, on its day and in its month (UTC). */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { silentLogger } from '@test/accounts/fixture'
import { type OrdersFixture, openOrders } from '@test/console/orders/fixture'
import { fc } from '@test/support/property'
import { redisUrl } from '@test/support/stores'
import { type BookStep, bookPeriodOf } from '@/console/administration/books/book-period'
import { readBooks } from '@/console/administration/books/read-books'
import { booksFile } from '@/console/administration/books/tell-books'
import { rebuildAll } from '@/ledger/check/rebuild'
import { parseUsd } from '@/lib/money'
import { type Booked, createStory, step } from './story'

let world: OrdersFixture
beforeAll(async () => {
  await redisUrl()
  world = await openOrders()
})
afterAll(() => world.close())

/** The sums of `booked` by step and name, without zeros, and the balance before and after each step. */
function expectedOf(booked: readonly Booked[], by: BookStep): Map<string, Map<string, bigint>> {
  const steps = new Map<string, Map<string, bigint>>()
  for (const { day, name, amount } of booked) {
    const sums = steps.get(day.slice(0, by === 'day' ? 10 : 7)) ?? new Map<string, bigint>()
    sums.set(name, (sums.get(name) ?? 0n) + amount)
    steps.set(day.slice(0, by === 'day' ? 10 : 7), sums)
  }
  return steps
}

test('the books have every movement once, and their sums equal the balances exactly', async () => {
  const story = createStory(world)
  await story.begin()
  const began = story.today()
  const steps = fc.array(step, { minLength: 5, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(steps, async (told) => {
      for (const one of told) await story.tell(one)
      for (const by of ['day', 'month'] as const) {
        const period = bookPeriodOf({ by, from: began, to: story.today() }, Date.parse(story.today()))
        if ('fault' in period) throw new Error(period.fault)
        const books = await readBooks(world.fixture.database, period)
        const expected = expectedOf(story.booked, by)
        let balance = 0n
        for (const { period: name, opening, closing } of books.periods) {
          expect([name, opening]).toEqual([name, balance])
          for (const [line, amount] of expected.get(name) ?? []) if (line.startsWith('liability')) balance += amount
          expect([name, closing]).toEqual([name, balance])
        }
        expect({ opening: books.total.opening, closing: books.total.closing }).toEqual({
          opening: 0n,
          closing: balance,
        })
        expect(sumsOfFile([...booksFile(books)])).toEqual(withoutZeros(expected))
        expect(await inRedis(story.accountIds)).toBe(balance)
      }
      expect(await world.check()).toEqual([])
    }),
    { numRuns: 12 },
  )
})

/** The sum of all balances in a Redis that was brought into line with the usage records, which the story wrote to Postgres alone. */
async function inRedis(accountIds: readonly string[]): Promise<bigint> {
  await rebuildAll({ ...world.fixture, logger: silentLogger })
  let sum = 0n
  for (const accountId of accountIds) {
    const balance = await world.fixture.ledger.readBalance(accountId)
    sum += BigInt(balance?.available ?? Number.NaN) + BigInt(balance?.held ?? Number.NaN)
  }
  return sum
}

function withoutZeros(steps: Map<string, Map<string, bigint>>) {
  return Object.fromEntries(
    [...steps].map(([name, sums]) => [name, Object.fromEntries([...sums].filter(([, amount]) => amount !== 0n))]),
  )
}

/** What a file says, in the words of the story, without balances and zeros. */
function sumsOfFile(rows: readonly string[]): Record<string, Record<string, bigint>> {
  const [headings, ...lines] = rows.map((row) => row.trimEnd().split(','))
  expect(headings).toEqual(['period_utc', 'section', 'line', 'detail', 'currency', 'amount'])
  const sums: Record<string, Record<string, bigint>> = {}
  for (const [period = '', section = '', line = '', detail = '', currency = '', amount = ''] of lines) {
    const own = sums[period] ?? {}
    sums[period] = own
    const value = parseUsd(amount)
    if (line === 'opening' || line === 'closing' || !value) continue
    const words = [section, line.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()), detail]
    const name = [...words, ...(section === 'cash' || section === 'test' ? [currency] : [])].join(' ')
    own[name] = (own[name] ?? 0n) + BigInt(value)
  }
  return Object.fromEntries(Object.entries(sums).filter(([, own]) => Object.keys(own).length > 0))
}
