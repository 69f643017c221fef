/** The tables of mails, for typed queries (src/db/migrations/0008_mails.sql). */
import { sql } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { moment } from './columns'

/** `failed`: given up after a refusal; `expired`: what it says was no longer worth anything. */
export const MAIL_STATES = ['waiting', 'sent', 'failed', 'expired'] as const
export type MailState = (typeof MAIL_STATES)[number]

/** Rows of a name and a value. */
export type FactRows = [name: string, value: string][]

/** Alerts that one mail tells of together: each with what a mail of its own would be made of. */
export type FactAlerts = { kind: string; facts: Record<string, string | number> }[]

/** What a mail is made of. Never secrets. */
export type MailFacts = Record<string, string | number | FactRows | FactAlerts>

export const mails = pgTable(
  'mails',
  {
    id: text('id').primaryKey(),
    /** The event of the mail: once to each recipient. */
    eventId: text('event_id').notNull(),
    /** In lower case. */
    recipient: text('recipient').notNull(),
    kind: text('kind').notNull(),
    facts: jsonb('facts').$type<MailFacts>().notNull(),
    /** The token of its link, encrypted; null for mails without one, and once it has ended. */
    sealedToken: text('sealed_token'),
    origin: text('origin'),
    /** Whose share of the hour it counts in: an account or an address. */
    owner: text('owner').notNull(),
    /** The lower, the sooner. */
    rank: integer('rank').notNull(),
    state: text('state').$type<MailState>().notNull().default('waiting'),
    /** Refusals of a server that could be reached. */
    tries: integer('tries').notNull().default(0),
    failure: text('failure'),
    createdAt: moment('created_at').notNull().defaultNow(),
    /** The first moment at which it may be sent. */
    dueAt: moment('due_at').notNull().defaultNow(),
    nextTryAt: moment('next_try_at').notNull().defaultNow(),
    expiresAt: moment('expires_at').notNull(),
    endedAt: moment('ended_at'),
  },
  (table) => [
    unique('mails_event_id_recipient_key').on(table.eventId, table.recipient),
    index('mails_due_index').on(table.rank, table.nextTryAt).where(sql`state = 'waiting'`),
    index('mails_owner_index').on(table.owner, table.endedAt),
    index('mails_created_index').on(table.createdAt.desc()),
  ],
)

/** Addresses that a mail server has refused for good. */
export const refusedMailAddresses = pgTable('refused_mail_addresses', {
  email: text('email').primaryKey(),
  reason: text('reason').notNull(),
  refusedAt: moment('refused_at').notNull().defaultNow(),
})
