/** The tables of what manages accounts by the API, as TypeScript sees them (migration 0035). */
import { index, pgTable, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

export const managementKeys = pgTable(
  'management_keys',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    name: text('name').notNull(),
    /** SHA-256, in hexadecimal, of the whole text. */
    keyHash: text('key_hash').notNull().unique(),
    prefix: text('prefix').notNull(),
    lastFour: text('last_four').notNull(),
    /** What it may; unknown ones are of a newer version. */
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
