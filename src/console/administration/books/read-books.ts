/**
 * The owner's books: cash, prepaid liability, revenue and margin by day or month (UTC). They are sums of ledger entries, payments and
 * daily usage sums, in one snapshot. The liability of today is the sum of all balances; earlier ones are computed backwards from it.
 */
import type { Database } from '@/db/client'
import { type BookPeriod, stepChars, stepsOf } from './book-period'
import { type CashRow, type CreditRow, MOVEMENTS, type Movement, readRows, TEST_WAY, type UsageRow } from './book-rows'

/** Amounts are nano-USD. `cost` and `margin` are null if no provider cost is known; `uncosted`: revenue of requests with unknown cost. */
export type MarginSums = {
  requests: number
  charged: bigint
  cost: bigint | null
  margin: bigint | null
  uncosted: bigint
}

/** Money received and returned by one way of payment, in billionths of its currency. `received` includes `tax`. */
export type CashSums = { way: string; currency: string; isTest: boolean } & Record<CashRow['line'], bigint>

export type BookSums = MarginSums & {
  /** opening + all movements = closing. */
  opening: bigint
  movements: Record<Movement, bigint>
  closing: bigint
  cash: CashSums[]
  /** Movements by their cause, such as the way of a payment. */
  details: CreditRow[]
  models: (MarginSums & { model: string })[]
}

export type Books = BookPeriod & {
  total: BookSums
  /** Oldest first, including periods without movements. */
  periods: (BookSums & { period: string })[]
  /** The sum of all balances now. `belowZero`: the sum of the negative ones. */
  now: { liability: bigint; belowZero: bigint }
}

/** Reads the books of `period`. Includes usage that has reached Postgres, which takes seconds. */
export async function readBooks({ sql }: Pick<Database, 'sql'>, period: BookPeriod): Promise<Books> {
  const { balances, credit, usage, cash } = await readRows(sql, period, stepChars(period.by))
  const names = stepsOf(period)
  const sumsOf = (isPart: (row: { period: string | null }) => boolean, closing: bigint) =>
    sumUp({ credit: credit.filter(isPart), usage: usage.filter(isPart), cash: cash.filter(isPart) }, closing)
  const after = sumsOf((row) => row.period === null, balances.liability).opening
  const parts = {
    credit: Map.groupBy(credit, (row) => row.period),
    usage: Map.groupBy(usage, (row) => row.period),
    cash: Map.groupBy(cash, (row) => row.period),
  }
  const periods: Books['periods'] = []
  for (const name of names.toReversed()) {
    const rows = {
      credit: parts.credit.get(name) ?? [],
      usage: parts.usage.get(name) ?? [],
      cash: parts.cash.get(name) ?? [],
    }
    periods.push({ period: name, ...sumUp(rows, periods.at(-1)?.opening ?? after) })
  }
  periods.reverse()
  return { ...period, total: sumsOf((row) => row.period !== null, after), periods, now: balances }
}

type Rows = { credit: readonly CreditRow[]; usage: readonly UsageRow[]; cash: readonly CashRow[] }

function sumUp({ credit, usage, cash }: Rows, closing: bigint): BookSums {
  const movements = Object.fromEntries(MOVEMENTS.map((name) => [name, 0n])) as Record<Movement, bigint>
  for (const { line, amount } of credit) movements[line] += BigInt(amount)
  for (const { charged } of usage) movements.revenue -= BigInt(charged)
  const change = Object.values(movements).reduce((sum, amount) => sum + amount, 0n)
  const models = [...Map.groupBy(usage, (row) => row.model)].map(([model, rows]) => ({ model, ...marginOf(rows) }))
  models.sort((one, other) => (one.model < other.model ? -1 : 1))
  return {
    ...marginOf(usage),
    opening: closing - change,
    movements,
    closing,
    cash: cashOf(cash),
    details: [...credit],
    models,
  }
}

function marginOf(rows: readonly UsageRow[]): MarginSums {
  const sum = (value: (row: UsageRow) => string) => rows.reduce((total, row) => total + BigInt(value(row)), 0n)
  const charged = sum((row) => row.charged)
  const costed = sum((row) => row.costed ?? '0')
  const cost = rows.some((row) => row.cost !== null) ? sum((row) => row.cost ?? '0') : null
  return {
    requests: rows.reduce((total, row) => total + row.requests, 0),
    charged,
    cost,
    margin: cost === null ? null : costed - cost,
    uncosted: charged - costed,
  }
}

function cashOf(rows: readonly CashRow[]): CashSums[] {
  const sums = new Map<string, CashSums>()
  for (const { detail: way, currency, line, amount } of rows) {
    const key = `${way} ${currency}`
    const none = { received: 0n, tax: 0n, refunded: 0n, chargedBack: 0n, reinstated: 0n }
    const one = sums.get(key) ?? { way, currency, isTest: way === TEST_WAY, ...none }
    one[line] += BigInt(amount)
    sums.set(key, one)
  }
  return [...sums.keys()].sort().flatMap((key) => sums.get(key) ?? [])
}
