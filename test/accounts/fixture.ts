/** Accounts, keys and credits over a Redis and a Postgres of one test's own choosing. */
import { createAccounts } from '@/accounts/accounts'
import { createApiKeys } from '@/accounts/api-keys'
import { createCredits } from '@/accounts/credits'
import { createLedgerHistory } from '@/accounts/history'
import { connectDatabase } from '@/db/client'
import { createLedger, type Ledger } from '@/ledger/ledger'
import type { LedgerHistory } from '@/ledger/outcomes'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { createLogger } from '@/lib/logger'

export const SERVICE = 'svc'
export const silentLogger = createLogger({ level: 'error', service: 'test', write: () => {} })

export type Fixture = ReturnType<typeof assemble>

/** Connects to both stores. `changes` wraps the ledger, e.g. to let it fail. */
export async function openFixture(
  redisAddress: string,
  databaseAddress: string,
  changes: (ledger: Ledger) => Ledger = (ledger) => ledger,
): Promise<Fixture> {
  const redis = connectRedis(redisAddress, { logger: silentLogger })
  await waitForRedis(redis, 5_000)
  return assemble(redis, databaseAddress, changes)
}

function assemble(redis: RedisClient, databaseAddress: string, changes: (ledger: Ledger) => Ledger) {
  const database = connectDatabase(databaseAddress, { maxConnections: 4 })
  const history: LedgerHistory = createLedgerHistory(database, 2_000)
  const limits = { requestsPerMinute: 600, tokensPerMinute: 2_000_000, concurrency: 200 }
  const ledger = changes(createLedger({ redis, history, defaultLimits: limits, logger: silentLogger }))
  return {
    redis,
    database,
    history,
    ledger,
    accounts: createAccounts(database, ledger),
    apiKeys: createApiKeys(database, ledger, SERVICE),
    credits: createCredits(database, ledger),
    async close() {
      redis.disconnect()
      await database.close(0)
    },
  }
}
