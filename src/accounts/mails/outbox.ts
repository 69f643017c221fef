/** The outbox of mails: written in the transaction of what they tell of, and sent by whichever gateway comes first. */
import { and, eq, isNull } from 'drizzle-orm'
import { users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { mails } from '@/db/mail-schema'
import { randomId } from '@/lib/ids'
import { seal } from './seal'
import { lifeOf, type NewMail } from './templates'

type WriteOptions = {
  /** What the mail tells of: no recipient gets a second one of the same. Left out, it is an event of its own. */
  eventId?: string
  sealedToken?: string
  /** Where the request was sent that it comes of. */
  origin?: string
}

/** Writes a mail to each of `recipients`, to be sent once the transaction is committed. */
export async function writeMails(
  db: Transaction | Database['db'],
  { kind, facts }: NewMail,
  recipients: readonly string[],
  { eventId = randomId('event'), sealedToken, origin }: WriteOptions = {},
): Promise<void> {
  const to = new Set(recipients.map((address) => address.toLowerCase()))
  if (to.size === 0) return
  const expiresAt = new Date(Date.now() + lifeOf(kind))
  const rows = [...to].map((recipient) => ({
    ...{ id: randomId('mail'), eventId, recipient, kind, facts, expiresAt },
    ...{ sealedToken: sealedToken ?? null, origin: origin ?? null },
  }))
  await db.insert(mails).values(rows).onConflictDoNothing()
}

/** What tokens of mails are sealed for. */
export const MAIL_TOKEN = 'mail token'

/** Mails that a person waits for: with a link, and sent at once. */
export interface MailDesk {
  /** Writes a mail whose link ends in `token`, which is kept encrypted until it is sent. */
  post(
    db: Transaction | Database['db'],
    to: string,
    mail: NewMail,
    link: { token: string; origin: string },
  ): Promise<void>
  /** To be called after the commit. */
  hurry(): void
}

/** A desk that encrypts by `secret`. */
export function createMailDesk(secret: () => Promise<string>, hurry: () => void): MailDesk {
  return {
    async post(db, to, mail, { token, origin }) {
      const sealedToken = seal(await secret(), MAIL_TOKEN, token)
      await writeMails(db, mail, [to], { sealedToken, origin })
    },
    hurry,
  }
}

/** More than any installation has. */
const MAX_ADMINISTRATORS = 100

/** The addresses of administrators who have confirmed theirs. */
export async function administratorAddresses(db: Transaction | Database['db']): Promise<string[]> {
  const rows = await db
    .select({ email: users.email })
    .from(users)
    .where(and(eq(users.role, 'admin'), eq(users.emailVerified, true), isNull(users.disabledAt)))
    .limit(MAX_ADMINISTRATORS)
  return rows.map(({ email }) => email)
}
