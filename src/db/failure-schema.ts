/** The tables of failed requests, for typed queries. */
import { bigint, date, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

/** Days (UTC) before today for which failed requests are kept and shown. The SQL function `keep_failure_partitions` has the same number. */
const FAILURE_DAYS = 30
const MS_PER_DAY = 86_400_000

/** The start of the oldest kept day (UTC) at `nowMs`, in milliseconds since 1970. */
export function oldestFailureMs(nowMs: number): number {
  return startOfDay(nowMs) - FAILURE_DAYS * MS_PER_DAY
}

/** The start of a time's day (UTC), in milliseconds since 1970. */
export function startOfDay(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY) * MS_PER_DAY
}

/** Partitioned by day. */
export const failedRequests = pgTable(
  'failed_requests',
  {
    requestId: text('request_id').notNull(),
    accountId: text('account_id').notNull(),
    keyId: text('key_id').notNull(),
    failedAt: moment('failed_at').notNull(),
    format: text('format').notNull(),
    model: text('model'),
    status: integer('status').notNull(),
    code: text('code').notNull(),
    param: text('param'),
    words: text('words').notNull(),
    providerRequestId: text('provider_request_id'),
    /** '' if no member made the request. */
    memberId: text('member_id').notNull().default(''),
  },
  (table) => [
    primaryKey({ columns: [table.requestId, table.failedAt] }),
    index('failed_requests_account_index').on(table.accountId, table.failedAt.desc(), table.requestId.desc()),
  ],
)

export const failedRequestCounts = pgTable(
  'failed_request_counts',
  {
    accountId: text('account_id').notNull(),
    /** The start of the day (UTC). */
    day: moment('hour').notNull(),
    keyId: text('key_id').notNull(),
    status: integer('status').notNull(),
    code: text('code').notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
    kept: bigint('kept', { mode: 'number' }).notNull().default(0),
    memberId: text('member_id').notNull().default(''),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.day, table.keyId, table.memberId, table.status, table.code] }),
    index('failed_request_counts_time_index').on(table.day),
  ],
)

export const failedRequestDays = pgTable(
  'failed_request_days',
  {
    accountId: text('account_id').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    kept: integer('kept').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.day] }),
    index('failed_request_days_time_index').on(table.day),
  ],
)
