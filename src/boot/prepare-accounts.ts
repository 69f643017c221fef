/** What a start leaves in the history before anybody may call: the first administrator, and a newcomer's demo account. */
import { createAccounts } from '@/accounts/accounts'
import { createApiKeys } from '@/accounts/api-keys'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { createCredits } from '@/accounts/credits'
import { upsertAdministrator } from '@/accounts/operator-access'
import type { Catalog } from '@/catalog/types'
import type { Config } from '@/config/config'
import { connectDatabase, type Database } from '@/db/client'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'
import type { Logger } from '@/lib/logger'
import { type Nano, ZERO_NANO } from '@/lib/money'
import { createDemoAccount, type DemoAccount } from './demo-account'
import type { Stores } from './stores'
import { readUnpaidCredit } from './unpaid-credit'

const REDIS_TIMEOUT_MS = 10_000

export type Preparation = {
  /** Where it was created now: on a first start that offers it, with no account yet. */
  demo: DemoAccount | undefined
  /** What a start with real providers finds in the books of earlier trials. */
  unpaidCredit: Nano
}

type PrepareOptions = { config: Config; catalog: Catalog; logger: Logger; isSandboxed: boolean }

/** Prepares the history; says what the banner has to tell of it. */
export async function prepareAccounts(options: PrepareOptions, stores: Stores): Promise<Preparation> {
  const { config, isSandboxed } = options
  const database = connectDatabase(stores.databaseUrl, { maxConnections: 1 })
  try {
    const { administrator } = config
    // Looked at before the administrator, who gets an account as well.
    const isFirst = (await database.sql`SELECT 1 FROM accounts LIMIT 1`).length === 0
    if (administrator) await upsertAdministrator(database, administrator.email, administrator.password)
    const unpaidCredit = isSandboxed ? ZERO_NANO : await readUnpaidCredit(database)
    const isOffered = config.hasDemoAccount && isFirst
    return { demo: isOffered ? await createDemo(options, stores, database) : undefined, unpaidCredit }
  } finally {
    await database.close()
  }
}

async function createDemo(
  { catalog, logger }: PrepareOptions,
  stores: Stores,
  database: Database,
): Promise<DemoAccount | undefined> {
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
}
