/** What a start leaves in the history before anybody may call: the first administrator, and a newcomer's demo account. */
import { createAccounts } from '@/accounts/accounts'
import { createApiKeys } from '@/accounts/api-keys'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { createCredits } from '@/accounts/credits'
import { upsertAdministrator } from '@/accounts/users'
import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config/config'
import { connectDatabase } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import type { Logger } from '@/lib/logger'
import { createDemoAccount, type DemoAccount } from './demo-account'
import type { Stores } from './stores'

const REDIS_TIMEOUT_MS = 10_000

/** Returns the demo account if it was created now: on the first start outside production, with no account yet. */
export async function prepareAccounts(
  { config, catalog, logger }: { config: Config; catalog: Catalog; logger: Logger },
  stores: Stores,
): Promise<DemoAccount | undefined> {
  const database = connectDatabase(stores.databaseUrl, { maxConnections: 1 })
  try {
    const { administrator } = config
    // Looked at before the administrator, who gets an account as well.
    const isFirst = (await database.sql`SELECT 1 FROM accounts LIMIT 1`).length === 0
    if (administrator) await upsertAdministrator(database, administrator.email, administrator.password)
    if (config.isProduction || !isFirst) return undefined
    const redis = connectRedis(stores.redisUrl, { logger, name: 'start' })
    try {
      await waitForRedis(redis, REDIS_TIMEOUT_MS)
      const { ledger } = assembleLedger({ redis, database, defaultLimits: catalog.limits, logger })
      return await createDemoAccount({
        database,
        accounts: createAccounts(database, ledger),
        apiKeys: createApiKeys(database, ledger, catalog.service),
        credits: createCredits(database, ledger),
      })
    } finally {
      redis.disconnect()
    }
  } finally {
    await database.close()
  }
}
