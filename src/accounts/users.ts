/** Creates users for operators, and finds or creates the account that pays for a user. */
import { and, eq, sql } from 'drizzle-orm'
import { credentials, type UserRole, users } from '@/db/auth-schema'
import type { Database, Transaction } from '@/db/client'
import { isForeignKeyViolation, isUniqueViolation } from '@/db/failure'
import { findRow } from '@/db/find-row'
import { accounts } from '@/db/schema'
import { randomId } from '@/lib/ids'
import { insertAccount } from './accounts'
import { type ChangedBy, OPERATOR, recordAudit } from './audit'
import { hashPassword } from './passwords'

/** `name` defaults to the part before the @. `accountId` defaults to the account with that address, or else a new one. */
type NewUser = { email: string; password: string; name?: string; role?: UserRole; accountId?: string }

type CreateUserOutcome = { kind: 'created'; userId: string } | { kind: 'email_taken' } | { kind: 'unknown_account' }

/** Creates a user by an operator's command, with a verified address and an account. The caller checks the password's length. */
export async function createUser(
  { db }: Database,
  user: NewUser,
  by: ChangedBy = OPERATOR,
): Promise<CreateUserOutcome> {
  const userId = randomId('user')
  const email = user.email.toLowerCase()
  const password = await hashPassword(user.password)
  try {
    await db.transaction(async (transaction) => {
      await transaction.insert(users).values({
        id: userId,
        email,
        name: user.name ?? nameOf(email),
        emailVerified: true,
        role: user.role ?? 'member',
        accountId: user.accountId ?? null,
      })
      await transaction.insert(credentials).values(passwordCredential(userId, password))
      const accountId = (await ensureAccount(transaction, userId)) ?? null
      const details = { email, role: user.role ?? 'member' }
      await recordAudit(transaction, { ...by, action: 'user.create', subject: userId, accountId, details })
    })
    return { kind: 'created', userId }
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key')) return { kind: 'email_taken' }
    if (isForeignKeyViolation(error)) return { kind: 'unknown_account' }
    throw error
  }
}

/** Links a user to the account with their verified address, or to a new one, and returns its id. Undefined if the user doesn't exist. */
export async function ensureAccount(transaction: Transaction, userId: string): Promise<string | undefined> {
  const [user] = await transaction.select().from(users).where(eq(users.id, userId)).for('update')
  if (!user) return undefined
  if (user.accountId !== null) return user.accountId
  const created = await insertAccount(transaction, { email: user.email, name: user.name })
  if (created === undefined && !user.emailVerified) return undefined
  const accountId = created ?? (await accountOfAddress(transaction, user.email))
  if (accountId !== undefined) await transaction.update(users).set({ accountId }).where(eq(users.id, userId))
  return accountId
}

async function accountOfAddress(transaction: Transaction, email: string): Promise<string | undefined> {
  const isOwn = and(eq(sql`lower(${accounts.email})`, email), eq(accounts.kind, 'personal'))
  return (await findRow(transaction, accounts, isOwn))?.id
}

/** A credentials row with the password hash `password`. */
export function passwordCredential(userId: string, password: string): typeof credentials.$inferInsert {
  return { id: randomId('cred'), userId, providerId: 'credential', accountId: userId, password }
}

const NAME_MAX_CHARS = 100

/** A default name, made from the address. */
export function nameOf(email: string): string {
  return email.slice(0, email.indexOf('@')).slice(0, NAME_MAX_CHARS) || email.slice(0, NAME_MAX_CHARS)
}
