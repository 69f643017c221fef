/** Checks one account for due alerts. Alert mails and the states that prevent repeated alerts are written in one transaction. */
import { eq, sql } from 'drizzle-orm'
import { alertLooks, alertStates } from '@/db/alert-schema'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'
import { type AlertState, type DueAlert, findCrossings } from './crossings'
import { readFigures } from './figures'
import { tellAll } from './tell'

/** Returns how many alerts were due. If two gateways check at once, the second sees the states that the first wrote. */
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
    // The figures have changed since they were read: the next round checks again.
    if (!last || now?.spent !== figures.spent || now.balance !== figures.balance) return 0
    const { due, states } = findCrossings(figures, last, await readStates(transaction, accountId), nowMs)
    await remember(transaction, accountId, states)
    await transaction.update(alertLooks).set(now).where(eq(alertLooks.accountId, accountId))
    await tellAll(transaction, accountId, due)
    return due.length
  })
}

/** An alert that is sent once per `mark` (the end of the key or secret) and `level` (days before a key's end). */
export type Reminder = { accountId: string; name: string; mark: number; level: number; alert: DueAlert }

/** Mails the reminders that no gateway has sent yet at this level or a lower one, all in one mail. Returns how many were due. */
export async function tellOnce(
  { db }: Database,
  accountId: string,
  reminders: readonly Reminder[],
  nowMs: number,
): Promise<number> {
  return await db.transaction(async (transaction) => {
    const due: DueAlert[] = []
    // In one fixed order, so that two gateways cannot deadlock.
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
