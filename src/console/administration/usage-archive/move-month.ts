/** Moves a month's table out of the live records and back. Only Postgres' catalogue changes, in one transaction with its audit entry. */
import { sql } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import type { Transaction } from '@/db/client'
import { type StepDeps, withBriefLocks } from './archive-step'
import { archivedTable, bounds, listArchive, liveTable, monthAfter } from './months'
import { firstDay } from './seal-month'

/** Moves a sealed month out of the live records. */
export async function detachMonth(deps: StepDeps, month: string): Promise<void> {
  const [live, archived] = [liveTable(month), archivedTable(month)]
  const details = await detailsOf(deps, month)
  await withBriefLocks(deps, async (transaction) => {
    await lock(transaction)
    await run(transaction, `ALTER TABLE usage_records DETACH PARTITION ${live}`)
    await run(transaction, `ALTER TABLE ${live} RENAME TO ${archived}`)
    await run(transaction, `ALTER TABLE archived_usage_records ATTACH PARTITION ${archived} ${bounds(month)}`)
    await refuseBefore(transaction, monthAfter(month))
    await transaction.execute(sql`UPDATE archived_months SET archived_at = now() WHERE month = ${firstDay(month)}`)
    await recordAudit(transaction, { ...deps.by, action: 'usage.archive', subject: month, accountId: null, details })
  })
  deps.onStep?.('archived', month)
}

/** Moves an archived month back into the live records. It must be the newest archived month. */
export async function reattachMonth(deps: StepDeps, month: string, isFirst: boolean): Promise<void> {
  const [live, archived] = [liveTable(month), archivedTable(month)]
  const details = await detailsOf(deps, month)
  await withBriefLocks(deps, async (transaction) => {
    await lock(transaction)
    await run(transaction, `ALTER TABLE archived_usage_records DETACH PARTITION ${archived}`)
    await open(transaction, archived)
    await run(transaction, `ALTER TABLE ${archived} RENAME TO ${live}`)
    await refuseBefore(transaction, isFirst ? undefined : month)
    await run(transaction, `ALTER TABLE usage_records ATTACH PARTITION ${live} ${bounds(month)}`)
    await forgetCheckpoints(transaction, month)
    await recordAudit(transaction, { ...deps.by, action: 'usage.restore', subject: month, accountId: null, details })
  })
  deps.onStep?.('restored', month)
}

/** Reopens a month that was closed, and perhaps sealed, but not yet archived. */
export async function reopenMonth(deps: StepDeps, month: string): Promise<void> {
  await withBriefLocks(deps, async (transaction) => {
    await open(transaction, liveTable(month))
    await forgetCheckpoints(transaction, month)
  })
  deps.onStep?.('restored', month)
}

async function open(transaction: Transaction, table: string): Promise<void> {
  await run(transaction, `DROP TRIGGER IF EXISTS closed_month_rows ON ${table}`)
  await run(transaction, `DROP TRIGGER IF EXISTS closed_month_whole ON ${table}`)
}

/** Permanently deletes an archived month's records; its checkpoints stay. */
export async function dropMonth(deps: StepDeps, month: string): Promise<void> {
  const details = await detailsOf(deps, month)
  await withBriefLocks(deps, async (transaction) => {
    await run(transaction, `DROP TABLE ${archivedTable(month)}`)
    await transaction.execute(sql`UPDATE archived_months SET dropped_at = now() WHERE month = ${firstDay(month)}`)
    await recordAudit(transaction, { ...deps.by, action: 'usage.drop', subject: month, accountId: null, details })
  })
  deps.onStep?.('dropped', month)
}

/** Locks `usage_records` before the month's table. Readers of both lock in the same order, so no deadlock occurs. */
async function lock(transaction: Transaction): Promise<void> {
  await run(transaction, 'LOCK TABLE ONLY usage_records IN ACCESS EXCLUSIVE MODE')
}

/** Makes the default partition refuse records of archived months, also from gateways that don't know about the archive. */
async function refuseBefore(transaction: Transaction, month: string | undefined): Promise<void> {
  await run(transaction, 'ALTER TABLE usage_records_default DROP CONSTRAINT IF EXISTS usage_records_not_archived')
  if (month === undefined) return
  await run(
    transaction,
    `ALTER TABLE usage_records_default ADD CONSTRAINT usage_records_not_archived CHECK (settled_at >= '${month}-01 00:00:00+00')`,
  )
}

/** Deletes a month's checkpoints, since its records are live again. */
async function forgetCheckpoints(transaction: Transaction, month: string): Promise<void> {
  await run(transaction, 'ALTER TABLE usage_checkpoints DISABLE TRIGGER usage_checkpoints_append_only')
  await transaction.execute(sql`DELETE FROM usage_checkpoints WHERE month = ${firstDay(month)}`)
  await run(transaction, 'ALTER TABLE usage_checkpoints ENABLE TRIGGER usage_checkpoints_append_only')
  await transaction.execute(sql`DELETE FROM archived_months WHERE month = ${firstDay(month)}`)
}

async function detailsOf({ owner }: StepDeps, month: string) {
  const found = (await listArchive(owner)).find((one) => one.month === month)
  return { records: found?.records ?? 0, chargedUsd: found?.chargedUsd ?? '0', digest: found?.digest ?? '' }
}

async function run(transaction: Transaction, statement: string): Promise<void> {
  await transaction.execute(sql.raw(statement))
}
