import type { Database } from '@/db/client'
import type { ReadinessCheck } from '@/http/deps'
import type { RedisClient } from '@/ledger/store/connection'
import type { StoreState, StoreWatch } from '@/ledger/store-watch'
import { withDeadline } from '@/lib/deadline'
import type { Flusher } from '@/usage/flusher'

const CHECK_TIMEOUT_MS = 1_000

/** Readiness checks, at most a second each. Redis must accept the writes of paid requests. If Postgres is late, it is only degraded. */
export function readinessChecks(
  redis: RedisClient,
  watch: StoreWatch,
  database: Database,
  flusher: Flusher,
): ReadinessCheck[] {
  return [
    {
      name: 'redis',
      isRequired: true,
      // A broken connection is reported at once, before the next probe.
      check: async () =>
        redis.status === 'ready'
          ? ofStore(watch, ({ fault }) => (fault === 'unreachable' ? fault : undefined))
          : 'unreachable',
    },
    { name: 'redis_writes', isRequired: true, check: () => ofStore(watch, (state) => reasonOf(state, state.fault)) },
    {
      name: 'redis_node_writes',
      isRequired: false,
      check: () => ofStore(watch, (state) => reasonOf(state, state.partFault)),
    },
    {
      name: 'redis_rights',
      isRequired: false,
      check: () => ofStore(watch, ({ missing }) => lacking(missing.optional)),
    },
    { name: 'postgres', isRequired: false, check: () => failing(() => database.sql`SELECT 1`) },
    {
      name: 'usage_flusher',
      isRequired: false,
      check: async () => (flusher.status().healthy ? undefined : `behind by ${flusher.status().lagRecords} records`),
    },
  ]
}

async function ofStore(
  watch: StoreWatch,
  tell: (state: StoreState) => string | undefined,
): Promise<string | undefined> {
  return await withDeadline(watch.look().then(tell), CHECK_TIMEOUT_MS, () => 'unreachable')
}

function reasonOf({ missing }: StoreState, fault: StoreState['fault']): string | undefined {
  return fault === 'forbidden' ? (lacking(missing.required) ?? fault) : fault
}

function lacking(rules: readonly string[]): string | undefined {
  return rules.length > 0 ? `forbidden: the user lacks ${rules.join(' ')}` : undefined
}

async function failing(ask: () => PromiseLike<unknown>): Promise<string | undefined> {
  try {
    const answered = Promise.resolve(ask()).then(() => undefined)
    return await withDeadline(answered, CHECK_TIMEOUT_MS, () => 'unreachable')
  } catch {
    return 'unreachable'
  }
}
