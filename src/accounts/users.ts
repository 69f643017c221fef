/** People who log in: an e-mail address, a password hash, a role, and the account they belong to. */
import type { Database } from '@/db/client'
import { isForeignKeyViolation, isUniqueViolation } from '@/db/failure'
import { type UserRole, users } from '@/db/schema'
import { randomId } from '@/lib/ids'

export type NewUser = { email: string; password: string; role?: UserRole; accountId?: string }

export type CreateUserOutcome =
  | { kind: 'created'; userId: string }
  | { kind: 'email_taken' }
  | { kind: 'unknown_account' }

export const PASSWORD_MIN_CHARS = 8
/** Nothing is cut off: a longer password is refused. */
export const PASSWORD_MAX_CHARS = 256

/** 19 MiB and two passes, OWASP's recommendation of 2024; the hash carries its parameters, so they may grow. */
const ARGON2ID = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** Creates a user. The caller checks the password's length. The hash is computed off the event loop. */
export async function createUser({ db }: Database, user: NewUser): Promise<CreateUserOutcome> {
  const userId = randomId('user')
  const passwordHash = await Bun.password.hash(user.password, ARGON2ID)
  try {
    await db.insert(users).values({
      id: userId,
      email: user.email,
      passwordHash,
      role: user.role ?? 'member',
      accountId: user.accountId ?? null,
    })
    return { kind: 'created', userId }
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key')) return { kind: 'email_taken' }
    if (isForeignKeyViolation(error)) return { kind: 'unknown_account' }
    throw error
  }
}

/** Creates the administrator, or gives the user of that address this password and the role `admin`. */
export async function upsertAdministrator({ sql }: Database, email: string, password: string): Promise<void> {
  const passwordHash = await Bun.password.hash(password, ARGON2ID)
  await sql`INSERT INTO users (id, email, password_hash, role)
    VALUES (${randomId('user')}, ${email}, ${passwordHash}, 'admin')
    ON CONFLICT (lower(email)) DO UPDATE SET password_hash = excluded.password_hash, role = excluded.role`
}
