/** Searches the audit log for administrators, newest first. */
import { and, desc, eq, gte, inArray, isNotNull, lt, ne, or, sql } from 'drizzle-orm'
import { auditEntries } from '@/db/administration-schema'
import { memberships, users } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { countUpTo, type Page, type PageRequest, page, textLike } from '@/db/paging'

type AuditSearch = PageRequest & {
  actor?: string
  /** The whole action, or its first word: `approval` finds `approval.request`. */
  action?: string
  subject?: string
  accountId?: string
  from?: Date
  to?: Date
}

export type AuditRow = typeof auditEntries.$inferSelect

/** Schema of a cursor. The word `audit` distinguishes it from other lists' cursors. */
const PLACE = [textLike(/^audit$/), countUpTo(Number.MAX_SAFE_INTEGER)] satisfies [unknown, unknown]

/** One page of entries. */
export async function searchAudit({ db }: Database, search: AuditSearch): Promise<Page<AuditRow>> {
  return await page(search, {
    checks: PLACE,
    read: (after, limit) =>
      db
        .select()
        .from(auditEntries)
        .where(and(...conditionsOf(search), after && lt(auditEntries.seq, after[1])))
        .orderBy(desc(auditEntries.seq))
        .limit(limit),
    placeOf: (row) => ['audit', row.seq],
    toItem: (row) => row,
  })
}

/** Returns those of `userIds` whose names the account may see: administrators only if they are members of it. */
export async function ownPeople(
  { db }: Database,
  accountId: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set()
  const membership = and(eq(memberships.userId, users.id), eq(memberships.accountId, accountId))
  const rows = await db
    .select({ userId: users.id })
    .from(users)
    .leftJoin(memberships, membership)
    .where(and(inArray(users.id, [...new Set(userIds)]), or(ne(users.role, 'admin'), isNotNull(memberships.role))))
  return new Set(rows.map(({ userId }) => userId))
}

function conditionsOf({ actor, action, subject, accountId, from, to }: AuditSearch) {
  return [
    actor === undefined ? undefined : eq(sql`lower(${auditEntries.actorEmail})`, actor.toLowerCase()),
    action === undefined
      ? undefined
      : sql`(${auditEntries.action} = ${action} OR split_part(${auditEntries.action}, '.', 1) = ${action})`,
    subject === undefined ? undefined : eq(auditEntries.subject, subject),
    accountId === undefined ? undefined : eq(auditEntries.accountId, accountId),
    from === undefined ? undefined : gte(auditEntries.at, from),
    to === undefined ? undefined : lt(auditEntries.at, to),
  ]
}
