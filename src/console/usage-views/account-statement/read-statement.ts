/**
 * An account statement: all movements of money in a period with the balance after each. Usage is one movement a day (UTC), from the daily
 * sums; all others are ledger entries. One SQL query reads all of it, so that its sums are consistent.
 */
import type { Database } from '@/db/client'
import type { Logger } from '@/lib/logger'
import { type Nano, nano } from '@/lib/money'
import { type StatementPeriod, type StatementPlace, statementQuery } from './statement-query'

/**
 * `payment`: bought credit; `refund`: of an order, by an administrator or the provider; `chargeback`: taken back by the payer's bank;
 * `reinstatement`: a refund or chargeback was undone; `adjustment`: by an administrator; `transfer`: between two accounts of an owner;
 * `credit` and `correction`: by the operator.
 */
export const MOVEMENT_KINDS = [
  ...(['usage', 'payment', 'refund', 'chargeback', 'reinstatement'] as const),
  ...(['adjustment', 'transfer', 'credit', 'correction'] as const),
] as const
type MovementKind = (typeof MOVEMENT_KINDS)[number]

export type Movement = StatementPlace & {
  kind: MovementKind
  amount: Nano
  balance: Nano
  requests: number | null
  /** The entry's reference; null for usage. */
  reference: string | null
  orderId: string | null
  orderReference: string | null
}

export type StatementPart = {
  opening: Nano
  closing: Nano
  /** Totals of the period: credited, taken back and spent; the last two are positive. */
  credited: Nano
  takenBack: Nano
  spent: Nano
  /** Number of all movements in the period. */
  count: number
  movements: Movement[]
  hasMore: boolean
  /** The stored balance of the account; equals `closing` if the period has no end. */
  historyBalance: Nano
}

type SumRow = {
  opening: number
  credited: number
  takenBack: number
  spent: number
  count: number
  historyBalance: number
  movements: Movement[] | null
}

export type StatementPage = { after?: StatementPlace | undefined; limit: number }

/** At most `limit` movements after `after`, oldest first. Logs an error if movements and balance don't agree. */
export async function readStatement(
  database: Pick<Database, 'sql'>,
  logger: Logger,
  period: StatementPeriod,
  page: StatementPage,
): Promise<StatementPart | undefined> {
  const part = await readPart(database, period, page)
  if (part && period.to === undefined && part.closing !== part.historyBalance) {
    const { closing, historyBalance } = part
    logger.error('account_statement_differs', { accountId: period.accountId, closing, historyBalance })
  }
  return part
}

async function readPart(
  { sql }: Pick<Database, 'sql'>,
  period: StatementPeriod,
  { after, limit }: StatementPage,
): Promise<StatementPart | undefined> {
  const [row] = await sql<SumRow[]>`${statementQuery(sql, period, after, limit + 1)}`
  if (!row) return undefined
  const { movements, count, ...sums } = row
  const all = movements ?? []
  const opening = nano(sums.opening)
  return {
    opening,
    closing: nano(opening + sums.credited - sums.takenBack - sums.spent),
    credited: sums.credited as Nano,
    takenBack: sums.takenBack as Nano,
    spent: sums.spent as Nano,
    count,
    movements: all.slice(0, limit),
    hasMore: all.length > limit,
    historyBalance: nano(sums.historyBalance),
  }
}
