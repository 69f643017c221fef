/** The tables of requests that were not answered, as TypeScript sees them. */
import { bigint, date, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

/** How many days (UTC) before the present one failed requests are kept, and shown. `keep_failure_partitions` has the same number. */
const FAILURE_DAYS = 30
const MS_PER_DAY = 86_400_000

/** The beginning of the first day (UTC) that is kept at `nowMs`, both in milliseconds since 1970. */
export function oldestFailureMs(nowMs: number): number {
  return startOfDay(nowMs) - FAILURE_DAYS * MS_PER_DAY
}

/** The beginning of a moment's day (UTC), both in milliseconds since 1970. */
export function startOfDay(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY) * MS_PER_DAY
}

/** In a partition for each day. */
export const failedRequests = pgTable(
  'failed_requests',
  {
    requestId: text('request_id').notNull(),
    accountId: text('account_id').notNull(),
    keyId: text('key_id').notNull(),
    failedAt: moment('failed_at').notNull(),
    format: text('format').notNull(),
    /** The requested model, if the catalogue has it. */
    model: text('model'),
    status: integer('status').notNull(),
    code: text('code').notNull(),
    /** The field at fault. */
    param: text('param'),
    words: text('words').notNull(),
    /** What the provider called it. */
    providerRequestId: text('provider_request_id'),
    /** '' where no member made it. */
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
    /** The beginning of the day (UTC). */
    day: moment('hour').notNull(),
    keyId: text('key_id').notNull(),
    status: integer('status').notNull(),
    code: text('code').notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
    /** How many of them are in the list. */
    kept: bigint('kept', { mode: 'number' }).notNull().default(0),
    memberId: text('member_id').notNull().default(''),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.day, table.keyId, table.memberId, table.status, table.code] }),
    index('failed_request_counts_time_index').on(table.day),
  ],
)

/** How many of an account's day are in the list. */
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
