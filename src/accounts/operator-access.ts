/** Operator commands that change how a person signs in. Each change signs the person out everywhere. */
import { eq } from 'drizzle-orm'
import type { AuditDetails } from '@/db/administration-schema'
import {
  addressChanges,
  credentials,
  sessions,
  twoFactors,
  type UserRole,
  users,
  verifications,
} from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { randomId } from '@/lib/ids'
import { type ChangedBy, OPERATOR, recordAudit } from './audit'
import { giveAddress, isAddressViolation, isTaken, lockPerson, release, voidPending } from './email-addresses'
import { maskedAddress } from './mails/address-templates'
import { writeMails } from './mails/outbox'
import { hashPassword, verifyPassword } from './passwords'
import { ensureAccount, nameOf, passwordCredential } from './users'

type User = typeof users.$inferSelect

/** Creates an administrator, or makes a user one. A new password or role ends sessions; a new role also removes the second factor. */
export async function upsertAdministrator(
  database: Database,
  address: string,
  newPassword: string,
  by: ChangedBy = OPERATOR,
): Promise<void> {
  const email = address.toLowerCase()
  // Runs at every start. Only a changed password ends sessions and writes an audit entry.
  const isSame = await hasPassword(database, email, newPassword)
  const password = isSame ? undefined : await hashPassword(newPassword)
  await database.db.transaction(async (transaction) => {
    const before = await lockUser(transaction, email)
    // The operator's command overrides a reservation of the address.
    if (!before) await release(transaction, email)
    const isTakenOver = before !== undefined && (before.role !== 'admin' || !before.emailVerified)
    if (isTakenOver) await removeSecondFactor(transaction, before.id)
    if (before && (isTakenOver || password !== undefined)) await signOutEverywhere(transaction, before.id)
    const [user] = await transaction
      .insert(users)
      .values({ id: randomId('user'), email, name: nameOf(email), emailVerified: true, role: 'admin' })
      .onConflictDoUpdate({ target: users.email, set: { role: 'admin', emailVerified: true } })
      .returning({ id: users.id })
    if (!user) return
    if (password !== undefined) await writePassword(transaction, user.id, password)
    if (before && password !== undefined)
      await writeMails(transaction, { kind: 'password_changed', facts: byOperator() }, [email])
    const accountId = (await ensureAccount(transaction, user.id)) ?? null
    if (before && !isTakenOver && password === undefined) return
    const details = { email, role: 'admin', isPasswordNew: password !== undefined }
    const action = before ? 'user.make_admin' : 'user.create'
    await recordAudit(transaction, { ...by, action, subject: user.id, accountId, details })
  })
}

/** Sets a person's password; the caller checks its length. Ends the person's sessions and invalidates links that were mailed. */
export async function setPassword(
  { db }: Database,
  address: string,
  newPassword: string,
  by: ChangedBy = OPERATOR,
): Promise<'done' | 'unknown_user'> {
  const password = await hashPassword(newPassword)
  return await changeUser(db, address, by, 'user.set_password', async (transaction, user) => {
    await writePassword(transaction, user.id, password)
    await writeMails(transaction, { kind: 'password_changed', facts: byOperator() }, [user.email])
    return {}
  })
}

/** Sets a person's address, which counts as confirmed. Ends sessions and mailed links, also the links of earlier address changes. */
export async function setEmail(
  { db }: Database,
  address: string,
  newAddress: string,
  by: ChangedBy = OPERATOR,
): Promise<'done' | 'unknown_user' | 'email_taken'> {
  const email = newAddress.toLowerCase()
  const [named] = await db.select({ id: users.id }).from(users).where(eq(users.email, address.toLowerCase()))
  if (!named) return 'unknown_user'
  try {
    return await db.transaction(async (transaction) => {
      const user = await lockPerson(transaction, named.id)
      if (user?.email !== address.toLowerCase()) return 'unknown_user'
      if (await isTaken(transaction, email, user.id)) return 'email_taken'
      await giveAddress(transaction, user, email)
      await signOutEverywhere(transaction, user.id)
      await transaction.delete(addressChanges).where(eq(addressChanges.userId, user.id))
      const facts = { after: maskedAddress(email), undoDays: 0, ...byOperator() }
      if (user.emailVerified) await writeMails(transaction, { kind: 'address_changed', facts }, [user.email])
      const details = { before: user.email, after: email }
      const { id: subject, accountId } = user
      await recordAudit(transaction, { ...by, action: 'user.set_email', subject, accountId, details })
      return 'done'
    })
  } catch (error) {
    if (isAddressViolation(error)) return 'email_taken'
    throw error
  }
}

/** Removes a lost authenticator app: the next sign-in asks only for the password. Ends the person's sessions and mailed links. */
export async function resetTotp(
  { db }: Database,
  address: string,
  by: ChangedBy = OPERATOR,
): Promise<'done' | 'unknown_user'> {
  return await changeUser(db, address, by, 'user.reset_totp', async (transaction, user) => {
    await removeSecondFactor(transaction, user.id)
    const facts = { what: 'reset', ...byOperator() } as const
    await writeMails(transaction, { kind: 'second_step_changed', facts }, [user.email])
    return {}
  })
}

/** Sets a person's role. Administrator rights are checked again at each request. */
export async function setRole(
  { db }: Database,
  address: string,
  role: UserRole,
  by: ChangedBy = OPERATOR,
): Promise<'done' | 'unknown_user'> {
  return await changeUser(db, address, by, 'user.set_role', async (transaction, user) => {
    await transaction.update(users).set({ role }).where(eq(users.id, user.id))
    return { before: user.role, after: role }
  })
}

/** Disables a person's sign-in, or enables it again. */
export async function setDisabled(
  { db }: Database,
  address: string,
  isDisabled: boolean,
  by: ChangedBy = OPERATOR,
): Promise<'done' | 'unknown_user'> {
  return await changeUser(db, address, by, isDisabled ? 'user.disable' : 'user.enable', async (transaction, user) => {
    const disabledAt = isDisabled ? (user.disabledAt ?? new Date()) : null
    await transaction.update(users).set({ disabledAt }).where(eq(users.id, user.id))
    return {}
  })
}

/** Active API keys that depend on the person: their own keys in all accounts, and all keys of an account that has no other user. */
export async function keysEndingWith({ sql }: Database, address: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT api_keys.id FROM api_keys JOIN users AS one ON one.email = ${address.toLowerCase()}
    WHERE api_keys.status = 'active' AND built_in IS NULL AND (api_keys.created_by = one.id OR (
      api_keys.account_id = one.account_id AND NOT EXISTS (SELECT FROM memberships JOIN users ON users.id = user_id
        WHERE memberships.account_id = one.account_id AND user_id <> one.id AND disabled_at IS NULL)))
    ORDER BY api_keys.created_at, api_keys.id`
  return rows.map(({ id }) => id)
}

function byOperator(): { at: string; address: string } {
  return { at: new Date().toISOString(), address: 'the operator of this service' }
}

async function changeUser(
  db: Database['db'],
  address: string,
  by: ChangedBy,
  action: string,
  change: (transaction: Transaction, user: User) => Promise<AuditDetails>,
): Promise<'done' | 'unknown_user'> {
  return await db.transaction(async (transaction) => {
    const user = await lockUser(transaction, address.toLowerCase())
    if (!user) return 'unknown_user'
    const details = await change(transaction, user)
    await signOutEverywhere(transaction, user.id)
    const { id: subject, accountId, email } = user
    await recordAudit(transaction, { ...by, action, subject, accountId, details: { email, ...details } })
    return 'done'
  })
}

async function hasPassword({ db }: Database, email: string, password: string): Promise<boolean> {
  const [row] = await db
    .select({ hash: credentials.password })
    .from(credentials)
    .innerJoin(users, eq(users.id, credentials.userId))
    .where(eq(users.email, email))
  return row?.hash ? await verifyPassword(password, row.hash) : false
}

async function lockUser(transaction: Transaction, email: string): Promise<User | undefined> {
  const [user] = await transaction.select().from(users).where(eq(users.email, email)).for('update')
  return user
}

async function writePassword(transaction: Transaction, userId: string, password: string): Promise<void> {
  await transaction
    .insert(credentials)
    .values(passwordCredential(userId, password))
    .onConflictDoUpdate({ target: [credentials.providerId, credentials.accountId], set: { password } })
}

async function removeSecondFactor(transaction: Transaction, userId: string): Promise<void> {
  await transaction.delete(twoFactors).where(eq(twoFactors.userId, userId))
  await transaction.update(users).set({ twoFactorEnabled: false }).where(eq(users.id, userId))
}

async function signOutEverywhere(transaction: Transaction, userId: string): Promise<void> {
  await transaction.delete(sessions).where(eq(sessions.userId, userId))
  await transaction.delete(verifications).where(eq(verifications.value, userId))
  await voidPending(transaction, userId)
}
