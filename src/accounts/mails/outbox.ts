/** The outbox: a mail is written in the transaction of its cause, limited by the rules of its kind, and sent by any gateway. */
import { and, eq, gt, inArray, isNotNull, isNull, or, sql } from 'drizzle-orm'
import { alertAddresses } from '@/db/alert-schema'
import { users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { mails } from '@/db/mail-schema'
import { assert } from '@/lib/assert'
import { randomId } from '@/lib/ids'
import type { Secrets } from '@/lib/secrets'
import { SHARED } from '@/limits/shared-resources'
import { kindsOfShare, MAIL_RULES } from './rules'
import { seal } from './seal'
import { lifeOf, type MailKind, type NewMail } from './templates'

type WriteOptions = {
  /** Id of the event: no recipient gets two mails about it. Undefined: each mail is an event of its own. */
  eventId?: string
  sealedToken?: string
  /** Address of the request that caused the mail. */
  origin?: string
  /** The account that causes the mail, for kinds that are limited per account and whose facts don't name it. */
  accountId?: string
}

const HOUR_MS = 3_600_000
/** Ranks of mails; lower ranks are sent first. Rank 0 is for mails that a waiting person requested. */
const INVITED_RANK = 1
const OTHER_RANK = 1_000

/** Writes a mail for each permitted recipient. It is sent after the commit; above the hourly limit it waits or is dropped. */
export async function writeMails(
  db: Transaction | Database['db'],
  { kind, facts }: NewMail,
  recipients: readonly string[],
  { eventId = randomId('event'), sealedToken, origin, accountId = accountIn(facts) }: WriteOptions = {},
): Promise<void> {
  const to = await reachable(db, kind, new Set(recipients.map((address) => address.toLowerCase())), accountId)
  if (to.length === 0) return
  const { share } = MAIL_RULES[kind]
  const isOwn = share === 'asked' || share === 'person'
  assert(isOwn || accountId !== undefined, `a mail ${kind} names its account`)
  const ownerOf = (recipient: string) => (isOwn || accountId === undefined ? recipient : accountId)
  const counts = share === 'asked' ? undefined : await countsOf(db, kind, [...new Set(to.map(ownerOf))])
  const life = lifeOf(kind)
  const expiresAt = new Date(Date.now() + life)
  const rows = to.flatMap((recipient) => {
    const owner = ownerOf(recipient)
    const before = counts?.get(owner) ?? 0
    counts?.set(owner, before + 1)
    const hours = counts ? Math.floor(before / SHARED.mails.perAccount) : 0
    if (hours * HOUR_MS >= life) return []
    const dueAt = sql`now() + ${hours} * interval '1 hour'`
    const own = { id: randomId('mail'), eventId, recipient, kind, facts, expiresAt, owner, rank: rankOf(kind, before) }
    return [{ ...own, dueAt, nextTryAt: dueAt, sealedToken: sealedToken ?? null, origin: origin ?? null }]
  })
  if (rows.length > 0) await db.insert(mails).values(rows).onConflictDoNothing()
}

function accountIn(facts: NewMail['facts']): string | undefined {
  return 'accountId' in facts ? facts.accountId : undefined
}

/** The rank of a mail. If nobody requested the mail, the rank grows with the owner's number of recent mails (`before`). */
function rankOf(kind: MailKind, before: number): number {
  const { waits } = MAIL_RULES[kind]
  if (waits === 'the asker') return 0
  return waits === 'the recipient' ? Math.min(INVITED_RANK + before, OTHER_RANK - 1) : OTHER_RANK + before
}

async function reachable(
  db: Transaction | Database['db'],
  kind: MailKind,
  addresses: ReadonlySet<string>,
  accountId: string | undefined,
): Promise<string[]> {
  const { to } = MAIL_RULES[kind]
  if (addresses.size === 0 || to === 'typed' || to === 'former') return [...addresses]
  const own = await db
    .select({ email: users.email })
    .from(users)
    .where(and(inArray(users.email, [...addresses]), eq(users.emailVerified, true)))
  const confirmed =
    to === 'alerts' && accountId !== undefined ? await confirmedAmong(db, accountId, [...addresses]) : []
  const allowed = new Set([...own, ...confirmed].map(({ email }) => email))
  return [...addresses].filter((address) => allowed.has(address))
}

async function confirmedAmong(db: Transaction | Database['db'], accountId: string, addresses: string[]) {
  const isConfirmed = and(eq(alertAddresses.accountId, accountId), isNotNull(alertAddresses.confirmedAt))
  return await db
    .select({ email: alertAddresses.email })
    .from(alertAddresses)
    .where(and(isConfirmed, inArray(alertAddresses.email, addresses)))
}

/** Counts each owner's mails that are waiting or ended in the last hour, of all kinds that share an hourly limit with `kind`. */
async function countsOf(
  db: Transaction | Database['db'],
  kind: MailKind,
  owners: string[],
): Promise<Map<string, number>> {
  const isRecent = or(isNull(mails.endedAt), gt(mails.endedAt, sql`now() - interval '1 hour'`))
  const rows = await db
    .select({ owner: mails.owner, count: sql<number>`count(*)::int` })
    .from(mails)
    .where(and(inArray(mails.owner, owners), inArray(mails.kind, kindsOfShare(kind)), isRecent))
    .groupBy(mails.owner)
  return new Map(rows.map(({ owner, count }) => [owner, count]))
}

export const MAIL_TOKEN = 'mail token'

/** `accountId`: the account that causes the mail, if any. */
type MailLink = { token: string; origin: string; accountId?: string }

export interface MailDesk {
  /** Writes a mail whose link ends in `token`. The token is stored encrypted until the mail is sent. */
  post(db: Transaction | Database['db'], to: string, mail: NewMail, link: MailLink): Promise<void>
  hurry(): void
}

/** A mail desk that encrypts with the first of `secrets`. */
export function createMailDesk(secrets: () => Promise<Secrets>, hurry: () => void): MailDesk {
  return {
    async post(db, to, mail, { token, ...origin }) {
      const sealedToken = seal(await secrets(), MAIL_TOKEN, token)
      await writeMails(db, mail, [to], { sealedToken, ...origin })
    },
    hurry,
  }
}

/** Maximum addresses to read. No installation has so many administrators. */
const MAX_ADMINISTRATORS = 100

/** The confirmed addresses of administrators. */
export async function administratorAddresses(db: Transaction | Database['db']): Promise<string[]> {
  const rows = await db
    .select({ email: users.email })
    .from(users)
    .where(and(eq(users.role, 'admin'), eq(users.emailVerified, true), isNull(users.disabledAt)))
    .limit(MAX_ADMINISTRATORS)
  return rows.map(({ email }) => email)
}
