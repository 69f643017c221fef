/** Accounts, keys and credits over a Redis and a Postgres of one test's own choosing. */

import { COMMAND_TIMEOUT_MS } from '@test/support/stores'
import { PATIENCE_MS } from '@test/support/until'
import { createAccounts } from '@/accounts/accounts'
import { createApiKeys } from '@/accounts/api-keys'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { createCredits } from '@/accounts/credits'
import { connectDatabase } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
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
  const redis = connectRedis(redisAddress, { logger: silentLogger, commandTimeoutMs: COMMAND_TIMEOUT_MS })
  await waitForRedis(redis, PATIENCE_MS)
  return assemble(redis, databaseAddress, changes)
}

function assemble(redis: RedisClient, databaseAddress: string, changes: (ledger: Ledger) => Ledger) {
  const database = connectDatabase(databaseAddress, { maxConnections: 4 })
  const limits = { requestsPerMinute: 600, tokensPerMinute: 2_000_000, concurrency: 200 }
  const options = { defaultLimits: limits, historyTimeoutMs: COMMAND_TIMEOUT_MS, logger: silentLogger }
  const { ledger: unchanged, history } = assembleLedger({ redis, database, ...options })
  const ledger = changes(unchanged)
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
