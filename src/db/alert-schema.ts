/** The tables of alerts and of scheduled mails, for typed queries (src/db/migrations/0008_mails.sql). */
import { sql } from 'drizzle-orm'
import { bigint, boolean, date, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { nano } from '@/lib/money'
import { amount, moment } from './columns'

export const ALERT_KINDS = ['balance', 'budget', 'spend', 'key_expiry'] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** Kinds of mails that each member can subscribe to, one at the end of each period. */
export const SCHEDULED_KINDS = [
  ...(['digest_weekly', 'digest_monthly'] as const),
  ...(['export_daily', 'export_weekly', 'export_monthly'] as const),
] as const
export type ScheduledKind = (typeof SCHEDULED_KINDS)[number]

export const OPTIONAL_KINDS = ['alerts', ...ALERT_KINDS, ...SCHEDULED_KINDS] as const
export type OptionalKind = (typeof OPTIONAL_KINDS)[number]

export const alertSettings = pgTable('alert_settings', {
  accountId: text('account_id').primaryKey(),
  first: amount('first_nano'),
  second: amount('second_nano'),
})

export const alertAddresses = pgTable(
  'alert_addresses',
  {
    accountId: text('account_id').notNull(),
    /** In lower case. */
    email: text('email').notNull(),
    /** The person who last sent the link; null: an operator. */
    askedBy: text('asked_by'),
    /** Null once confirmed. */
    tokenHash: text('token_hash').unique(),
    confirmUntil: moment('confirm_until'),
    confirmedAt: moment('confirmed_at'),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.email] })],
)

export const alertOptOuts = pgTable(
  'alert_opt_outs',
  {
    accountId: text('account_id').notNull(),
    /** In lower case. */
    email: text('email').notNull(),
    kind: text('kind').$type<AlertKind>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.email, table.kind] })],
)

export const alertLooks = pgTable('alert_looks', {
  accountId: text('account_id').primaryKey(),
  balance: amount('balance_nano').notNull().default(nano(0)),
  spent: amount('spent_nano').notNull().default(nano(0)),
})

export const alertStates = pgTable(
  'alert_states',
  {
    accountId: text('account_id').notNull(),
    name: text('name').notNull(),
    /** The threshold, budget window or time that the alert is about. */
    mark: bigint('mark', { mode: 'number' }).notNull(),
    level: integer('level').notNull().default(0),
    /** True if the threshold was crossed too soon after the last mail: the alert is mailed later. */
    isPending: boolean('is_pending').notNull().default(false),
    firedAt: moment('fired_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.name] }),
    index('alert_states_pending_index').on(table.firedAt).where(sql`is_pending`),
  ],
)

export const scheduledMails = pgTable(
  'scheduled_mails',
  {
    accountId: text('account_id').notNull(),
    userId: text('user_id').notNull(),
    kind: text('kind').$type<ScheduledKind>().notNull(),
    /** First day, yyyy-mm-dd, of the latest period that was mailed or skipped. */
    toldFrom: date('told_from').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.userId, table.kind] }),
    index('scheduled_mails_due_index').on(table.kind, table.toldFrom),
  ],
)

export const workerTurns = pgTable('worker_turns', {
  worker: text('worker').primaryKey(),
  /** The process that has the lease until `endsAt`. */
  holder: text('holder').notNull(),
  endsAt: moment('ends_at').notNull(),
})
