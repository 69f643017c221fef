/** Shared by all archiving steps: rights, mutual exclusion, and short locks. */
import { sql } from 'drizzle-orm'
import type { ChangedBy } from '@/accounts/audit'
import { BRIEF_LOCK_MS } from '@/db/brief-locks'
import type { Database, Transaction } from '@/db/client'
import { databaseFailure } from '@/db/failure'

/** The reason why a step was refused or stopped; the message is for the operator. */
export class ArchiveRefusal extends Error {
  override readonly name = 'ArchiveRefusal'
}

export type StepDeps = {
  /** Connections of the role that owns the tables, without statement timeout. */
  owner: Database
  by: ChangedBy
  onStep?: (step: 'closed' | 'sealed' | 'archived' | 'restored' | 'dropped', month: string) => void
}

/** An advisory lock id that no other code uses. */
const ARCHIVE_LOCK = 5_811_206
/** Long enough, because the work only changes Postgres' catalogue. */
const STATEMENT_TIMEOUT_MS = 5_000
const MAX_ATTEMPTS = 10
/** Longer than any request waits for Postgres, so that waiting requests are served before the next attempt. */
const PAUSE_MS = 3_500

/** Runs `work` in one transaction that waits at most 1.2 s for a lock, with repeated attempts; finally throws {@link ArchiveRefusal}. */
export async function withBriefLocks<T>(
  { owner }: StepDeps,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await owner.db.transaction(async (transaction) => {
        await transaction.execute(sql.raw(`SET LOCAL lock_timeout = ${BRIEF_LOCK_MS}`))
        await transaction.execute(sql.raw(`SET LOCAL statement_timeout = ${BRIEF_LOCK_MS + STATEMENT_TIMEOUT_MS}`))
        await takeTurn(transaction)
        return await work(transaction)
      })
    } catch (error) {
      if (databaseFailure(error) !== 'conflict') throw error
      if (attempt === MAX_ATTEMPTS) {
        throw new ArchiveRefusal(
          `the usage records are in use by something that does not end (${await readersOf(owner)}); what is done so far stays, and the same command goes on from there`,
        )
      }
      await Bun.sleep(PAUSE_MS)
    }
  }
}

/** Refuses if another archiving command is running. */
export async function takeTurn(transaction: Transaction): Promise<void> {
  const [row] = await transaction.execute<{ mine: boolean }>(
    sql`SELECT pg_try_advisory_xact_lock(${ARCHIVE_LOCK}) AS mine`,
  )
  if (!row?.mine) throw new ArchiveRefusal('another archive, restore or drop of usage is at work')
}

/** Refuses if this role may not change the tables. */
export async function requireOwner({ owner }: StepDeps): Promise<void> {
  const [row] = await owner.sql<{ role: string; owner: string; owns: boolean }[]>`
    SELECT current_user AS role, relowner::regrole::text AS owner, pg_has_role(current_user, relowner, 'MEMBER') AS owns
    FROM pg_class WHERE oid = 'usage_records'::regclass`
  if (row?.owns) return
  throw new ArchiveRefusal(
    `the database role "${row?.role}" may not take months out of the usage records or put them back: set DATABASE_MIGRATOR_URL to an address of "${row?.owner}", which owns them`,
  )
}

/** Names the clients whose locks block this step: application and process. */
async function readersOf(owner: Database): Promise<string> {
  const rows = await owner.sql<{ name: string }[]>`
    SELECT DISTINCT format('%s, process %s', coalesce(nullif(application_name, ''), 'unnamed'), a.pid) AS name
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.relation IN ('usage_records'::regclass, 'archived_usage_records'::regclass) AND l.granted AND a.pid <> pg_backend_pid() LIMIT 5`
  return rows.map(({ name }) => name).join('; ') || 'gone by now'
}
