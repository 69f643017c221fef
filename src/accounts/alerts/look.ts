/** Looks at one account, and writes the mails of what it has crossed: with what it remembers of them, in one transaction. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { writeMails } from '@/accounts/mails/outbox'
import { optionalKindOf } from '@/accounts/mails/templates'
import { addressesOf } from '@/accounts/members/tell-members'
import { ALERT_KINDS, type AlertKind, alertLooks, alertOptOuts, alertSettings, alertStates } from '@/db/alert-schema'
import { memberships, users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { refusedMailAddresses } from '@/db/mail-schema'
import { accounts } from '@/db/schema'
import { type AlertState, type DueAlert, findCrossings } from './crossings'
import { readFigures } from './figures'

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
    for (const alert of due) await tell(transaction, accountId, alert)
    return due.length
  })
}

/** Writes the mail to everybody who wants it. */
async function tell(transaction: Transaction, accountId: string, { mail, memberId }: DueAlert): Promise<void> {
  const kind = ALERT_KINDS.find((one) => one === optionalKindOf(mail.kind))
  if (kind === undefined) throw new Error(`${mail.kind} is no alert`)
  await writeMails(transaction, mail, await alertRecipients(transaction, accountId, kind, memberId))
}

type ToldState = { accountId: string; name: string; mark: number; level: number; nowMs: number }

/** Tells it unless it was told of this mark at this level or a lower one; false where it was, also by another gateway meanwhile. */
export async function tellOnce(
  { db }: Database,
  { accountId, name, mark, level, nowMs }: ToldState,
  alert: DueAlert,
): Promise<boolean> {
  return await db.transaction(async (transaction) => {
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
    if (told.length === 0) return false
    await tell(transaction, accountId, alert)
    return true
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

/** The addresses, in lower case, each once. `memberId` is whom it binds, if anybody. */
async function alertRecipients(
  transaction: Transaction,
  accountId: string,
  kind: AlertKind,
  memberId: string | null,
): Promise<string[]> {
  const keepers = await addressesOf(transaction, accountId, ['owner', 'billing'])
  const member = memberId === null ? [] : await addressOf(transaction, accountId, memberId)
  const [settings] = await transaction
    .select({ addresses: alertSettings.addresses })
    .from(alertSettings)
    .where(eq(alertSettings.accountId, accountId))
  const all = [...keepers, ...member].map(({ email }) => email)
  const to = [...new Set([...all, ...(settings?.addresses ?? [])].map((address) => address.toLowerCase()))]
  if (to.length === 0) return []
  const without = await transaction
    .select({ email: alertOptOuts.email })
    .from(alertOptOuts)
    .where(and(eq(alertOptOuts.accountId, accountId), eq(alertOptOuts.kind, kind), inArray(alertOptOuts.email, to)))
  const refused = await transaction
    .select({ email: refusedMailAddresses.email })
    .from(refusedMailAddresses)
    .where(inArray(refusedMailAddresses.email, to))
  const unwanted = new Set([...without, ...refused].map(({ email }) => email))
  return to.filter((address) => !unwanted.has(address))
}

/** Of somebody who has left there is none. */
async function addressOf(transaction: Transaction, accountId: string, userId: string): Promise<{ email: string }[]> {
  return await transaction
    .select({ email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.accountId, accountId), eq(memberships.userId, userId)))
}
