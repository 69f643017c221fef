import { and, eq, lt } from 'drizzle-orm'
import { writeMails } from '@/accounts/mails/outbox'
import type { NewMail } from '@/accounts/mails/templates'
import { mayDo, seesAllUsage } from '@/accounts/members/permissions'
import { SCHEDULED_KINDS, type ScheduledKind, scheduledMails } from '@/db/alert-schema'
import type { AccountRole } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { sumApart } from '@/db/failure'
import type { ChosenSettings } from '@/people/settings/fields'
import { digestWords } from './digest-words'
import { latestPeriod, type Period, UNIT_OF } from './periods'
import { readDigest } from './read-digest'

/** Usage records may reach Postgres this long after a period's end. Its mail also waits for `bookedUntilMs`. */
const SETTLING_MS = 3_600_000
const ROUND_SIZE = 100

/** `bookedUntilMs`: all charges before this time are in Postgres. */
type ScheduleClock = { nowMs: number; bookedUntilMs: number }

/**
 * Writes the scheduled mails that are due: one per period and subscriber. The mail and the record that prevents a second one are written in
 * one transaction. Returns how many were due. If several periods have passed, only the latest is mailed. No mail is sent for a period
 * without usage, or to a refused address.
 */
export async function writeScheduledMails(database: Database, clock: ScheduleClock): Promise<number> {
  return await sumApart(SCHEDULED_KINDS, async (kind) => {
    const period = latestPeriod(UNIT_OF[kind], Math.min(clock.nowMs - SETTLING_MS, clock.bookedUntilMs))
    const mails = await dueMails(database, kind, period)
    return await sumApart(mails, async (due) => Number(await writeOne(database, kind, period, due, clock.nowMs)))
  })
}

type DueMail = {
  accountId: string
  accountName: string
  userId: string
  role: AccountRole
  settings: ChosenSettings
  email: string
  isRefused: boolean
}

async function dueMails({ sql }: Database, kind: ScheduledKind, { from }: Period): Promise<DueMail[]> {
  return await sql<DueMail[]>`
    SELECT s.account_id AS "accountId", a.name AS "accountName", s.user_id AS "userId", m.role,
      a.settings, u.email, r.email IS NOT NULL AS "isRefused"
    FROM scheduled_mails s JOIN accounts a ON a.id = s.account_id JOIN users u ON u.id = s.user_id
      JOIN memberships m ON m.account_id = s.account_id AND m.user_id = s.user_id
      LEFT JOIN refused_mail_addresses r ON r.email = lower(u.email)
    WHERE s.kind = ${kind} AND s.told_from < ${from}::text::date AND u.disabled_at IS NULL
    ORDER BY random() LIMIT ${ROUND_SIZE}`
}

/** Writes one due mail. False if another gateway has written it meanwhile. */
async function writeOne(
  { db, sql }: Database,
  kind: ScheduledKind,
  period: Period,
  due: DueMail,
  nowMs: number,
): Promise<boolean> {
  const { accountId, userId, email } = due
  const madeBy = seesAllUsage(due.role, due.settings) ? undefined : userId
  const today = new Date(nowMs).toISOString().slice(0, 10)
  const digest = await readDigest(sql, { accountId, madeBy }, period, today)
  const { accountName } = due
  const facts = { accountId, accountName, from: period.from, to: period.to, isOwn: madeBy === undefined ? 0 : 1 }
  const words = digestWords(digest, period, { seesCredit: mayDo(due.role, 'billing.read'), nowMs })
  const mail = { kind, facts: kind.startsWith('digest') ? { ...facts, ...words } : facts } as NewMail
  return await db.transaction(async (transaction) => {
    const own = [eq(scheduledMails.accountId, accountId), eq(scheduledMails.userId, userId)]
    const told = await transaction
      .update(scheduledMails)
      .set({ toldFrom: period.from })
      .where(and(...own, eq(scheduledMails.kind, kind), lt(scheduledMails.toldFrom, period.from)))
      .returning({ kind: scheduledMails.kind })
    if (told.length === 0) return false
    if (digest.requests > 0 && !due.isRefused) {
      await writeMails(transaction, mail, [email], { eventId: `${kind}:${accountId}:${period.from}` })
    }
    return true
  })
}
