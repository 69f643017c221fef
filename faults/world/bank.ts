/** Customers of the suite, made past the gateways, and what it has paid in for them: the other side of every balance. */
import { type Accounts, createAccounts } from '@/accounts/accounts'
import { type ApiKeys, createApiKeys, type NewKey } from '@/accounts/api-keys'
import { assembleLedger } from '@/accounts/assemble-ledger'
import { type Credits, createCredits } from '@/accounts/credits'
import { connectDatabase, type Database } from '@/db/client'
import type { Ledger } from '@/ledger/ledger'
import type { LedgerHistory } from '@/ledger/outcomes'
import { connectRedis, type RedisClient, waitForRedis } from '@/ledger/store/connection'
import { createLogger, type Logger } from '@/lib/logger'
import { NANO_PER_USD, nano } from '@/lib/money'

export type Customer = { accountId: string; keyId: string; key: string }

export interface Bank {
  readonly database: Database
  readonly redis: RedisClient
  readonly history: LedgerHistory
  readonly ledger: Ledger
  readonly accounts: Accounts
  readonly apiKeys: ApiKeys
  readonly logger: Logger
  /** A new account with one key and `usd` of credit, a decimal number. */
  customer(usd: number, key?: Partial<NewKey>): Promise<Customer>
  /** Pays in `amount` nano-USD, or takes it back where it is negative. */
  payIn(accountId: string, amount: number): Promise<void>
  /** Nano-USD paid in so far, by account. */
  readonly paidIn: ReadonlyMap<string, number>
  /** The text of every key that was made. */
  readonly keys: readonly string[]
  close(): Promise<void>
}

/** Far above the limits of the gateways' catalogue: limits are not what this suite tests. */
const LIMITS = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 10_000 }
const REDIS_TIMEOUT_MS = 10_000

/** Opens the bank on the stores themselves, past all proxies. */
export async function openBank(redisUrl: string, databaseUrl: string): Promise<Bank> {
  const logger = createLogger({ level: 'error', service: 'svc', write: () => undefined })
  const database = connectDatabase(databaseUrl, { maxConnections: 4, applicationName: 'faults' })
  const redis = connectRedis(redisUrl, { logger, commandTimeoutMs: REDIS_TIMEOUT_MS, name: 'faults' })
  await waitForRedis(redis, REDIS_TIMEOUT_MS)
  const options = { defaultLimits: LIMITS, historyTimeoutMs: REDIS_TIMEOUT_MS }
  const { ledger, history } = assembleLedger({ redis, database, logger, ...options })
  const accounts: Accounts = createAccounts(database, ledger)
  const apiKeys = createApiKeys(database, ledger, 'svc')
  const credits: Credits = createCredits(database, ledger)
  const paidIn = new Map<string, number>()
  const keys: string[] = []

  async function payIn(accountId: string, amount: number): Promise<void> {
    const outcome = await credits.addCredit({ accountId, amount: nano(amount), reference: crypto.randomUUID() })
    if (outcome.kind !== 'credited' && outcome.kind !== 'recorded') throw new Error(`credit: ${outcome.kind}`)
    paidIn.set(accountId, (paidIn.get(accountId) ?? 0) + amount)
  }

  return {
    ...{ database, redis, history, ledger, accounts, apiKeys, logger, paidIn, keys, payIn },
    async customer(usd, key = {}) {
      const account = await accounts.create({ email: `${crypto.randomUUID()}@example.test`, name: 'Customer' })
      if (account.kind !== 'created') throw new Error('a new address is free')
      const { accountId } = account
      await payIn(accountId, Math.round(usd * NANO_PER_USD))
      const created = await apiKeys.create({ name: 'faults', ...key, accountId })
      if (created.kind !== 'created') throw new Error('the account exists')
      keys.push(created.key)
      return { accountId, keyId: created.keyId, key: created.key }
    },
    async close() {
      redis.disconnect()
      await database.close()
    },
  }
}
