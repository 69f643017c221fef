/** The tables of mails, for typed queries (src/db/migrations/0008_mails.sql). */
import { sql } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { moment } from './columns'

/** `failed`: given up after a refusal; `expired`: outdated before it was sent. */
export const MAIL_STATES = ['waiting', 'sent', 'failed', 'expired'] as const
export type MailState = (typeof MAIL_STATES)[number]

/** The rows of a table in a mail, each with a name and a value. */
export type FactRows = [name: string, value: string][]

export type FactAlerts = { kind: string; facts: Record<string, string | number> }[]

/** The facts from which a mail is written. Never secrets. */
export type MailFacts = Record<string, string | number | FactRows | FactAlerts>

export const mails = pgTable(
  'mails',
  {
    id: text('id').primaryKey(),
    /** The id of the event that the mail reports. Each recipient gets one mail about it. */
    eventId: text('event_id').notNull(),
    recipient: text('recipient').notNull(),
    kind: text('kind').notNull(),
    facts: jsonb('facts').$type<MailFacts>().notNull(),
    /** The encrypted token of its link; null for mails without a link, and after the mail has ended. */
    sealedToken: text('sealed_token'),
    origin: text('origin'),
    /** The account or address whose hourly limit counts the mail. */
    owner: text('owner').notNull(),
    rank: integer('rank').notNull(),
    state: text('state').$type<MailState>().notNull().default('waiting'),
    /** Number of refusals by a reachable server. */
    tries: integer('tries').notNull().default(0),
    failure: text('failure'),
    createdAt: moment('created_at').notNull().defaultNow(),
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

export const refusedMailAddresses = pgTable('refused_mail_addresses', {
  email: text('email').primaryKey(),
  reason: text('reason').notNull(),
  refusedAt: moment('refused_at').notNull().defaultNow(),
})
