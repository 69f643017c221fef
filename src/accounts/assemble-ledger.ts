/** Joins the ledger with the history that it is loaded from: the one place where a ledger over real stores is built. */
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
  /** How long a look into the history may take; by default no longer than a paid request can wait for it. */
  historyTimeoutMs?: number
  /** Told of every script that the store was asked to run. */
  onCall?: StoreCallListener
}

/** Builds a ledger and its history. The ledger has not looked at its store yet: `verify` does. */
export function assembleLedger(parts: LedgerParts): { ledger: Ledger; history: LedgerHistory } {
  const { redis, database, defaultLimits, logger, historyTimeoutMs, onCall } = parts
  const history = createLedgerHistory(database, historyTimeoutMs)
  const noteFormerSecret = createSecretUse(database)
  return { history, ledger: createLedger({ redis, history, defaultLimits, logger, onCall, noteFormerSecret }) }
}
