/** Confirms a new sign-in address with the link mailed to it: the address changes, and the former one gets a mail. */
import { and, eq, gt, gte, isNull, ne, sql } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { giveAddress, isAddressViolation, isTaken, lockPerson } from '@/accounts/email-addresses'
import { maskedAddress, UNDO_DAYS } from '@/accounts/mails/address-templates'
import { type MailDesk, writeMails } from '@/accounts/mails/outbox'
import { GatewayError } from '@/chat/error'
import { disabledUser, invalidLink } from '@/console/auth/failure'
import { confirmationsBy, tokensFrom } from '@/console/auth/limits'
import type { Answer, AuthParts } from '@/console/auth/parts'
import { originOf } from '@/console/auth/record'
import { rememberVisitor } from '@/console/auth/sign-in'
import { voidTokens } from '@/console/auth/tokens'
import { proveByPassword } from '@/console/auth/totp/step-up'
import { createIdentifyViewer } from '@/console/auth/viewer'
import { linkFor, type Visitor } from '@/console/auth/visitor'
import { addressChanges, sessions } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { randomBase62, sha256Hex } from '@/lib/ids'
import { deskOf, TOKEN_LENGTH } from './ask'

const DAY_MS = 86_400_000

/**
 * Makes the link's address the person's sign-in address. The person must enter their password, in case a stranger requested the link to
 * take over the address. Ends earlier links and all sessions except this browser's. Throws `invalid_link`, `wrong_password`,
 * `too_many_attempts`, and `email_taken` if another person took the address first.
 */
export async function confirmAddress(
  parts: AuthParts,
  visitor: Visitor,
  { token, password }: { token: string; password: string },
): Promise<Answer<null>> {
  const { throttle, database } = parts
  const mails = deskOf(parts)
  await throttle.attempt(...tokensFrom(visitor.address))
  const found = await findOpen(database.db, token)
  if (!found) throw invalidLink()
  await throttle.attempt(confirmationsBy(found.userId))
  await proveByPassword(parts, found, password)
  await throttle.forgive(confirmationsBy(found.userId))
  const viewer = await createIdentifyViewer(parts)(visitor.request)
  const keptSession = viewer?.userId === found.userId ? viewer.sessionId : ''
  try {
    await database.db.transaction((transaction) =>
      change(transaction, mails, visitor, { token, keptSession, ...found }),
    )
  } catch (error) {
    throw isAddressViolation(error) ? takenMeanwhile() : error
  }
  mails.hurry()
  return { body: null, cookies: [await rememberVisitor(parts, visitor, found.newEmail)] }
}

type Change = typeof addressChanges.$inferSelect

async function change(
  transaction: Transaction,
  mails: MailDesk,
  visitor: Visitor,
  { token, keptSession, userId }: { token: string; keptSession: string; userId: string },
): Promise<void> {
  const user = await lockPerson(transaction, userId)
  const found = await findOpen(transaction, token)
  if (!user || !found) throw invalidLink()
  if (user.disabledAt) throw disabledUser()
  const { id, newEmail } = found
  if (await isTaken(transaction, newEmail, userId)) throw takenMeanwhile()
  const isBack = await goBack(transaction, userId, newEmail)
  // An unconfirmed former address may not be the person's: it gets no mail, and the change cannot be undone.
  const undo = isBack || !user.emailVerified ? undefined : randomBase62(TOKEN_LENGTH)
  await giveAddress(transaction, user, newEmail)
  const undoing = undo && { undoHash: sha256Hex(undo), undoUntil: new Date(Date.now() + UNDO_DAYS * DAY_MS) }
  const confirmed = { confirmedAt: sql`clock_timestamp()`, oldEmail: user.email, ...undoing }
  await transaction.update(addressChanges).set(confirmed).where(eq(addressChanges.id, id))
  await transaction.delete(sessions).where(and(eq(sessions.userId, userId), ne(sessions.id, keptSession)))
  await voidTokens(transaction, userId)
  const where = { address: visitor.address, at: new Date().toISOString() }
  const facts = { after: maskedAddress(newEmail), undoDays: undo === undefined ? 0 : UNDO_DAYS, ...where }
  const mail = { kind: 'address_changed', facts } as const
  if (undo !== undefined) await mails.post(transaction, user.email, mail, linkFor(visitor, undo))
  else if (user.emailVerified) await writeMails(transaction, mail, [user.email])
  await recordAudit(transaction, {
    ...originOf(visitor, { userId, email: user.email }),
    ...{ action: 'user.change_email', subject: userId, accountId: user.accountId },
    details: { before: user.email, after: newEmail },
  })
}

/** Whether `email` is a former address still reserved for the person. If so, all later changes are undone. */
async function goBack(transaction: Transaction, userId: string, email: string): Promise<boolean> {
  const isLive = gt(addressChanges.undoUntil, sql`now()`)
  const isOwn = and(eq(addressChanges.userId, userId), eq(addressChanges.oldEmail, email))
  const left = await findRow(transaction, addressChanges, and(isOwn, isLive))
  if (left) await endUndoing(transaction, left)
  return left !== undefined
}

/** Voids the links that undo `change` and later changes. */
export async function endUndoing(
  transaction: Transaction,
  { userId, confirmedAt }: Pick<Change, 'userId' | 'confirmedAt'>,
): Promise<void> {
  const isLater = gte(addressChanges.confirmedAt, confirmedAt ?? new Date(0))
  await transaction
    .update(addressChanges)
    .set({ undoHash: null, undoUntil: null })
    .where(and(eq(addressChanges.userId, userId), isLater))
}

async function findOpen(db: AuthParts['database']['db'] | Transaction, token: string): Promise<Change | undefined> {
  const isOpen = and(isNull(addressChanges.confirmedAt), gt(addressChanges.confirmUntil, sql`now()`))
  return await findRow(db, addressChanges, and(eq(addressChanges.confirmHash, sha256Hex(token)), isOpen))
}

function takenMeanwhile(): GatewayError {
  return new GatewayError('conflict', 'This address is in use by now. Choose another one in the settings.', {
    code: 'email_taken',
  })
}
