/** The tables of archived usage and of abandoned calls, for typed queries (src/db/migrations/0004_usage.sql). */
import { bigint, date, index, numeric, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { amount, moment, tokens } from './columns'
import { usageColumnTypes } from './usage-columns'

export const archivedUsageRecords = pgTable('archived_usage_records', usageColumnTypes, (table) => [
  primaryKey({ columns: [table.recordId, table.settledAt] }),
])

export const archivedMonths = pgTable('archived_months', {
  /** The first day of the month (UTC), yyyy-mm-dd. */
  month: date('month').primaryKey(),
  records: bigint('records', { mode: 'number' }).notNull(),
  accounts: bigint('accounts', { mode: 'number' }).notNull(),
  charges: numeric('charges_nano').notNull(),
  /** A hash over the month's checkpoints, which the audit log also contains. */
  digest: text('digest').notNull(),
  sealedAt: moment('sealed_at').notNull().defaultNow(),
  /** Null while the records are still live. */
  archivedAt: moment('archived_at'),
  /** When the records were dropped from this database. */
  droppedAt: moment('dropped_at'),
})

export const usageCheckpoints = pgTable(
  'usage_checkpoints',
  {
    accountId: text('account_id').notNull(),
    month: date('month').notNull(),
    records: bigint('records', { mode: 'number' }).notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
    cost: amount('cost_nano').notNull(),
    outputTokens: tokens('output_tokens').notNull(),
    providerCost: bigint('provider_cost_nano', { mode: 'number' }),
    lastSeq: bigint('last_seq', { mode: 'number' }).notNull(),
    lastId: text('last_id').notNull(),
    recordsDigest: text('records_digest').notNull(),
    daysDigest: text('days_digest').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.month] }),
    index('usage_checkpoints_month_index').on(table.month),
  ],
)

/** Provider calls that were started and abandoned, for operators. */
export const thrownAwayDaily = pgTable(
  'thrown_away_daily',
  {
    day: date('day', { mode: 'string' }).notNull(),
    model: text('model').notNull(),
    calls: bigint('calls', { mode: 'number' }).notNull(),
    cost: bigint('cost_nano', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.model] })],
)
