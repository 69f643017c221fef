/** The tables of alerts as TypeScript sees them; migrations/0037_alerts.sql is what makes them. */
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { nano } from '@/lib/money'
import { amount, moment } from './columns'

/** Kinds of alerts that each person can turn off. */
export const ALERT_KINDS = ['balance', 'budget', 'spend', 'key_expiry'] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

export const alertSettings = pgTable('alert_settings', {
  accountId: text('account_id').primaryKey(),
  /** Thresholds of the balance; null = no alert. */
  first: amount('first_nano'),
  second: amount('second_nano'),
  /** Who gets alerts beside members, in lower case. */
  addresses: text('addresses').array().notNull().default([]),
})

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
    /** The threshold, the window or the moment of the alert. */
    mark: bigint('mark', { mode: 'number' }).notNull(),
    level: integer('level').notNull().default(0),
    /** A crossing that came too soon after the last mail. */
    isPending: boolean('is_pending').notNull().default(false),
    firedAt: moment('fired_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.name] }),
    index('alert_states_pending_index').on(table.firedAt).where(sql`is_pending`),
  ],
)
