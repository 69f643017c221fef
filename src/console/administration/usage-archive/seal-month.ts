/** Closes a month and writes its checkpoints, which stay valid wherever its records are moved. */
import { type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '@/db/client'
import { CHECKPOINTS_DIGEST, dayDigestsQuery, daySumsQuery, recordSumsQuery } from '@/db/usage-archive'
import { ArchiveRefusal, type StepDeps, takeTurn, withBriefLocks } from './archive-step'
import { liveTable, monthAfter } from './months'

const BOUNDS = 'usage_month_bounds'

/** Makes the month's records read-only. May be repeated. */
export async function closeMonth(deps: StepDeps, month: string): Promise<void> {
  const table = liveTable(month)
  await withBriefLocks(deps, async (transaction) => {
    await transaction.execute(sql`SELECT ensure_usage_partitions(${`${month}-01`}::text::date, 1)`)
    await transaction.execute(
      sql.raw(`CREATE OR REPLACE TRIGGER closed_month_rows BEFORE INSERT OR UPDATE OR DELETE ON ${table}
        FOR EACH ROW EXECUTE FUNCTION refuse_closed_month()`),
    )
    await transaction.execute(
      sql.raw(`CREATE OR REPLACE TRIGGER closed_month_whole BEFORE TRUNCATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_closed_month()`),
    )
    const [known] = await transaction.execute(
      sql`SELECT FROM pg_constraint WHERE conrelid = ${table}::text::regclass AND conname = ${BOUNDS}`,
    )
    // Attaching a partition scans its table, unless a constraint proves that every row belongs to the partition.
    if (!known) {
      await transaction.execute(
        sql.raw(`ALTER TABLE ${table} ADD CONSTRAINT ${BOUNDS}
          CHECK (settled_at >= '${month}-01 00:00:00+00' AND settled_at < '${monthAfter(month)}-01 00:00:00+00') NOT VALID`),
      )
    }
  })
  await deps.owner.sql.unsafe(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${BOUNDS}`)
  deps.onStep?.('closed', month)
}

/** Writes the checkpoints of a closed month. Throws {@link ArchiveRefusal} if records and daily sums differ. */
export async function sealMonth(deps: StepDeps, month: string): Promise<void> {
  const isNew = await deps.owner.db.transaction(
    async (transaction) => {
      await takeTurn(transaction)
      const [sealed] = await transaction.execute(sql`SELECT FROM archived_months WHERE month = ${firstDay(month)}`)
      if (sealed) return false
      await writeCheckpoints(transaction, month)
      return true
    },
    { isolationLevel: 'repeatable read' },
  )
  if (isNew) deps.onStep?.('sealed', month)
}

async function writeCheckpoints(transaction: Transaction, month: string): Promise<void> {
  const days = `day >= '${month}-01' AND day < '${monthAfter(month)}-01'`
  await transaction.execute(
    sql.raw(`INSERT INTO usage_checkpoints (account_id, month, records, requests, cost_nano, output_tokens, provider_cost_nano,
        last_seq, last_id, records_digest, days_digest)
      SELECT account_id, month, records, requests, cost_nano, output_tokens, provider_cost_nano, last_seq, last_id, records_digest,
        coalesce(days_digest, repeat('0', 64))
      FROM (${recordSumsQuery(liveTable(month))}) r LEFT JOIN (${dayDigestsQuery(days)}) d USING (account_id, month)`),
  )
  const [found] = await transaction.execute<{ accounts: number; one: string | null }>(
    sql.raw(`SELECT count(*) AS accounts, min(account_id) AS one
      FROM (SELECT * FROM usage_checkpoints WHERE month = '${month}-01') c FULL JOIN (${daySumsQuery(days)}) d USING (account_id, month)
      WHERE (c.requests, c.cost_nano, c.output_tokens, c.provider_cost_nano)
        IS DISTINCT FROM (d.requests, d.cost_nano, d.output_tokens, d.provider_cost_nano)`),
  )
  if (found && found.accounts > 0) {
    throw new ArchiveRefusal(
      `the records of ${month} are not what the daily sums say, for ${found.accounts} accounts (${found.one}, …): nothing of this month is archived before \`ledger check\` finds nothing wrong`,
    )
  }
  await transaction.execute(
    sql`INSERT INTO archived_months (month, records, accounts, charges_nano, digest)
      SELECT ${firstDay(month)}, coalesce(sum(records), 0), count(*), coalesce(sum(cost_nano), 0), ${sql.raw(CHECKPOINTS_DIGEST)}
      FROM usage_checkpoints WHERE month = ${firstDay(month)}`,
  )
}

/** A month as a Postgres date. */
export function firstDay(month: string): SQL {
  return sql`${`${month}-01`}::text::date`
}
