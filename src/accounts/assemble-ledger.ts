import type { Database } from '@/db/client'
import { createLedger, type Ledger } from '@/ledger/ledger'
import type { DefaultLimits, LedgerHistory } from '@/ledger/outcomes'
import type { RedisClient } from '@/ledger/store/connection'
import type { StoreCallListener } from '@/ledger/store-calls'
import type { Logger } from '@/lib/logger'
import { createLedgerHistory } from './history'
import { createSecretUse } from './rotation/secret-use'

type LedgerParts = {
  redis: RedisClient
  database: Database
  defaultLimits: DefaultLimits
  logger: Logger
  /** Timeout of a query to Postgres. Default: the longest time that a paid request can wait for one. */
  historyTimeoutMs?: number
  onCall?: StoreCallListener
}

/** Builds a ledger on Redis, and the Postgres history from which it loads accounts. Call the ledger's `verify` before its first use. */
export function assembleLedger(parts: LedgerParts): { ledger: Ledger; history: LedgerHistory } {
  const { redis, database, defaultLimits, logger, historyTimeoutMs, onCall } = parts
  const history = createLedgerHistory(database, historyTimeoutMs)
  const noteFormerSecret = createSecretUse(database)
  return { history, ledger: createLedger({ redis, history, defaultLimits, logger, onCall, noteFormerSecret }) }
}
