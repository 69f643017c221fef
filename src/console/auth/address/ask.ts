/** Requests a change of the sign-in address: a link is mailed to the new address, and nothing changes until it is used. */
import { and, eq, gt, isNull, lte, or, sql } from 'drizzle-orm'
import { isTaken, voidPending } from '@/accounts/email-addresses'
import { CONFIRM_HOURS } from '@/accounts/mails/address-templates'
import { type MailDesk, writeMails } from '@/accounts/mails/outbox'
import { GatewayError } from '@/chat/error'
import { alwaysAtLeast } from '@/console/auth/at-least'
import { invalidEmail, mailNotConfigured } from '@/console/auth/failure'
import { addressMailsBy, addressMailsTo } from '@/console/auth/limits'
import type { AuthParts } from '@/console/auth/parts'
import { proveByAll } from '@/console/auth/totp/step-up'
import type { Viewer } from '@/console/auth/viewer'
import { linkFor, type Visitor } from '@/console/auth/visitor'
import { addressChanges, users } from '@/db/auth-schema'
import { findRow } from '@/db/find-row'
import { randomBase62, randomId, sha256Hex } from '@/lib/ids'

export type PendingAddress = { email: string; expiresAt: Date }

/** 32 base-62 characters have 190 bits. */
export const TOKEN_LENGTH = 32
const HOUR_MS = 3_600_000
/** Longer than a change takes, so that the response time does not reveal whether the address is in use. */
const ANSWER_MS = 300

/** Addresses that the sign-in accepts: with any other address, the person could not sign in. */
const SIGN_IN_ADDRESS = /^(?:[\w'+-]+\.)*[\w'+-]*[\w+-]@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/

/** The unconfirmed new address. */
export async function readPending(
  { database: { db } }: Pick<AuthParts, 'database'>,
  { userId }: Pick<Viewer, 'userId'>,
): Promise<PendingAddress | undefined> {
  const isPending = and(eq(addressChanges.userId, userId), isNull(addressChanges.confirmedAt))
  const row = await findRow(db, addressChanges, and(isPending, gt(addressChanges.confirmUntil, sql`now()`)))
  return row && { email: row.newEmail, expiresAt: row.confirmUntil }
}

/**
 * Mails the link, which replaces an earlier one. If the address belongs to another person, the response is the same, and that person gets a
 * mail. Throws `same_address`, `invalid_email`, `too_many_attempts`, `mail_not_configured` and the errors of a wrong password or code.
 */
export async function askForAddress(
  parts: AuthParts,
  visitor: Visitor,
  viewer: Viewer,
  { email: address, ...proof }: { email: string; password: string; code?: string },
): Promise<PendingAddress> {
  const mails = deskOf(parts)
  const email = address.toLowerCase()
  if (!SIGN_IN_ADDRESS.test(email)) throw invalidEmail()
  if (email === viewer.email) {
    const options = { code: 'same_address', param: 'email' }
    throw new GatewayError('conflict', 'This is your address already.', options)
  }
  await proveByAll(parts, visitor, viewer, proof)
  return await sendLink(parts, mails, visitor, viewer, email)
}

/** Mails a new link to the unconfirmed address; the earlier link no longer works. Throws `none_pending`. */
export async function askAgain(parts: AuthParts, visitor: Visitor, viewer: Viewer): Promise<PendingAddress> {
  const mails = deskOf(parts)
  const pending = await readPending(parts, viewer)
  if (!pending) {
    throw new GatewayError('conflict', 'No address waits for its confirmation. Enter it again.', {
      code: 'none_pending',
    })
  }
  return await sendLink(parts, mails, visitor, viewer, pending.email)
}

/** Voids the mailed link. */
export async function cancelChange({ database }: AuthParts, { userId }: Viewer): Promise<void> {
  await voidPending(database.db, userId)
}

/** The desk that sends mails. Throws `mail_not_configured`. */
export function deskOf({ mails }: Pick<AuthParts, 'mails'>): MailDesk {
  if (!mails) throw mailNotConfigured('Ask its operator to change the address.')
  return mails
}

async function sendLink(
  { throttle, database }: AuthParts,
  mails: MailDesk,
  visitor: Visitor,
  { userId }: Viewer,
  email: string,
): Promise<PendingAddress> {
  await throttle.attempt(addressMailsBy(userId), addressMailsTo(email))
  const token = randomBase62(TOKEN_LENGTH)
  const expiresAt = new Date(Date.now() + CONFIRM_HOURS * HOUR_MS)
  return await alwaysAtLeast(ANSWER_MS, async () => {
    await database.db.transaction(async (transaction) => {
      // Two simultaneous requests run one after the other, and the second replaces the first.
      await transaction.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('update')
      const isOver = or(isNull(addressChanges.undoUntil), lte(addressChanges.undoUntil, sql`now()`))
      await transaction.delete(addressChanges).where(and(eq(addressChanges.userId, userId), isOver))
      const row = {
        id: randomId('chg'),
        userId,
        newEmail: email,
        confirmHash: sha256Hex(token),
        confirmUntil: expiresAt,
      }
      await transaction.insert(addressChanges).values(row)
      const link = linkFor(visitor, token)
      if (await isTaken(transaction, email, userId))
        await writeMails(transaction, { kind: 'address_in_use', facts: {} }, [email], { origin: link.origin })
      else await mails.post(transaction, email, { kind: 'confirm_address', facts: {} }, link)
    })
    mails.hurry()
    return { email, expiresAt }
  })
}
