/** Checks many accounts in a few statements. Accounts without a due alert are saved together; each other account is checked alone. */
import { plainArray, textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import { sumApart } from '@/db/failure'
import { type AlertState, type Figures, findCrossings } from './crossings'
import { readFigures } from './figures'
import { lookAt } from './look'

type Last = { balance: number; spent: number }
type Before = { last: Last; states: Map<string, AlertState> }

/** Returns how many alerts were due. `accountIds`: unique, ascending, few enough for one statement. */
export async function lookAtMany(database: Database, accountIds: readonly string[], nowMs: number): Promise<number> {
  const before = await readBefore(database, accountIds)
  const { quiet = [], others = [] } = Object.groupBy(await readFigures(database, accountIds, nowMs), (figures) => {
    const { last, states } = before.get(figures.accountId) ?? NEVER
    const found = findCrossings(figures, last, states, nowMs)
    return found.due.length === 0 && found.states.size === 0 ? 'quiet' : 'others'
  })
  await rememberQuiet(database, quiet, before)
  return await sumApart(others, ({ accountId }) => lookAt(database, accountId, nowMs))
}

const NEVER: Before = { last: { balance: 0, spent: 0 }, states: new Map() }

type BeforeRow = {
  accountId: string
  balance: number
  spent: number
  states: [name: string, mark: number, level: number, isPending: boolean, firedAtMs: number][]
}

async function readBefore({ sql }: Database, accountIds: readonly string[]): Promise<Map<string, Before>> {
  const rows = await sql<BeforeRow[]>`
    SELECT account_id AS "accountId", balance_nano::bigint AS balance, spent_nano::bigint AS spent,
      coalesce((SELECT json_agg(json_build_array(name, mark, level, is_pending, floor(extract(epoch FROM fired_at) * 1000)::bigint))
        FROM alert_states s WHERE s.account_id = l.account_id), '[]') AS states
    FROM unnest(${textArray(accountIds)}::text::text[]) own (account_id) JOIN alert_looks l USING (account_id)`
  return new Map(
    rows.map(({ accountId, balance, spent, states }) => [
      accountId,
      {
        last: { balance, spent },
        states: new Map(
          states.map(([name, mark, level, isPending, firedAtMs]) => [name, { mark, level, isPending, firedAtMs }]),
        ),
      },
    ]),
  )
}

/** Saves the figures of accounts without alerts. Skips accounts that another gateway has checked since: it may have sent an alert. */
async function rememberQuiet(
  { sql }: Database,
  quiet: readonly Figures[],
  before: ReadonlyMap<string, Before>,
): Promise<void> {
  const lastOf = ({ accountId }: Figures) => (before.get(accountId) ?? NEVER).last
  const { known = [], fresh = [] } = Object.groupBy(quiet, ({ accountId }) =>
    before.has(accountId) ? 'known' : 'fresh',
  )
  const ids = (some: readonly Figures[]) => textArray(some.map(({ accountId }) => accountId))
  const amounts = (some: readonly Figures[], amountOf: (figures: Figures) => number) => plainArray(some.map(amountOf))
  const now = (some: readonly Figures[]) => sql`${ids(some)}::text::text[],
    ${amounts(some, ({ balance }) => balance)}::text::bigint[], ${amounts(some, ({ spent }) => spent)}::text::bigint[]`
  if (known.length > 0)
    await sql`
      WITH seen AS (
        SELECT l.account_id, n.balance, n.spent FROM unnest(${now(known)},
          ${amounts(known, (figures) => lastOf(figures).balance)}::text::bigint[],
          ${amounts(known, (figures) => lastOf(figures).spent)}::text::bigint[])
          n (account_id, balance, spent, last_balance, last_spent) JOIN alert_looks l USING (account_id)
        WHERE l.balance_nano = n.last_balance AND l.spent_nano = n.last_spent
        ORDER BY l.account_id FOR UPDATE OF l SKIP LOCKED)
      UPDATE alert_looks l SET balance_nano = seen.balance, spent_nano = seen.spent FROM seen
      WHERE l.account_id = seen.account_id`
  if (fresh.length > 0)
    await sql`INSERT INTO alert_looks (account_id, balance_nano, spent_nano)
      SELECT * FROM unnest(${now(fresh)}) n (account_id, balance, spent) ORDER BY account_id ON CONFLICT DO NOTHING`
}
