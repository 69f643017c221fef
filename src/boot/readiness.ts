/** What readiness asks: the ledger's store has to take what paid requests write, the history only keeps the books up. */
import type { Database } from '@/db/client'
import type { ReadinessCheck } from '@/http/deps'
import type { RedisClient } from '@/ledger/store/connection'
import type { StoreWatch } from '@/ledger/store-watch'
import { withDeadline } from '@/lib/deadline'
import type { Flusher } from '@/usage/flusher'

const CHECK_TIMEOUT_MS = 1_000

/** The checks of one process. None rejects, and none takes longer than a second. */
export function readinessChecks(
  redis: RedisClient,
  watch: StoreWatch,
  database: Database,
  flusher: Flusher,
): ReadinessCheck[] {
  return [
    { name: 'redis', isRequired: true, check: () => failing(() => redis.ping()) },
    { name: 'redis_writes', isRequired: true, check: () => writeFault(watch, 'fault') },
    { name: 'redis_node_writes', isRequired: false, check: () => writeFault(watch, 'partFault') },
    { name: 'postgres', isRequired: false, check: () => failing(() => database.sql`SELECT 1`) },
    {
      name: 'usage_flusher',
      isRequired: false,
      check: async () => (flusher.status().healthy ? undefined : `behind by ${flusher.status().lagRecords} records`),
    },
  ]
}

/** A probe under way, or of the last moment, answers for all who ask. */
async function writeFault(watch: StoreWatch, which: 'fault' | 'partFault'): Promise<string | undefined> {
  return await withDeadline(
    watch.look().then((state) => state[which]),
    CHECK_TIMEOUT_MS,
    () => 'unreachable',
  )
}

async function failing(ask: () => PromiseLike<unknown>): Promise<string | undefined> {
  try {
    const answered = Promise.resolve(ask()).then(() => undefined)
    return await withDeadline(answered, CHECK_TIMEOUT_MS, () => 'unreachable')
  } catch {
    return 'unreachable'
  }
}
