/** Which mails each person gets: alerts unless turned off, and daily, weekly and monthly mails if turned on. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import { latestPeriod, UNIT_OF } from '@/accounts/scheduled-mails/periods'
import {
  ALERT_KINDS,
  type AlertKind,
  alertOptOuts,
  type OptionalKind,
  SCHEDULED_KINDS,
  type ScheduledKind,
  scheduledMails,
} from '@/db/alert-schema'
import { memberships, users } from '@/db/auth-schema'
import type { Database } from '@/db/client'

type MailChoice = { accountId: string; email: string; kind: OptionalKind; isWanted: boolean }

/** Turns a kind of mail (alert or scheduled) on or off for one address. A repeated call changes nothing. */
export async function chooseMails(database: Database, { kind, ...choice }: MailChoice, nowMs: number): Promise<void> {
  const alerts = ALERT_KINDS.filter((one) => one === kind || kind === 'alerts')
  for (const alert of alerts) await chooseAlert(database, { ...choice, kind: alert })
  const scheduled = SCHEDULED_KINDS.find((one) => one === kind)
  if (scheduled) await schedule(database, { ...choice, kind: scheduled }, nowMs)
}

async function chooseAlert(
  { db }: Database,
  { accountId, email, kind, isWanted }: Omit<MailChoice, 'kind'> & { kind: AlertKind },
): Promise<void> {
  const row = { accountId, email: email.toLowerCase(), kind }
  if (!isWanted) return void (await db.insert(alertOptOuts).values(row).onConflictDoNothing())
  const own = [eq(alertOptOuts.accountId, accountId), eq(alertOptOuts.email, row.email), eq(alertOptOuts.kind, kind)]
  await db.delete(alertOptOuts).where(and(...own))
}

/** The kinds of an account's alerts that an address gets. */
export async function readChoices(
  { db }: Database,
  accountId: string,
  email: string,
): Promise<Record<AlertKind, boolean>> {
  const rows = await db
    .select({ kind: alertOptOuts.kind })
    .from(alertOptOuts)
    .where(and(eq(alertOptOuts.accountId, accountId), eq(alertOptOuts.email, email.toLowerCase())))
  const without = new Set(rows.map(({ kind }) => kind))
  return Object.fromEntries(ALERT_KINDS.map((kind) => [kind, !without.has(kind)])) as Record<AlertKind, boolean>
}

/** The scheduled mails that a person gets. */
export async function readScheduled(
  { db }: Database,
  accountId: string,
  email: string,
): Promise<Record<ScheduledKind, boolean>> {
  const rows = await db
    .select({ kind: scheduledMails.kind })
    .from(scheduledMails)
    .innerJoin(users, eq(users.id, scheduledMails.userId))
    .where(and(eq(scheduledMails.accountId, accountId), eq(users.email, email.toLowerCase())))
  const asked = new Set(rows.map(({ kind }) => kind))
  return Object.fromEntries(SCHEDULED_KINDS.map((kind) => [kind, asked.has(kind)])) as Record<ScheduledKind, boolean>
}

/** Turns a scheduled mail on or off. The first mail covers the current period. If the person is no member, nothing is stored. */
async function schedule(
  { db }: Database,
  { accountId, email, kind, isWanted }: Omit<MailChoice, 'kind'> & { kind: ScheduledKind },
  nowMs: number,
): Promise<void> {
  const person = db.select({ id: users.id }).from(users).where(eq(users.email, email.toLowerCase()))
  if (!isWanted) {
    const own = [eq(scheduledMails.accountId, accountId), eq(scheduledMails.kind, kind)]
    await db.delete(scheduledMails).where(and(...own, inArray(scheduledMails.userId, person)))
    return
  }
  const { from } = latestPeriod(UNIT_OF[kind], nowMs)
  const row = { accountId: memberships.accountId, userId: memberships.userId }
  const member = db
    .select({
      ...row,
      kind: sql<ScheduledKind>`${kind}`.as('kind'),
      toldFrom: sql<string>`${from}::date`.as('told_from'),
    })
    .from(memberships)
    .where(and(eq(memberships.accountId, accountId), inArray(memberships.userId, person)))
  await db.insert(scheduledMails).select(member).onConflictDoNothing()
}
