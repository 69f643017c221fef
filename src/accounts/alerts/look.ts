/** Looks at one account, and writes the mails of what it has crossed: with what it remembers of them, in one transaction. */
import { eq, sql } from 'drizzle-orm'
import { writeMails } from '@/accounts/mails/outbox'
import { alertKindOf } from '@/accounts/mails/templates'
import { alertLooks, alertStates } from '@/db/alert-schema'
import type { Database, Transaction } from '@/db/client'
import { accounts } from '@/db/schema'
import { type AlertState, type DueAlert, findCrossings } from './crossings'
import { readFigures } from './figures'
import { alertRecipients } from './recipients'

/** How many alerts were due. Of two that look at the same time the second finds what the first has told. */
export async function lookAt(database: Database, accountId: string, nowMs: number): Promise<number> {
  const figures = await readFigures(database, accountId, nowMs)
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
    for (const alert of due) await tell(transaction, accountId, alert)
    return due.length
  })
}

/** Writes the mail to everybody who wants it. */
export async function tell(transaction: Transaction, accountId: string, { mail, memberId }: DueAlert): Promise<void> {
  const kind = alertKindOf(mail.kind)
  if (kind === undefined) throw new Error(`${mail.kind} is no alert`)
  await writeMails(transaction, mail, await alertRecipients(transaction, accountId, kind, memberId))
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
