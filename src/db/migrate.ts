/** Brings a database to the newest schema: numbered SQL files, each in its own transaction, safe to start many at once. */
import type { Sql } from 'postgres'
import { sha256Hex } from '@/lib/ids'
import { connectDatabase } from './client'
import grants from './grants.sql' with { type: 'text' }
import history from './migrations/0001_history.sql' with { type: 'text' }
import routeReason from './migrations/0002_route_reason.sql' with { type: 'text' }
import signIn from './migrations/0003_sign_in.sql' with { type: 'text' }
import orders from './migrations/0004_orders.sql' with { type: 'text' }
import administration from './migrations/0005_administration.sql' with { type: 'text' }
import keys from './migrations/0006_keys.sql' with { type: 'text' }
import usage from './migrations/0007_usage.sql' with { type: 'text' }
import roomForUpdates from './migrations/0008_room_for_updates.sql' with { type: 'text' }
import sessions from './migrations/0009_sessions.sql' with { type: 'text' }
import accountLimits from './migrations/0010_account_limits.sql' with { type: 'text' }
import partitionsByOwner from './migrations/0011_partitions_by_their_owner.sql' with { type: 'text' }
import providerCosts from './migrations/0012_provider_costs.sql' with { type: 'text' }
import reversals from './migrations/0013_reversals.sql' with { type: 'text' }
import toolCharges from './migrations/0014_tool_charges.sql' with { type: 'text' }
import observations from './migrations/0015_observations.sql' with { type: 'text' }
import hangUps from './migrations/0016_hang_ups.sql' with { type: 'text' }
import failedRequests from './migrations/0017_failed_requests.sql' with { type: 'text' }
import disabledUsers from './migrations/0018_disabled_users.sql' with { type: 'text' }
import storedResponses from './migrations/0019_stored_responses.sql' with { type: 'text' }

/** One SQL file. Never changed once it was released: the next change is the next number. */
type Migration = { id: number; name: string; sql: string }

export const MIGRATIONS: readonly Migration[] = [
  { id: 1, name: 'history', sql: history },
  { id: 2, name: 'route_reason', sql: routeReason },
  { id: 3, name: 'sign_in', sql: signIn },
  { id: 4, name: 'orders', sql: orders },
  { id: 5, name: 'administration', sql: administration },
  { id: 6, name: 'keys', sql: keys },
  { id: 7, name: 'usage', sql: usage },
  { id: 8, name: 'room_for_updates', sql: roomForUpdates },
  { id: 9, name: 'sessions', sql: sessions },
  { id: 10, name: 'account_limits', sql: accountLimits },
  { id: 11, name: 'partitions_by_their_owner', sql: partitionsByOwner },
  { id: 12, name: 'provider_costs', sql: providerCosts },
  { id: 13, name: 'reversals', sql: reversals },
  { id: 14, name: 'tool_charges', sql: toolCharges },
  { id: 15, name: 'observations', sql: observations },
  { id: 16, name: 'hang_ups', sql: hangUps },
  { id: 17, name: 'failed_requests', sql: failedRequests },
  { id: 18, name: 'disabled_users', sql: disabledUsers },
  { id: 19, name: 'stored_responses', sql: storedResponses },
]

type MigrateOptions = {
  migrations?: readonly Migration[]
  /** Told of every migration that this call has applied. */
  onApplied?: (migration: Migration) => void
}

/** The advisory lock that makes concurrent starts take turns; any number that nothing else in this database uses. */
const MIGRATION_LOCK = 5_811_204

/**
 * Applies every migration that the database doesn't have yet, in order. Any number of processes may call it at once.
 * Throws where an applied migration has been changed since, or where one fails (its transaction leaves nothing behind).
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<void> {
  const { migrations = MIGRATIONS, onApplied } = options
  const database = connectDatabase(databaseUrl, {
    maxConnections: 1,
    statementTimeoutMs: 0,
    applicationName: 'migrate',
  })
  try {
    const applied = await readApplied(database.sql)
    for (const migration of migrations) {
      if (applied.get(migration.id) === sha256Hex(migration.sql)) continue
      if (await applyOnce(database.sql, migration)) onApplied?.(migration)
    }
    if (migrations === MIGRATIONS) await grantRoles(database.sql)
  } finally {
    await database.close()
  }
}

/** Says what the other roles may do, where there are such roles and we own what they are to use. */
async function grantRoles(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    const owned = await transaction`SELECT FROM pg_class WHERE oid = to_regclass('migrations')
      AND pg_has_role(current_user, relowner, 'MEMBER')
      AND (SELECT count(*) FROM pg_roles WHERE rolname IN ('svc_gateway', 'svc_reader')) = 2`
    if (owned.length > 0) await transaction.unsafe(grants)
  })
}

/** The digests of what was applied by now. Whatever is not among them is looked at again under the lock. */
async function readApplied(sql: Sql): Promise<Map<number, string>> {
  const [table] = await sql`SELECT to_regclass('migrations') AS name`
  if (!table?.name) return new Map()
  const rows = await sql<{ id: number; digest: string }[]>`SELECT id, digest FROM migrations`
  return new Map(rows.map(({ id, digest }) => [id, digest]))
}

/** Holds the lock for one transaction, so that it also works through a pooler that hands out connections by transaction. */
async function applyOnce(sql: Sql, migration: Migration): Promise<boolean> {
  const digest = sha256Hex(migration.sql)
  return await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await transaction`CREATE TABLE IF NOT EXISTS migrations (
      id integer PRIMARY KEY, name text NOT NULL, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    const [applied] = await transaction<{ digest: string }[]>`SELECT digest FROM migrations WHERE id = ${migration.id}`
    if (applied?.digest === digest) return false
    if (applied) throw new Error(`migration ${migration.id} (${migration.name}) was changed after it had been applied`)
    await transaction.unsafe(migration.sql)
    await transaction`INSERT INTO migrations (id, name, digest) VALUES (${migration.id}, ${migration.name}, ${digest})`
    return true
  })
}
