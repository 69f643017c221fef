/** When a secret that another is to replace was last used, so that people see what still has to be changed before it ends. */
import type { Database } from '@/db/client'
import type { Payer } from '@/ledger/outcomes'
import { createBoundedMap } from '@/lib/bounded-map'

/** Uses of one secret are written down no more often than this, by each process. */
const INTERVAL_MS = 60_000
const CAPACITY = 10_000

/** Notes uses in `database`, in the background. One that can't be written is not: the next will be. */
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
