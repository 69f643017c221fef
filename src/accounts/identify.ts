/** From the text of a key to who pays: this process's memory, then the ledger's map, then the history. */
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
  /** Identities this process remembers. */
  memorySize?: number
  /** Milliseconds until the history counts as unreachable. */
  timeoutMs?: number
}

/** Undefined for no such key, a promise where it isn't remembered. Throws `overloaded` without the history. Not the status. */
export type Identify = (keyText: string, beforeLookUp?: () => void) => Soon<Payer | undefined>

const DEFAULTS = { memorySize: 50_000, timeoutMs: 2_000 } satisfies Required<IdentifyOptions>
/** A ledger that hangs would use up the second in which a paid request has to be refused: the history is asked instead. */
const LEDGER_PATIENCE_MS = 200
/** Look-ups per process: after a loss of the store, or a flood of made-up keys, they wait for each other. */
const HISTORY_LOOKUPS = { maxKeys: 1_000, maxQuestions: 2, maxWaiting: 10_000 }
const RETRY_AFTER_SECONDS = 2

/** Identifies keys of `service`; remembers the map from hash to account and id, which never changes, and only hits. */
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

  /** A ledger that hangs or fails knows nothing. */
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

/**
 * Whose keys these are, by their hashes, and which secret of theirs, ended or not; deleted keys have no account. Joined with the hashes, since
 * a table that Postgres reads from end to end would be compared with each of them, row by row.
 */
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
