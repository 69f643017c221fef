/** How long each account's answers are kept: as the account has chosen, and never longer than the operator keeps any. */
import { eq } from 'drizzle-orm'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { accounts } from '@/db/schema'
import { createBoundedMap } from '@/lib/bounded-map'

interface Allowance {
  /** Hours; 0 = nothing is stored. Rejects if that was never known here and can't be asked. */
  hoursOf(accountId: string): Promise<number>
  /** The account has chosen something else. */
  changed(accountId: string): void
}

/** So long after an account has chosen another gateway may still heed what it chose before. */
const ALLOWANCE_SECONDS = 15
const MAX_ACCOUNTS = 10_000
const TIMEOUT_MS = 2_000

type Known = { hours: number; untilMs: number }

/** Creates the memory of one process. `maxHours` is the operator's. */
export function createAllowance(database: Database, maxHours: number, monotonicMs: () => number): Allowance {
  const known = createBoundedMap<string, Known>(MAX_ACCOUNTS)

  async function ask(accountId: string): Promise<number> {
    const rows = database.db
      .select({ hours: accounts.storedResponseHours })
      .from(accounts)
      .where(eq(accounts.id, accountId))
    const [row] = await withDatabaseDeadline(rows, TIMEOUT_MS)
    return Math.min(row?.hours ?? maxHours, maxHours)
  }

  return {
    async hoursOf(accountId) {
      if (maxHours === 0) return 0
      const before = known.get(accountId)
      if (before && before.untilMs > monotonicMs()) return before.hours
      try {
        const hours = await ask(accountId)
        known.set(accountId, { hours, untilMs: monotonicMs() + ALLOWANCE_SECONDS * 1000 })
        return hours
      } catch (error) {
        if (before && before.untilMs > 0) return before.hours
        throw error
      }
    },
    changed(accountId) {
      known.set(accountId, { hours: 0, untilMs: 0 })
    },
  }
}
