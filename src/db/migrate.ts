/** Migrates a database to the newest schema: numbered SQL files, each in its own transaction, safe with concurrent starts. */
import type { Sql } from 'postgres'
import { sha256Hex } from '@/lib/ids'
import { connectDatabase } from './client'
import grants from './grants.sql' with { type: 'text' }
import people from './migrations/0001_people.sql' with { type: 'text' }
import keys from './migrations/0002_keys.sql' with { type: 'text' }
import ledger from './migrations/0003_ledger.sql' with { type: 'text' }
import usage from './migrations/0004_usage.sql' with { type: 'text' }
import failedRequests from './migrations/0005_failed_requests.sql' with { type: 'text' }
import storedResponses from './migrations/0006_stored_responses.sql' with { type: 'text' }
import orders from './migrations/0007_orders.sql' with { type: 'text' }
import mails from './migrations/0008_mails.sql' with { type: 'text' }
import batches from './migrations/0009_batches.sql' with { type: 'text' }

/** One SQL file, unchanged once released. `isExpansion`: it only adds, so that gateways of the previous version still work. */
type Migration = { id: number; name: string; sql: string; isExpansion?: boolean }

/** A schema that this version can't use. The message contains the reason, and what to do. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

export const MIGRATIONS: readonly Migration[] = [
  { id: 1, name: 'people', sql: people },
  { id: 2, name: 'keys', sql: keys },
  { id: 3, name: 'ledger', sql: ledger },
  { id: 4, name: 'usage', sql: usage },
  { id: 5, name: 'failed_requests', sql: failedRequests },
  { id: 6, name: 'stored_responses', sql: storedResponses },
  { id: 7, name: 'orders', sql: orders },
  { id: 8, name: 'mails', sql: mails },
  { id: 9, name: 'batches', sql: batches },
]

type MigrateOptions = {
  migrations?: readonly Migration[]
  onApplied?: (migration: Migration) => void
  /** Called with the names of a newer version's migrations that this version can work with. */
  onNewer?: (names: string) => void
}

/** A row of the table `migrations`. `requires`: the newest migration that a gateway must know to use the schema. */
type Applied = Pick<Migration, 'id' | 'name'> & { digest: string; requires: number }

/** An advisory lock id that no other code uses. It lets concurrent starts wait for each other. */
const MIGRATION_LOCK = 5_811_204
/** The name of the first migration in versions before 1.0. */
const FIRST_BEFORE_1_0 = 'history'
const INSUFFICIENT_PRIVILEGE = '42501'
const MAX_LISTED = 5

/**
 * Applies missing migrations in order. Any number of processes may call it at once. Throws a {@link SchemaError} if the database is from
 * before 1.0, if a newer version changed the schema incompatibly, or if this role lacks the rights. Also throws if an applied migration's
 * file was changed, or if a migration fails, which is rolled back.
 */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<void> {
  const { migrations = MIGRATIONS, onApplied, onNewer } = options
  const database = connectDatabase(databaseUrl, {
    maxConnections: 1,
    statementTimeoutMs: 0,
    applicationName: 'migrate',
  })
  try {
    const applied = await readApplied(database.sql)
    const newer = refuseUnusable(applied, migrations)
    if (newer.length > 0) onNewer?.(listed(newer))
    const digests = new Map(applied.map(({ id, digest }) => [id, digest]))
    const missing = migrations.filter(({ id, sql }) => digests.get(id) !== sha256Hex(sql))
    for (const [index, migration] of missing.entries()) {
      const isApplied = await applyOnce(database.sql, migration, migrations).catch((error: unknown) => {
        throw isForbidden(error) ? notAllowed(missing.slice(index), error) : error
      })
      if (isApplied) onApplied?.(migration)
    }
    // A newer version's tables get their rights from that version.
    if (migrations === MIGRATIONS && newer.length === 0) await grantRoles(database.sql)
  } finally {
    await database.close()
  }
}

/** Throws if this version can't use a schema with the `applied` migrations. Returns those that this version doesn't know. */
function refuseUnusable(applied: readonly Applied[], migrations: readonly Migration[]): Applied[] {
  if (applied.some(({ name }) => name === FIRST_BEFORE_1_0)) {
    throw new SchemaError(
      'The database was made by a version before 1.0, which this version cannot use; nothing in it was changed. Set DATABASE_URL to ' +
        'a new, empty database (or remove DATA_DIR, if the gateway runs its own).',
    )
  }
  const newest = migrations.at(-1)?.id ?? 0
  const newer = applied.filter(({ id }) => id > newest)
  const required = Math.max(0, ...newer.map(({ requires }) => requires))
  if (required <= newest) return newer
  throw new SchemaError(
    `The database is newer than this version of the gateway: it has ${listed(newer)}, this version knows migrations up to ${newest}, ` +
      `and no version that does not know migration ${required} can use it. Start a version that does, or restore the backup that ` +
      'was made before the upgrade.',
  )
}

function notAllowed(missing: readonly Migration[], error: Error): SchemaError {
  return new SchemaError(
    `The database lacks ${listed(missing)}, which its role may not make (${error.message}): ` +
      'set DATABASE_MIGRATOR_URL to the same database for the role that owns its tables.',
  )
}

function listed(migrations: readonly Pick<Migration, 'id' | 'name'>[]): string {
  const names = migrations.map(({ id, name }) => `${id} (${name})`)
  if (names.length > MAX_LISTED) return `migrations ${names[0]} to ${names.at(-1)}`
  return `${names.length === 1 ? 'migration' : 'migrations'} ${names.join(', ')}`
}

/** Grants the rights in grants.sql, if its roles exist and this role owns the tables. */
async function grantRoles(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    const owned = await transaction`SELECT FROM pg_class WHERE oid = to_regclass('migrations')
      AND pg_has_role(current_user, relowner, 'MEMBER')
      AND (SELECT count(*) FROM pg_roles WHERE rolname IN ('svc_gateway', 'svc_reader')) = 2`
    if (owned.length > 0) await transaction.unsafe(grants)
  })
}

async function readApplied(sql: Sql): Promise<Applied[]> {
  const [table] = await sql`SELECT to_regclass('migrations') AS name`
  if (!table?.name) return []
  try {
    return await sql<Applied[]>`SELECT id, name, digest, requires FROM migrations ORDER BY id`
  } catch (error) {
    if (!isForbidden(error)) throw error
    throw new SchemaError(
      `The role of DATABASE_URL may not see which schema the database has (${error.message}): ` +
        'give it the rights of deploy/postgres/roles.sql, or set DATABASE_MIGRATOR_URL to the role that owns its tables.',
    )
  }
}

function isForbidden(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === INSUFFICIENT_PRIVILEGE
}

/** Applies a missing migration. The lock is taken per transaction, so that it also works through a transaction pooler. */
async function applyOnce(sql: Sql, migration: Migration, migrations: readonly Migration[]): Promise<boolean> {
  const { id, name } = migration
  const digest = sha256Hex(migration.sql)
  return await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await transaction`CREATE TABLE IF NOT EXISTS migrations (id integer PRIMARY KEY, name text NOT NULL, digest text NOT NULL,
      applied_at timestamptz NOT NULL DEFAULT now(), requires integer NOT NULL)`
    const [applied] = await transaction<{ digest: string }[]>`SELECT digest FROM migrations WHERE id = ${id}`
    if (applied?.digest === digest) return false
    if (applied) throw new Error(`migration ${id} (${name}) was changed after it had been applied`)
    await transaction.unsafe(migration.sql)
    await transaction`INSERT INTO migrations (id, name, digest, requires)
      VALUES (${id}, ${name}, ${digest}, ${requiredBy(migration, migrations)})`
    return true
  })
}

function requiredBy({ id }: Migration, migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.filter((other) => other.id <= id && !other.isExpansion).map((other) => other.id))
}
