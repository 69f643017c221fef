/** The SQL of the books. Everything is summed by day or month in Postgres, from the first day that is asked for up to now. */
import type { Sql, TransactionSql } from 'postgres'
import { ENTRY_CAUSES, ENTRY_KIND } from '@/db/entry-causes'
import type { BookPeriod } from './book-period'

/**
 * Everything that moves balances, each with the sign with which it changes the liability. `grants` and `corrections`: added and taken
 * back by operators without a payment; `testCredit`: all movements of the sandbox; `transfers`: between accounts, so always zero.
 */
export const MOVEMENTS = [
  ...(['purchases', 'grants', 'testCredit', 'reinstatements', 'transfers'] as const),
  ...(['corrections', 'refunds', 'chargebacks', 'revenue'] as const),
] as const
export type Movement = (typeof MOVEMENTS)[number]

/** `period`: its step; null after the last one. Amounts are integers as text, since they may exceed 2⁵³. */
export type CreditRow = { period: string | null; line: Movement; detail: string; amount: string }
export type UsageRow = {
  period: string | null
  model: string
  requests: number
  charged: string
  /** The known part of the providers' charges, and what was charged for it; null if nothing is known. */
  cost: string | null
  costed: string | null
}
export type CashRow = {
  period: string | null
  way: string
  currency: string
  isTest: boolean
  line: 'received' | 'tax' | 'refunded' | 'chargedBack' | 'reinstated'
  amount: string
}

type Rows = {
  balances: { liability: bigint; belowZero: bigint }
  credit: CreditRow[]
  usage: UsageRow[]
  cash: CashRow[]
}

/** Payments of this provider are simulated. */
const TEST_WAY = 'deposit:sandbox'
const NANO_PER_CENT = 10_000_000

/** Reads all sums in one snapshot, so that they add up under traffic. */
export async function readRows(sql: Sql, period: BookPeriod, chars: number): Promise<Rows> {
  return await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    const [balances] = await transaction<{ liability: string; belowZero: string }[]>`
      SELECT coalesce(sum(balance_nano), 0)::text AS liability,
        coalesce(sum(balance_nano) FILTER (WHERE balance_nano < 0), 0)::text AS "belowZero" FROM accounts`
    return {
      balances: { liability: BigInt(balances?.liability ?? 0), belowZero: BigInt(balances?.belowZero ?? 0) },
      credit: await readCredit(transaction, period, chars),
      usage: await readUsage(transaction, period, chars),
      cash: await readCash(transaction, period, chars),
    }
  })
}

const ENTRIES = `
  SELECT (e.created_at AT TIME ZONE 'UTC')::date AS day, ${ENTRY_KIND} AS kind, r.id IS NULL AS is_by_hand, e.amount_nano AS amount,
    coalesce(p.provider, r.provider, (SELECT provider FROM payments WHERE order_id = o.id AND state = 'credited'
      ORDER BY received_at LIMIT 1)) AS way
  FROM ledger_entries e ${ENTRY_CAUSES}`

function since(sql: TransactionSql, from: string) {
  return sql`(${from}::text::timestamp AT TIME ZONE 'UTC')`
}

function stepOf(sql: TransactionSql, { to }: BookPeriod, chars: number) {
  return sql`CASE WHEN day <= ${to}::text::date THEN left(day::text, ${chars}::integer) END`
}

async function readCredit(sql: TransactionSql, period: BookPeriod, chars: number): Promise<CreditRow[]> {
  return await sql<CreditRow[]>`
    SELECT ${stepOf(sql, period, chars)} AS period, line, detail, sum(amount)::text AS amount
    FROM (SELECT day, amount,
        CASE WHEN way = ${TEST_WAY} THEN 'testCredit' WHEN kind = 'transfer' THEN 'transfers'
          WHEN way IS NULL THEN CASE WHEN amount > 0 THEN 'grants' ELSE 'corrections' END
          WHEN kind = 'payment' THEN 'purchases' ELSE kind || 's' END AS line,
        CASE WHEN way IS NULL OR way = ${TEST_WAY} THEN kind ELSE way END AS detail
      FROM (${sql.unsafe(ENTRIES)} WHERE e.created_at >= ${since(sql, period.from)}) AS entries) AS named
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
}

async function readUsage(sql: TransactionSql, period: BookPeriod, chars: number): Promise<UsageRow[]> {
  return await sql<UsageRow[]>`
    SELECT ${stepOf(sql, period, chars)} AS period, model, sum(requests)::bigint AS requests, sum(charged)::text AS charged,
      sum(cost)::text AS cost, sum(costed)::text AS costed
    FROM (SELECT day, model, sum(requests) AS requests, sum(cost_nano) AS charged, sum(provider_cost_nano) AS cost,
        sum(costed_nano) AS costed
      FROM usage_daily WHERE day >= ${period.from}::text::date GROUP BY day, model) AS days
    GROUP BY 1, 2`
}

/**
 * A refund by an administrator counts when it is decided, and what the provider reports of it later counts no more. Amounts that came
 * in and could not be matched to an order count as well.
 */
async function readCash(sql: TransactionSql, period: BookPeriod, chars: number): Promise<CashRow[]> {
  return await sql<CashRow[]>`
    SELECT ${stepOf(sql, period, chars)} AS period, way, currency, way = ${TEST_WAY} AS "isTest", line, sum(amount)::text AS amount
    FROM (
      SELECT (received_at AT TIME ZONE 'UTC')::date AS day, provider AS way, currency, line,
        amount::numeric * ${NANO_PER_CENT}::integer AS amount
      FROM payments, LATERAL (VALUES ('received', amount_cents::bigint), ('tax', tax_cents::bigint)) AS parts (line, amount)
      WHERE received_at >= ${since(sql, period.from)}
      UNION ALL
      SELECT (received_at AT TIME ZONE 'UTC')::date, provider, currency,
        CASE kind WHEN 'refund' THEN 'refunded' WHEN 'chargeback' THEN 'chargedBack' ELSE 'reinstated' END,
        CASE kind WHEN 'reinstatement' THEN 1 ELSE -1 END::numeric * ${NANO_PER_CENT}::integer *
          (amount_cents - CASE currency WHEN 'USD' THEN least(matched_cents, amount_cents) ELSE 0 END)
      FROM reversals WHERE received_at >= ${since(sql, period.from)}
      UNION ALL
      SELECT day, way, 'USD', 'refunded', amount
      FROM (${sql.unsafe(ENTRIES)} WHERE e.created_at >= ${since(sql, period.from)}) AS entries
      WHERE kind = 'refund' AND is_by_hand) AS movements
    GROUP BY 1, 2, 3, 5 HAVING sum(amount) <> 0 ORDER BY 1, 2, 3, 5`
}
