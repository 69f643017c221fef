/** The names of people whose keys made usage: also of those who are members no more. */
import { inArray } from 'drizzle-orm'
import { users } from '@/db/auth-schema'
import type { Database } from '@/db/client'

/** Names by member id; whoever is not known any more has none. `memberIds` come from an account's own records. */
export async function readMemberNames({ db }: Database, memberIds: readonly string[]): Promise<Map<string, string>> {
  const ids = memberIds.filter((id) => id !== '')
  if (ids.length === 0) return new Map()
  const rows = await db.select({ id: users.id, name: users.name }).from(users).where(inArray(users.id, ids))
  return new Map(rows.map(({ id, name }) => [id, name]))
}
