/** The names of an account's API keys, deleted ones included: old usage keeps the name of its key. */
import { and, eq, inArray } from 'drizzle-orm'
import type { Database } from '@/db/client'
import { apiKeys } from '@/db/schema'

/** Names by key id, of those keys among `keyIds` that belong to the account. */
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
