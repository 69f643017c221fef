/** Creates the first administrator and the demo account in Postgres. */
import { createAccounts } from '@/accounts/accounts'
import { createApiKeys } from '@/accounts/api-keys'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { createCredits } from '@/accounts/credits'
import { inOrder } from '@/accounts/in-order'
import { upsertAdministrator } from '@/accounts/operator-access'
import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config/config'
import { connectDatabase, type Database } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import type { Logger } from '@/lib/logger'
import { type Nano, nano, ZERO_NANO } from '@/lib/money'
import { DEMO_EMAIL, type DemoAccount, findOrCreateDemoAccount } from './demo-account'
import type { Stores } from './stores'

const REDIS_TIMEOUT_MS = 10_000

type PrepareOptions = { config: Config; catalog: Catalog; logger: Logger; isSandboxed: boolean }

/** Creates the administrator. With real providers, returns the credit left from earlier trials. */
export async function prepareAccounts({ config, isSandboxed }: PrepareOptions, stores: Stores): Promise<Nano> {
  const database = connectDatabase(stores.databaseUrl, { maxConnections: 1 })
  try {
    const { administrator } = config
    if (administrator) await upsertAdministrator(database, administrator.email, administrator.password)
    return isSandboxed ? ZERO_NANO : await readUnpaidCredit(database)
  } finally {
    await database.close()
  }
}

/** Makes or completes the demo account, if offered and nobody else has an account. Secrets are returned only the first time. */
export async function offerDemoAccount(
  { config, catalog, logger }: PrepareOptions,
  stores: Stores,
): Promise<DemoAccount | undefined> {
  if (!config.hasDemoAccount) return undefined
  // Two connections: one holds the lock while the other works, since several gateways may start at the same time.
  const database = connectDatabase(stores.databaseUrl, { maxConnections: 2 })
  const redis = connectRedis(stores.redisUrl, { logger, keyPrefix: config.redisKeyPrefix, name: 'start' })
  try {
    await waitForRedis(redis, REDIS_TIMEOUT_MS)
    const { ledger } = assembleLedger({ redis, database, defaultLimits: catalog.limits, logger })
    const deps = {
      database,
      accounts: createAccounts(database, ledger),
      apiKeys: createApiKeys(database, ledger, catalog.service),
      credits: createCredits(database, ledger),
    }
    let demo: DemoAccount | undefined
    await inOrder(database, 'demo account', async () => {
      demo = await findOrCreateDemoAccount(deps, config.administrator?.email)
    })
    return demo
  } finally {
    redis.disconnect()
    await database.close()
  }
}

async function readUnpaidCredit({ sql }: Database): Promise<Nano> {
  const [row] = await sql<{ sum: string }[]>`
    SELECT coalesce(sum(balance_nano::bigint), 0)::text AS sum FROM accounts
    WHERE balance_nano > 0 AND (lower(email) = ${DEMO_EMAIL} OR id IN (
      SELECT account_id FROM payments WHERE provider = 'deposit:sandbox' AND state = 'credited'))`
  return nano(Number(row?.sum ?? 0))
}
