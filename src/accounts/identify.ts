import { GatewayError } from '@/chat/error'
import { textArray } from '@/db/array-literal'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import type { Ledger } from '@/ledger/ledger'
import type { Payer } from '@/ledger/outcomes'
import { createBatch } from '@/lib/batch'
import { createBoundedMap } from '@/lib/bounded-map'
import { withDeadline } from '@/lib/deadline'
import type { Soon } from '@/lib/wait/soon'
import { hashKey, isWellFormedKey } from './key-text'

type IdentifyOptions = {
  memorySize?: number
  timeoutMs?: number
}

/** Finds the payer of a key of any status: undefined for an unknown key, a promise if not cached. Throws `overloaded` without Postgres. */
export type Identify = (keyText: string, beforeLookUp?: () => void) => Soon<Payer | undefined>

const DEFAULTS = { memorySize: 50_000, timeoutMs: 2_000 } satisfies Required<IdentifyOptions>
/** Timeout of the ledger. It is short, since Postgres is queried after it, and a refusal must take less than a second. */
const LEDGER_PATIENCE_MS = 200
/** Limits of Postgres look-ups per process, for times after a loss of Redis or a flood of invented keys. */
const HISTORY_LOOKUPS = { maxKeys: 1_000, maxQuestions: 2, maxWaiting: 10_000 }
const RETRY_AFTER_SECONDS = 2

/** Finds the payer of a key's text: in memory, the ledger, then Postgres. Only found keys are remembered: a hash keeps its account. */
export function createIdentify(
  database: Database,
  ledger: Ledger,
  service: string,
  options: IdentifyOptions = {},
): Identify {
  const { memorySize, timeoutMs } = { ...DEFAULTS, ...options }
  const memory = createBoundedMap<string, Payer>(memorySize)
  const running = new Map<string, Promise<Payer | undefined>>()
  const askHistory = createBatch<Payer>({
    ...HISTORY_LOOKUPS,
    answer: (keyHashes) => withDatabaseDeadline(findInHistory(database, keyHashes), timeoutMs),
  })

  async function lookUp(keyHash: string): Promise<Payer | undefined> {
    const known = await askLedger(keyHash)
    if (known) return known
    try {
      const found = await withDatabaseDeadline(askHistory(keyHash), timeoutMs)
      if (found) void ledger.rememberKeyHash(keyHash, found).catch(() => undefined)
      return found
    } catch (error) {
      throw unavailable(error)
    }
  }

  /** Returns undefined if the ledger hangs or fails. */
  function askLedger(keyHash: string): Promise<Payer | undefined> {
    const asked = ledger.lookupKeyHash(keyHash).catch(() => undefined)
    return withDeadline(asked, LEDGER_PATIENCE_MS, () => undefined)
  }

  async function find(keyHash: string, beforeLookUp?: () => void): Promise<Payer | undefined> {
    beforeLookUp?.()
    const pending = running.get(keyHash) ?? lookUp(keyHash).finally(() => running.delete(keyHash))
    running.set(keyHash, pending)
    const payer = await pending
    if (payer) memory.set(keyHash, payer)
    return payer
  }

  return function identify(keyText, beforeLookUp) {
    const keyHash = hashKey(keyText)
    const known = memory.get(keyHash)
    if (known) return known
    return isWellFormedKey(keyText, service) ? find(keyHash, beforeLookUp) : undefined
  }
}

type KeyRow = { key_hash: string; account_id: string; id: string; ordinal: number }

/** Finds payer and secret number by hash, also of expired secrets, but not of deleted keys. A join, since an array would scan the table. */
async function findInHistory({ sql }: Database, keyHashes: readonly string[]): Promise<Map<string, Payer>> {
  const rows = await sql<KeyRow[]>`
    WITH asked AS (SELECT unnest(${textArray(keyHashes)}::text::text[]) AS key_hash)
    SELECT key_hash, account_id, id, secret_ordinal AS ordinal FROM asked JOIN api_keys USING (key_hash)
    WHERE status <> 'deleted'
    UNION ALL
    SELECT asked.key_hash, k.account_id, k.id, s.ordinal FROM asked JOIN key_secrets s USING (key_hash)
    JOIN api_keys k ON k.id = s.key_id WHERE k.status <> 'deleted'`
  return new Map(rows.map((row) => [row.key_hash, payerOf(row)]))
}

function payerOf({ account_id: accountId, id: keyId, ordinal }: KeyRow): Payer {
  return ordinal === 1 ? { accountId, keyId } : { accountId, keyId, secret: ordinal }
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('overloaded', 'The key cannot be checked at the moment. Please try again.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  })
}
