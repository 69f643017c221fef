/** Looks at one account, and writes the mails of what it has crossed: with what it remembers of them, in one transaction. */
import { eq, sql } from 'drizzle-orm'
import { alertLooks, alertStates } from '@/db/alert-schema'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'
import { type AlertState, type DueAlert, findCrossings } from './crossings'
import { readFigures } from './figures'
import { tellAll } from './tell'

/** How many alerts were due. Of two that look at the same time the second finds what the first has told. */
export async function lookAt(database: Database, accountId: string, nowMs: number): Promise<number> {
  const [figures] = await readFigures(database, [accountId], nowMs)
  if (!figures) return 0
  return await database.db.transaction(async (transaction) => {
    await transaction.insert(alertLooks).values({ accountId }).onConflictDoNothing()
    const [last] = await transaction.select().from(alertLooks).where(eq(alertLooks.accountId, accountId)).for('update')
    const [now] = await transaction
      .select({ balance: accounts.balance, spent: accounts.spent })
      .from(accounts)
      .where(eq(accounts.id, accountId))
    // It has moved since it was read: the next round finds it again.
    if (!last || now?.spent !== figures.spent || now.balance !== figures.balance) return 0
    const { due, states } = findCrossings(figures, last, await readStates(transaction, accountId), nowMs)
    await remember(transaction, accountId, states)
    await transaction.update(alertLooks).set(now).where(eq(alertLooks.accountId, accountId))
    await tellAll(transaction, accountId, due)
    return due.length
  })
}

/** An alert that is told of once for each mark and level. */
export type Reminder = { accountId: string; name: string; mark: number; level: number; alert: DueAlert }

/** Tells together of those that were not told of at this level or a lower one, also by another gateway meanwhile. All are of one account. Returns how many. */
export async function tellOnce(
  { db }: Database,
  accountId: string,
  reminders: readonly Reminder[],
  nowMs: number,
): Promise<number> {
  return await db.transaction(async (transaction) => {
    const due: DueAlert[] = []
    // In one order, so that two gateways wait for each other only once.
    for (const { name, mark, level, alert } of reminders.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const set = { mark, level, firedAt: new Date(nowMs) }
      const told = await transaction
        .insert(alertStates)
        .values({ accountId, name, ...set })
        .onConflictDoUpdate({
          target: [alertStates.accountId, alertStates.name],
          set,
          setWhere: sql`${alertStates.mark} <> ${mark} OR ${alertStates.level} > ${level}`,
        })
        .returning({ name: alertStates.name })
      if (told.length > 0) due.push(alert)
    }
    await tellAll(transaction, accountId, due)
    return due.length
  })
}

async function readStates(transaction: Transaction, accountId: string): Promise<Map<string, AlertState>> {
  const rows = await transaction.select().from(alertStates).where(eq(alertStates.accountId, accountId))
  return new Map(
    rows.map(({ name, mark, level, isPending, firedAt }) => [
      name,
      { mark, level, isPending, firedAtMs: firedAt.getTime() },
    ]),
  )
}

async function remember(transaction: Transaction, accountId: string, states: Map<string, AlertState>): Promise<void> {
  const rows = [...states].map(([name, { firedAtMs, ...state }]) => ({
    ...{ accountId, name, ...state },
    firedAt: new Date(firedAtMs),
  }))
  if (rows.length === 0) return
  const set = {
    mark: sql`excluded.mark`,
    level: sql`excluded.level`,
    isPending: sql`excluded.is_pending`,
    firedAt: sql`excluded.fired_at`,
  }
  await transaction
    .insert(alertStates)
    .values(rows)
    .onConflictDoUpdate({ target: [alertStates.accountId, alertStates.name], set })
}
