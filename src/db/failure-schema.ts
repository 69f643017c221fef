/** The tables of requests that were not answered, as TypeScript sees them. */
import { bigint, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

/** How long failed requests are kept, and shown. */
export const FAILURE_DAYS = 7

export const failedRequests = pgTable(
  'failed_requests',
  {
    requestId: text('request_id').primaryKey(),
    accountId: text('account_id').notNull(),
    keyId: text('key_id').notNull(),
    failedAt: moment('failed_at').notNull(),
    format: text('format').notNull(),
    /** What was asked for, where that is a name of the catalogue. */
    model: text('model'),
    status: integer('status').notNull(),
    code: text('code').notNull(),
    /** The field at fault. */
    param: text('param'),
    words: text('words').notNull(),
  },
  (table) => [
    index('failed_requests_account_index').on(table.accountId, table.failedAt.desc(), table.requestId.desc()),
    index('failed_requests_time_index').on(table.failedAt),
  ],
)

export const failedRequestCounts = pgTable(
  'failed_request_counts',
  {
    accountId: text('account_id').notNull(),
    /** The beginning of the hour. */
    hour: moment('hour').notNull(),
    keyId: text('key_id').notNull(),
    status: integer('status').notNull(),
    code: text('code').notNull(),
    requests: bigint('requests', { mode: 'number' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.hour, table.keyId, table.status, table.code] }),
    index('failed_request_counts_time_index').on(table.hour),
  ],
)
