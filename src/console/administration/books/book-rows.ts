/** SQL of the books: sums all movements by day or month, from the first requested day until now. */
import type { Sql, TransactionSql } from 'postgres'
import { ENTRY_CAUSES, ENTRY_KIND } from '@/db/entry-causes'
import type { BookPeriod } from './book-period'

/**
 * All movements of balances. A negative one lowers the liability. `grants` and `corrections`: credit that operators add or remove without a
 * payment; `testCredit`: all movements of the sandbox; `transfers`: between accounts, so always zero.
 */
export const MOVEMENTS = [
  ...(['purchases', 'grants', 'testCredit', 'reinstatements', 'transfers'] as const),
  ...(['corrections', 'refunds', 'chargebacks', 'revenue'] as const),
] as const
export type Movement = (typeof MOVEMENTS)[number]

/** `period`: the name of its step; null for rows after the last step. Amounts are integers as text, since they may exceed 2⁵³. */
export type CreditRow = { period: string | null; line: Movement; detail: string; amount: string }
export type UsageRow = {
  period: string | null
  model: string
  requests: number
  charged: string
  /** `cost`: the known provider costs. `costed`: the revenue of the requests with a known cost. Null if no cost is known. */
  cost: string | null
  costed: string | null
}
/** `detail`: the way of payment. */
export type CashRow = {
  period: string | null
  detail: string
  currency: string
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
export const TEST_WAY = 'deposit:sandbox'
const NANO_PER_CENT = 10_000_000

/** Reads all sums in one snapshot, so that they add up under traffic. */
export async function readRows(sql: Sql, period: BookPeriod, chars: number): Promise<Rows> {
  return await sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (transaction) => {
    const [balances] = await transaction<{ liability: string; belowZero: string }[]>`
      SELECT coalesce(sum(balance_nano), 0)::text AS liability,
        coalesce(sum(balance_nano) FILTER (WHERE balance_nano < 0), 0)::text AS "belowZero" FROM accounts`
    return {
      balances: { liability: BigInt(balances?.liability ?? 0), belowZero: BigInt(balances?.belowZero ?? 0) },
      ...(await readMovements(transaction, period, chars)),
      usage: await readUsage(transaction, period, chars),
    }
  })
}

function since(sql: TransactionSql, from: string) {
  return sql`(${from}::text::timestamp AT TIME ZONE 'UTC')`
}

function stepOf(sql: TransactionSql, { to }: BookPeriod, chars: number) {
  return sql`CASE WHEN day <= ${to}::text::date THEN left(day::text, ${chars}::integer) END`
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

/** The entries by day, kind and way of payment. A refund by an administrator has the way of its order's first payment. */
const ENTRIES = `
  SELECT (e.created_at AT TIME ZONE 'UTC')::date AS day, ${ENTRY_KIND} AS kind, r.id IS NULL AS is_by_hand, e.amount_nano AS amount,
    CASE WHEN o.id IS NOT NULL THEN coalesce(p.provider, r.provider, (SELECT provider FROM payments
      WHERE order_id = o.id AND state = 'credited' ORDER BY received_at LIMIT 1)) END AS way
  FROM ledger_entries e ${ENTRY_CAUSES}`

/** Names the movement of each entry. Its `detail` is the way of payment, or the kind if there is no payment. */
const CREDIT = `
  SELECT day, 'credit' AS section, CASE WHEN way = '${TEST_WAY}' THEN 'testCredit' WHEN kind = 'transfer' THEN 'transfers'
      WHEN way IS NULL THEN CASE WHEN amount > 0 THEN 'grants' ELSE 'corrections' END
      WHEN kind = 'payment' THEN 'purchases' ELSE kind || 's' END AS line,
    CASE WHEN way IS NULL OR way = '${TEST_WAY}' THEN kind ELSE way END AS detail, 'USD' AS currency, amount::numeric AS amount
  FROM entries`

/**
 * A refund by an administrator counts when it is decided, and the provider's later report of it doesn't count again. Payments without an
 * order count too.
 */
function cashOf(sql: TransactionSql, { from }: BookPeriod) {
  return sql`
    SELECT (received_at AT TIME ZONE 'UTC')::date, 'cash', line, provider, currency, amount::numeric * ${NANO_PER_CENT}::integer
    FROM payments, LATERAL (VALUES ('received', amount_cents::bigint), ('tax', tax_cents::bigint)) AS parts (line, amount)
    WHERE received_at >= ${since(sql, from)}
    UNION ALL
    SELECT (received_at AT TIME ZONE 'UTC')::date, 'cash',
      CASE kind WHEN 'refund' THEN 'refunded' WHEN 'chargeback' THEN 'chargedBack' ELSE 'reinstated' END, provider, currency,
      CASE kind WHEN 'reinstatement' THEN 1 ELSE -1 END::numeric * ${NANO_PER_CENT}::integer *
        (amount_cents - CASE currency WHEN 'USD' THEN least(matched_cents, amount_cents) ELSE 0 END)
    FROM reversals WHERE received_at >= ${since(sql, from)}
    UNION ALL
    SELECT day, 'cash', 'refunded', way, 'USD', amount FROM entries WHERE kind = 'refund' AND is_by_hand`
}

type MovementRow = CreditRow & CashRow & { section: 'credit' | 'cash' }

async function readMovements(
  sql: TransactionSql,
  period: BookPeriod,
  chars: number,
): Promise<{ credit: CreditRow[]; cash: CashRow[] }> {
  const rows = await sql<MovementRow[]>`
    WITH entries AS MATERIALIZED (${sql.unsafe(ENTRIES)} WHERE e.created_at >= ${since(sql, period.from)}),
    movements AS (${sql.unsafe(CREDIT)} UNION ALL ${cashOf(sql, period)})
    SELECT ${stepOf(sql, period, chars)} AS period, section, line, detail, currency, sum(amount)::text AS amount
    FROM movements GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`
  return {
    credit: rows.filter(({ section }) => section === 'credit'),
    cash: rows.filter(({ section, amount }) => section === 'cash' && amount !== '0'),
  }
}
