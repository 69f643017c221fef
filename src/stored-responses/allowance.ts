/** The time for which each account's answers are stored. The account chooses it, up to the operator's limit. */
import { eq } from 'drizzle-orm'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { accounts } from '@/db/schema'
import { createBoundedMap } from '@/lib/bounded-map'

interface Allowance {
  /** The hours for which an account's answers are stored; 0: none. Rejects if unknown to this process while Postgres is unreachable. */
  hoursOf(accountId: string): Promise<number>
  /** Call it after the account's choice has changed. */
  changed(accountId: string): void
}

/** Seconds until other gateways must apply a new choice. */
const ALLOWANCE_SECONDS = 15
const MAX_ACCOUNTS = 10_000
const TIMEOUT_MS = 2_000

type Known = { hours: number; untilMs: number }

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
