import type { Database } from '@/db/client'
import type { Payer } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'

/** Each process writes the use of a secret at most once in this time. */
const INTERVAL_MS = 60_000
const CAPACITY = 10_000

/** Records in the background when a rotated-out secret was last used. Failed writes are dropped: the next use is written. */
export function createSecretUse({ sql }: Database): (payer: Payer) => void {
  const writtenAtMs = createBoundedMap<string, number>(CAPACITY)
  return ({ keyId, secret = 1 }) => {
    const name = `${keyId}:${secret}`
    const nowMs = performance.now()
    const before = writtenAtMs.get(name)
    if (before !== undefined && nowMs - before < INTERVAL_MS) return
    writtenAtMs.set(name, nowMs)
    sql`UPDATE key_secrets SET last_used_at = now() WHERE key_id = ${keyId} AND ordinal = ${secret}`.catch(
      () => undefined,
    )
  }
}
