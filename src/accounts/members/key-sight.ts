/** What of an account's usage a key may read: what the member may whose key it is. */
import { and, eq } from 'drizzle-orm'
import { memberships } from '@/db/auth-schema'
import type { Database } from '@/db/client'
import { apiKeys } from '@/db/schema'
import type { Payer } from '@/ledger/outcomes'
import { mayDo } from './permissions'

/**
 * The person whose keys' usage is all that this key may read; undefined where it may read the whole account's: its member may, or it is
 * the account's own. Whoever is a member no more has no role that allows it.
 */
export async function onlyMadeBy({ db }: Database, { accountId, keyId }: Payer): Promise<string | undefined> {
  const membership = and(eq(memberships.accountId, apiKeys.accountId), eq(memberships.userId, apiKeys.createdBy))
  const [key] = await db
    .select({ createdBy: apiKeys.createdBy, role: memberships.role })
    .from(apiKeys)
    .leftJoin(memberships, membership)
    .where(and(eq(apiKeys.id, keyId), eq(apiKeys.accountId, accountId)))
  if (!key?.createdBy || (key.role && mayDo(key.role, 'usage.readAll'))) return undefined
  return key.createdBy
}
