/** Archives whole months of usage records, lists and restores them. The checks of all balances succeed after every step. */
import { ARCHIVE_MIN_AGE_DAYS, recordSumsQuery } from '@/db/usage-archive'
import { countUnsettledBefore } from '@/ledger/check/unsettled-before'
import type { RedisClient } from '@/ledger/store/connection'
import { ArchiveRefusal, requireOwner, type StepDeps } from './archive-step'
import { type ArchivedMonth, archivedTable, closedMonths, listArchive, liveMonths, monthOf, startOf } from './months'
import { detachMonth, dropMonth, reattachMonth, reopenMonth } from './move-month'
import { closeMonth, sealMonth } from './seal-month'

export type ArchiveDeps = StepDeps & { redis: RedisClient }

type DueMonth = { month: string; requests: number; chargedUsd: string; bytes: number | null }

/** The months that {@link archiveUsage} would archive. Throws the same {@link ArchiveRefusal}. */
export async function planArchive(deps: ArchiveDeps, before: string): Promise<DueMonth[]> {
  await requireOwner(deps)
  await requireFinished(deps, before)
  const months = await liveMonths(deps.owner, before)
  return await Promise.all(months.map((month) => describe(deps, month)))
}

/** Archives all months before `before` (yyyy-mm), oldest first. Continues after an interruption. Throws an {@link ArchiveRefusal}. */
export async function archiveUsage(deps: ArchiveDeps, before: string): Promise<ArchivedMonth[]> {
  await requireOwner(deps)
  await requireFinished(deps, before)
  const months = await liveMonths(deps.owner, before)
  for (const month of months) {
    await closeMonth(deps, month)
    await sealMonth(deps, month)
    await detachMonth(deps, month)
  }
  return (await listArchive(deps.owner)).filter(({ month }) => months.includes(month))
}

/**
 * Restores the archived months from `from` (yyyy-mm) on, newest first, after comparing their records with their checkpoints. Reopens months
 * closed by an interrupted archiving. Returns the months, oldest first. Throws an {@link ArchiveRefusal}, before anything is moved, if a
 * month is missing or altered.
 */
export async function restoreUsage(deps: StepDeps, from: string): Promise<ArchivedMonth[]> {
  await requireOwner(deps)
  const all = (await listArchive(deps.owner)).filter(({ state }) => state !== 'sealed')
  const months = all.filter(({ month }) => month >= from)
  const gone = months.filter(({ state }) => state === 'dropped').map(({ month }) => month)
  if (gone.length > 0) {
    throw new ArchiveRefusal(
      `the records of ${gone.join(', ')} are not in this database: load the dump of ${gone.map(archivedTable).join(', ')} first`,
    )
  }
  for (const { month } of months) await requireUnaltered(deps, month)
  for (const month of await closedMonths(deps.owner)) if (month >= from) await reopenMonth(deps, month)
  for (const { month } of months.toReversed()) await reattachMonth(deps, month, month === all[0]?.month)
  return months
}

/** Deletes the records of the archived months before `before`; their checkpoints stay. Returns the months. */
export async function dropUsage(deps: StepDeps, before: string): Promise<ArchivedMonth[]> {
  await requireOwner(deps)
  const months = (await listArchive(deps.owner)).filter(({ month, state }) => state === 'archived' && month < before)
  for (const { month } of months) await dropMonth(deps, month)
  return months
}

async function describe({ owner: { sql } }: ArchiveDeps, month: string): Promise<DueMonth> {
  const [row] = await sql<DueMonth[]>`
    SELECT ${month} AS month, coalesce(sum(requests), 0)::bigint AS requests,
      trim_scale(coalesce(sum(cost_nano), 0)::numeric * 0.000000001)::text AS "chargedUsd",
      pg_total_relation_size(to_regclass('usage_records_' || ${month.replace('-', '')}))::bigint AS bytes
    FROM usage_daily WHERE day >= ${`${month}-01`}::text::date AND day < ${`${month}-01`}::text::date + interval '1 month'`
  return row ?? { month, requests: 0, chargedUsd: '0', bytes: null }
}

async function requireUnaltered({ owner }: StepDeps, month: string): Promise<void> {
  const [row] = await owner.sql.unsafe<{ accounts: number; one: string | null }[]>(`
    SELECT count(*) AS accounts, min(account_id) AS one
    FROM (SELECT * FROM usage_checkpoints WHERE month = '${month}-01') c
    FULL JOIN (${recordSumsQuery(archivedTable(month))}) r USING (account_id, month)
    WHERE c.records_digest IS DISTINCT FROM r.records_digest`)
  if (!row || row.accounts === 0) return
  throw new ArchiveRefusal(
    `the records of ${month} are not those that were sealed, for ${row.accounts} accounts (${row.one}, …): \`ledger check\` says more`,
  )
}

const MS_PER_DAY = 86_400_000

/** Throws an {@link ArchiveRefusal} if records before `before` (yyyy-mm) may still change. */
async function requireFinished({ owner, redis }: StepDeps & { redis: RedisClient }, before: string): Promise<void> {
  const [clock] = await owner.sql<{ now_ms: number }[]>`SELECT (extract(epoch FROM now()) * 1000)::bigint AS now_ms`
  const latest = monthOf((clock?.now_ms ?? 0) - ARCHIVE_MIN_AGE_DAYS * MS_PER_DAY)
  if (before > latest) {
    throw new ArchiveRefusal(
      `a month can be archived ${ARCHIVE_MIN_AGE_DAYS} days after its end, since until then its records may change or be asked for: the latest that can be given now is --before ${latest}`,
    )
  }
  const { records, holds } = await countUnsettledBefore(redis, startOf(before))
  if (records > 0) {
    throw new ArchiveRefusal(
      `${records} usage records from before ${before} are in Redis and have not reached Postgres: a running gateway brings them there`,
    )
  }
  if (holds > 0) {
    throw new ArchiveRefusal(
      `${holds} holds from before ${before} are open in Redis: a running gateway ends them, and \`ledger check\` names those that it can't`,
    )
  }
  const letters = await countDeadLetters(owner, startOf(before))
  if (letters > 0) {
    throw new ArchiveRefusal(
      `${letters} dead letters from before ${before} are not booked: \`ledger check\` names them, and somebody has to book them first`,
    )
  }
}

/** Counts dead letters that are not booked. `entry_id` begins with the time at which the ledger wrote the record. */
async function countDeadLetters({ sql }: StepDeps['owner'], beforeMs: number): Promise<number> {
  const [row] = await sql<{ letters: number }[]>`
    SELECT count(*) AS letters FROM dead_letters WHERE NOT is_booked
      AND CASE WHEN entry_id ~ '^[0-9]{1,15}-[0-9]+$' THEN split_part(entry_id, '-', 1)::bigint ELSE 0 END < ${beforeMs}::text::bigint`
  return row?.letters ?? 0
}
