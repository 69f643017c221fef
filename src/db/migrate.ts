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
import usageArchive from './migrations/0020_usage_archive.sql' with { type: 'text' }
import storedSizes from './migrations/0021_stored_sizes.sql' with { type: 'text' }
import digestVersion from './migrations/0022_digest_version.sql' with { type: 'text' }
import chargedKeys from './migrations/0023_charged_idempotency_keys.sql' with { type: 'text' }
import thrownAway from './migrations/0024_thrown_away.sql' with { type: 'text' }
import cheapDigestChecks from './migrations/0025_cheap_digest_checks.sql' with { type: 'text' }
import memberships from './migrations/0026_memberships.sql' with { type: 'text' }
import organisations from './migrations/0027_organisations.sql' with { type: 'text' }
import usageLabels from './migrations/0028_usage_labels.sql' with { type: 'text' }
import keySecrets from './migrations/0029_key_secrets.sql' with { type: 'text' }
import budgets from './migrations/0030_budgets.sql' with { type: 'text' }
import roomForDays from './migrations/0031_room_for_days.sql' with { type: 'text' }
import allowedAddresses from './migrations/0032_allowed_addresses.sql' with { type: 'text' }
import invitations from './migrations/0033_invitations.sql' with { type: 'text' }
import mails from './migrations/0034_mails.sql' with { type: 'text' }
import managementKeys from './migrations/0035_management_keys.sql' with { type: 'text' }
import keyPolicies from './migrations/0036_key_policies.sql' with { type: 'text' }
import alerts from './migrations/0037_alerts.sql' with { type: 'text' }
import remindersOfAge from './migrations/0038_reminders_of_age.sql' with { type: 'text' }
import memberPolicies from './migrations/0039_member_policies.sql' with { type: 'text' }
import scheduledMails from './migrations/0040_scheduled_mails.sql' with { type: 'text' }
import leakedKeys from './migrations/0041_leaked_keys.sql' with { type: 'text' }
import creditTransfers from './migrations/0042_credit_transfers.sql' with { type: 'text' }
import endsOfSecrets from './migrations/0043_ends_of_former_secrets.sql' with { type: 'text' }
import failuresOfThirtyDays from './migrations/0044_failures_of_thirty_days.sql' with { type: 'text' }
import providerRequestIds from './migrations/0045_provider_request_ids.sql' with { type: 'text' }
import usageByTags from './migrations/0046_usage_by_tags.sql' with { type: 'text' }
import addressChanges from './migrations/0047_address_changes.sql' with { type: 'text' }
import allowedProviders from './migrations/0048_allowed_providers.sql' with { type: 'text' }
import memberKeyPolicies from './migrations/0049_member_key_policies.sql' with { type: 'text' }
import workerTurns from './migrations/0050_worker_turns.sql' with { type: 'text' }

/** One SQL file, never changed once released. `isExpansion`: it only adds, so that older gateways work on. */
type Migration = { id: number; name: string; sql: string; isExpansion?: boolean }

/** A schema that this version can't use; the message says why, and what an operator may do. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

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
  { id: 20, name: 'usage_archive', sql: usageArchive },
  { id: 21, name: 'stored_sizes', sql: storedSizes, isExpansion: true },
  { id: 22, name: 'digest_version', sql: digestVersion, isExpansion: true },
  { id: 23, name: 'charged_idempotency_keys', sql: chargedKeys, isExpansion: true },
  { id: 24, name: 'thrown_away', sql: thrownAway, isExpansion: true },
  { id: 25, name: 'cheap_digest_checks', sql: cheapDigestChecks, isExpansion: true },
  { id: 26, name: 'memberships', sql: memberships, isExpansion: true },
  { id: 27, name: 'organisations', sql: organisations },
  { id: 28, name: 'usage_labels', sql: usageLabels, isExpansion: true },
  { id: 29, name: 'key_secrets', sql: keySecrets, isExpansion: true },
  { id: 30, name: 'budgets', sql: budgets, isExpansion: true },
  { id: 31, name: 'room_for_days', sql: roomForDays, isExpansion: true },
  { id: 32, name: 'allowed_addresses', sql: allowedAddresses, isExpansion: true },
  { id: 33, name: 'invitations', sql: invitations, isExpansion: true },
  { id: 34, name: 'mails', sql: mails, isExpansion: true },
  { id: 35, name: 'management_keys', sql: managementKeys, isExpansion: true },
  { id: 36, name: 'key_policies', sql: keyPolicies, isExpansion: true },
  { id: 37, name: 'alerts', sql: alerts, isExpansion: true },
  { id: 38, name: 'reminders_of_age', sql: remindersOfAge, isExpansion: true },
  { id: 39, name: 'member_policies', sql: memberPolicies, isExpansion: true },
  { id: 40, name: 'scheduled_mails', sql: scheduledMails, isExpansion: true },
  { id: 41, name: 'leaked_keys', sql: leakedKeys, isExpansion: true },
  { id: 42, name: 'credit_transfers', sql: creditTransfers, isExpansion: true },
  { id: 43, name: 'ends_of_former_secrets', sql: endsOfSecrets, isExpansion: true },
  { id: 44, name: 'failures_of_thirty_days', sql: failuresOfThirtyDays },
  { id: 45, name: 'provider_request_ids', sql: providerRequestIds, isExpansion: true },
  { id: 46, name: 'usage_by_tags', sql: usageByTags },
  { id: 47, name: 'address_changes', sql: addressChanges, isExpansion: true },
  { id: 48, name: 'allowed_providers', sql: allowedProviders, isExpansion: true },
  { id: 49, name: 'member_key_policies', sql: memberKeyPolicies, isExpansion: true },
  { id: 50, name: 'worker_turns', sql: workerTurns, isExpansion: true },
]

type MigrateOptions = {
  migrations?: readonly Migration[]
  /** Told of every migration that this call has applied. */
  onApplied?: (migration: Migration) => void
  /** Told of migrations that a newer version has applied, and that this one can work with. */
  onNewer?: (names: string) => void
}

/** What a database says of a migration that it has. */
type Applied = Pick<Migration, 'id' | 'name'> & {
  digest: string
  /** The newest migration that a gateway has to know to work with the schema after this one; null where none is stated. */
  requires: number | null
}

/** The advisory lock that makes concurrent starts take turns; any number that nothing else in this database uses. */
const MIGRATION_LOCK = 5_811_204
const INSUFFICIENT_PRIVILEGE = '42501'
const MAX_LISTED = 5

/**
 * Applies every migration that the database doesn't have yet, in order. Any number of processes may call it at once.
 * Throws a {@link SchemaError} where a newer version has changed the schema beyond what this one can work with, or where
 * something is missing that this role may not make. Throws where an applied migration has been changed since, or where one fails
 * (its transaction leaves nothing behind).
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
    const newer = refuseNewer(applied, migrations)
    if (newer.length > 0) onNewer?.(listed(newer))
    const digests = new Map(applied.map(({ id, digest }) => [id, digest]))
    const missing = migrations.filter(({ id, sql }) => digests.get(id) !== sha256Hex(sql))
    for (const [index, migration] of missing.entries()) {
      const isApplied = await applyOnce(database.sql, migration, migrations).catch((error: unknown) => {
        throw isForbidden(error) ? notAllowed(missing.slice(index), error) : error
      })
      if (isApplied) onApplied?.(migration)
    }
    // What a newer version has made is not ours to give away.
    if (migrations === MIGRATIONS && newer.length === 0) await grantRoles(database.sql)
  } finally {
    await database.close()
  }
}

/** Throws where migrations that we don't know need a version that does; returns those that don't. */
function refuseNewer(applied: readonly Applied[], migrations: readonly Migration[]): Applied[] {
  const newest = migrations.at(-1)?.id ?? 0
  const newer = applied.filter(({ id }) => id > newest)
  const required = Math.max(0, ...newer.map(({ id, requires }) => requires ?? id))
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

/** As an operator reads it: `migrations 19 (stored_responses), 20 (archive)`; of many, the first and the last. */
function listed(migrations: readonly Pick<Migration, 'id' | 'name'>[]): string {
  const names = migrations.map(({ id, name }) => `${id} (${name})`)
  if (names.length > MAX_LISTED) return `migrations ${names[0]} to ${names.at(-1)}`
  return `${names.length === 1 ? 'migration' : 'migrations'} ${names.join(', ')}`
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

/** What was applied by now. Whatever is not among it is looked at again under the lock. */
async function readApplied(sql: Sql): Promise<Applied[]> {
  const [table] = await sql`SELECT to_regclass('migrations') AS name`
  if (!table?.name) return []
  try {
    // The table of an earlier version has no column that says what is required.
    return await sql<Applied[]>`SELECT id, name, digest, (to_jsonb(migrations) ->> 'requires')::integer AS requires
      FROM migrations ORDER BY id`
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

/** Holds the lock for one transaction, so that it also works through a pooler that hands out connections by transaction. */
async function applyOnce(sql: Sql, migration: Migration, migrations: readonly Migration[]): Promise<boolean> {
  const { id, name } = migration
  const digest = sha256Hex(migration.sql)
  return await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await transaction`CREATE TABLE IF NOT EXISTS migrations (
      id integer PRIMARY KEY, name text NOT NULL, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
    await transaction`ALTER TABLE migrations ADD COLUMN IF NOT EXISTS requires integer`
    const [applied] = await transaction<{ digest: string }[]>`SELECT digest FROM migrations WHERE id = ${id}`
    if (applied?.digest === digest) return false
    if (applied) throw new Error(`migration ${id} (${name}) was changed after it had been applied`)
    await transaction.unsafe(migration.sql)
    await transaction`INSERT INTO migrations (id, name, digest, requires)
      VALUES (${id}, ${name}, ${digest}, ${requiredBy(migration, migrations)})`
    return true
  })
}

/** The newest migration up to this one that is no expansion. */
function requiredBy({ id }: Migration, migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.filter((other) => other.id <= id && !other.isExpansion).map((other) => other.id))
}
