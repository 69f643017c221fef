/** What readiness asks: the ledger's store is needed for every paid request, the history only for books that keep up. */
import type { Database } from '@/db/client'
import type { ReadinessCheck } from '@/http/deps'
import type { RedisClient } from '@/ledger/store/connection'
import { withDeadline } from '@/lib/deadline'
import type { Flusher } from '@/usage/flusher'

const CHECK_TIMEOUT_MS = 1_000

/** The checks of one process. None rejects, and none takes longer than a second. */
export function readinessChecks(redis: RedisClient, database: Database, flusher: Flusher): ReadinessCheck[] {
  return [
    { name: 'redis', isRequired: true, check: () => failing(() => redis.ping()) },
    { name: 'postgres', isRequired: false, check: () => failing(() => database.sql`SELECT 1`) },
    {
      name: 'usage_flusher',
      isRequired: false,
      check: async () => (flusher.status().healthy ? undefined : `behind by ${flusher.status().lagRecords} records`),
    },
  ]
}

async function failing(ask: () => PromiseLike<unknown>): Promise<string | undefined> {
  try {
    const answered = Promise.resolve(ask()).then(() => undefined)
    return await withDeadline(answered, CHECK_TIMEOUT_MS, () => 'unreachable')
  } catch {
    return 'unreachable'
  }
}
