/** A person, and their role in accounts of a test. */
import type { Fixture } from '@test/accounts/fixture'
import type { ChangedBy } from '@/accounts/audit'
import type { AccountRole } from '@/db/auth-schema'
import { randomId } from '@/lib/ids'

export type Owner = { userId: string; by: ChangedBy }

/** Somebody who signs in, an owner of these accounts. */
export async function newOwner({ database }: Pick<Fixture, 'database'>, accountIds: readonly string[]): Promise<Owner> {
  const userId = randomId('user')
  const email = `${userId}@example.test`.toLowerCase()
  await database.sql`INSERT INTO users (id, name, email) VALUES (${userId}, 'Owner', ${email})`
  for (const accountId of accountIds) await giveRole({ database }, accountId, userId, 'owner')
  return { userId, by: { actor: { userId, email } } }
}

/** Makes them a member in this role, whatever they were. */
export async function giveRole(
  { database: { sql } }: Pick<Fixture, 'database'>,
  accountId: string,
  userId: string,
  role: AccountRole,
): Promise<void> {
  await sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${userId}, ${role})
    ON CONFLICT (account_id, user_id) DO UPDATE SET role = excluded.role`
}
