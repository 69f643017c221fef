/** Names of API keys and people, including deleted ones: old usage keeps its key's name. */
import { and, eq, inArray } from 'drizzle-orm'
import { users } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { apiKeys } from '@/db/schema'

/** Names by key id, for those of `keyIds` that belong to the account. */
export async function readKeyNames(
  { db }: Database,
  accountId: string,
  keyIds: readonly string[],
): Promise<Map<string, string>> {
  const ids = [...new Set(keyIds)]
  if (ids.length === 0) return new Map()
  const rows = await db
    .select({ id: apiKeys.id, name: apiKeys.name })
    .from(apiKeys)
    .where(and(eq(apiKeys.accountId, accountId), inArray(apiKeys.id, ids)))
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Names by member id; unknown members are missing. `memberIds` come from the account's own records. */
export async function readMemberNames({ db }: Database, memberIds: readonly string[]): Promise<Map<string, string>> {
  const ids = memberIds.filter((id) => id !== '')
  if (ids.length === 0) return new Map()
  const rows = await db.select({ id: users.id, name: users.name }).from(users).where(inArray(users.id, ids))
  return new Map(rows.map(({ id, name }) => [id, name]))
}
