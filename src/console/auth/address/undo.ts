import { and, eq, gt, sql } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { giveAddress, isTaken, lockPerson } from '@/accounts/email-addresses'
import { writeMails } from '@/accounts/mails/outbox'
import { invalidLink } from '@/console/auth/failure'
import { tokensFrom } from '@/console/auth/limits'
import type { AuthParts } from '@/console/auth/parts'
import { originOf } from '@/console/auth/record'
import { createToken, voidTokens } from '@/console/auth/tokens'
import type { Visitor } from '@/console/auth/visitor'
import { addressChanges, credentials, sessions } from '@/db/auth-schema'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { assert } from '@/lib/assert'
import { sha256Hex } from '@/lib/ids'
import { endUndoing } from './confirm'

/**
 * Restores the former sign-in address, to which the link was mailed, whatever address followed it. All sessions end. The password becomes
 * invalid, since the person who changed the address knew it. Returns a token for `resetPassword`. Throws `invalid_link`.
 */
export async function undoAddress(parts: AuthParts, visitor: Visitor, token: string): Promise<string> {
  const { throttle, database, mails } = parts
  await throttle.attempt(...tokensFrom(visitor.address))
  const found = await findLive(database.db, token)
  if (!found) throw invalidLink()
  await database.db.transaction((transaction) => putBack(transaction, visitor, { token, userId: found.userId }))
  mails?.hurry()
  return await createToken(parts, 'reset-password', found.userId)
}

async function putBack(
  transaction: Transaction,
  visitor: Visitor,
  { token, userId }: { token: string; userId: string },
): Promise<void> {
  const user = await lockPerson(transaction, userId)
  const found = await findLive(transaction, token)
  if (!user || !found) throw invalidLink()
  const { oldEmail } = found
  assert(oldEmail !== null, 'what can be undone was confirmed')
  if (await isTaken(transaction, oldEmail, userId)) throw invalidLink()
  await giveAddress(transaction, user, oldEmail)
  await endUndoing(transaction, found)
  await voidTokens(transaction, userId)
  await transaction.delete(sessions).where(eq(sessions.userId, userId))
  await transaction.update(credentials).set({ password: null }).where(eq(credentials.userId, userId))
  const facts = { address: visitor.address, at: new Date().toISOString() }
  await writeMails(transaction, { kind: 'address_put_back', facts }, [user.email])
  await recordAudit(transaction, {
    ...originOf(visitor, { userId, email: oldEmail }),
    ...{ action: 'user.undo_email', subject: userId, accountId: user.accountId },
    details: { before: user.email, after: oldEmail },
  })
}

async function findLive(
  db: AuthParts['database']['db'] | Transaction,
  token: string,
): Promise<typeof addressChanges.$inferSelect | undefined> {
  const isLive = gt(addressChanges.undoUntil, sql`now()`)
  return await findRow(db, addressChanges, and(eq(addressChanges.undoHash, sha256Hex(token)), isLive))
}
