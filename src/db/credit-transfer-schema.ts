/** The table of credit transfers, for typed queries (src/db/migrations/0003_ledger.sql). */
import { index, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { amount, moment } from './columns'

export const creditTransfers = pgTable(
  'credit_transfers',
  {
    id: text('id').primaryKey(),
    fromAccountId: text('from_account_id').notNull(),
    toAccountId: text('to_account_id').notNull(),
    amount: amount('amount_nano').notNull(),
    debitEntryId: text('debit_entry_id').notNull(),
    creditEntryId: text('credit_entry_id').notNull(),
    movedBy: text('moved_by').notNull(),
    /** The form's idempotency key: a repeated form moves credit once. */
    requestKey: text('request_key').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [
    unique('credit_transfers_from_account_id_request_key_key').on(table.fromAccountId, table.requestKey),
    index('credit_transfers_day_index').on(table.fromAccountId, table.createdAt),
  ],
)
