/** A signed-in person's own data: reading and changing them. */
import { eq } from 'drizzle-orm'
import { accountsOf, type OwnAccount } from '@/accounts/members/memberships'
import { type Permission, permissionsOf } from '@/accounts/members/permissions'
import { GatewayError } from '@/chat/error'
import { users } from '@/db/auth-schema'
import { assert } from '@/lib/assert'
import { isWeakPassword } from '@/lib/weak-password'
import type { AuthParts } from './parts'
import type { Viewer } from './viewer'

type Profile = Omit<Viewer, 'ownAccountId'> & {
  /** The account that the person was created with. */
  accountId: string
  accounts: (OwnAccount & { may: Permission[] })[]
  isEmailVerified: boolean
  isTotpEnabled: boolean
  createdAt: string
}

/** Reads the profile of the signed-in person. */
export async function readProfile(parts: AuthParts, viewer: Viewer): Promise<Profile> {
  const { database } = parts
  const [[user], accounts] = await Promise.all([
    database.db.select().from(users).where(eq(users.id, viewer.userId)),
    accountsOf(database, viewer.userId),
  ])
  assert(user, 'who has a session exists')
  const { ownAccountId: accountId, ...person } = viewer
  return {
    ...person,
    accountId,
    accounts: accounts.map((account) => ({ ...account, may: permissionsOf(account.role) })),
    isEmailVerified: user.emailVerified,
    isTotpEnabled: user.twoFactorEnabled,
    createdAt: user.createdAt.toISOString(),
  }
}

/** Changes the person's name. `name` has 1 to 100 characters. */
export async function renameUser(parts: AuthParts, viewer: Viewer, name: string): Promise<void> {
  await parts.database.db
    .update(users)
    .set({ name: name.trim(), updatedAt: new Date() })
    .where(eq(users.id, viewer.userId))
}

/** Refuses a password that is easily guessed from `known` (the person's address and name). The schema checks its length. */
export function checkNewPassword(password: string, known: readonly string[], param = 'password'): void {
  if (!isWeakPassword(password, known)) return
  throw new GatewayError('invalid_request', 'This password is easy to guess. Choose another one.', {
    code: 'weak_password',
    param,
  })
}
