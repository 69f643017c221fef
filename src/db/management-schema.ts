/** The tables of management keys, operator keys and leaked keys, for typed queries (src/db/migrations/0002_keys.sql). */

import { sql } from 'drizzle-orm'
import { boolean, date, index, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { moment } from './columns'

export const managementKeys = pgTable(
  'management_keys',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    name: text('name').notNull(),
    /** SHA-256 of the whole key, in hexadecimal. */
    keyHash: text('key_hash').notNull().unique(),
    prefix: text('prefix').notNull(),
    lastFour: text('last_four').notNull(),
    /** The key's scopes; unknown ones are from a newer version. */
    scopes: text('scopes').array().notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: moment('created_at').notNull().defaultNow(),
    expiresAt: moment('expires_at'),
    revokedAt: moment('revoked_at'),
    lastUsedAt: moment('last_used_at'),
  },
  (table) => [
    index('management_keys_account_index').on(table.accountId, table.createdAt.desc()),
    index('management_keys_creator_index').on(table.createdBy),
  ],
)

export const operatorKeys = pgTable('operator_keys', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  /** SHA-256 of the whole key, in hexadecimal. */
  keyHash: text('key_hash').notNull().unique(),
  prefix: text('prefix').notNull(),
  lastFour: text('last_four').notNull(),
  scopes: text('scopes').array().notNull(),
  allowedAddresses: text('allowed_addresses').array(),
  createdAt: moment('created_at').notNull().defaultNow(),
  expiresAt: moment('expires_at'),
  revokedAt: moment('revoked_at'),
  lastUsedAt: moment('last_used_at'),
})

export const leakedKeys = pgTable(
  'leaked_keys',
  {
    /** SHA-256 of the mailed token, in hexadecimal. */
    tokenHash: text('token_hash').primaryKey(),
    accountId: text('account_id').notNull(),
    keyId: text('key_id').notNull(),
    isManagement: boolean('is_management').notNull(),
    /** A day (UTC): a leaked key is reported at most once a day. */
    reportedOn: date('reported_on').notNull().default(sql`(now() AT TIME ZONE 'UTC')::date`),
    expiresAt: moment('expires_at').notNull(),
    usedAt: moment('used_at'),
  },
  (table) => [unique('leaked_keys_key_id_reported_on_key').on(table.keyId, table.reportedOn)],
)
