/** Takes whole months of usage records out of the live ones, lists them, and puts them back; the books add up at any moment of it. */
import { recordSumsQuery } from '@/db/usage-archive'
import type { RedisClient } from '@/ledger/store/connection'
import { ArchiveRefusal, requireOwner, type StepDeps } from './archive-step'
import { type ArchivedMonth, archivedTable, closedMonths, listArchive, liveMonths } from './months'
import { detachMonth, dropMonth, reattachMonth, reopenMonth } from './move-month'
import { requireFinished } from './refusals'
import { closeMonth, sealMonth } from './seal-month'

export type ArchiveDeps = StepDeps & { redis: RedisClient }

/** A month that would be archived, by its daily sums. */
type DueMonth = { month: string; requests: number; chargedUsd: string; bytes: number | null }

/** What {@link archiveUsage} would do. Throws an {@link ArchiveRefusal} where it would. */
export async function planArchive(deps: ArchiveDeps, before: string): Promise<DueMonth[]> {
  await requireOwner(deps)
  await requireFinished(deps, before)
  const months = await liveMonths(deps.owner, before)
  return await Promise.all(months.map((month) => describe(deps, month)))
}

/**
 * Archives every month before `before` (yyyy-mm), oldest first, one after another. A month is closed, sealed and detached, each of which
 * is for good: whoever is interrupted calls this again. Throws an {@link ArchiveRefusal}.
 */
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
 * Puts the archived months from `from` (yyyy-mm) on back, newest first, after comparing their records with their checkpoints; what an
 * interrupted archiving has closed is open again. Returns the months, oldest first. Throws an {@link ArchiveRefusal}, before anything is moved, where one is not here or not what it was.
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

/** Drops the records of the archived months before `before`, whose checkpoints stay. Returns which. */
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
