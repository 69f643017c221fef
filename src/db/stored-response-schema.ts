/** The tables of stored answers and of each account's totals, for typed queries. */
import { bigint, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

export const storedResponses = pgTable(
  'stored_responses',
  {
    accountId: text('account_id').notNull(),
    id: text('id').notNull(),
    keyId: text('key_id').notNull(),
    parentId: text('parent_id'),
    model: text('model').notNull(),
    input: text('input').notNull(),
    /** The sent answer, as a JSON object. */
    answer: text('answer').notNull(),
    /** The size of `input` and `answer` together. */
    bytes: integer('bytes').notNull(),
    /** Number of JSON values in `input` and `answer` together. */
    jsonValues: integer('json_values').notNull(),
    /** The provider's token count of the whole prompt; null if unknown. */
    tokens: integer('tokens'),
    /** Number of items in the input, and in the answer. */
    inputItems: integer('input_items').notNull(),
    outputItems: integer('output_items').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.id] }),
    index('stored_responses_age_index').on(table.accountId, table.createdAt),
    index('stored_responses_expiry_index').on(table.expiresAt),
  ],
)

export const storedResponseItems = pgTable(
  'stored_response_items',
  {
    accountId: text('account_id').notNull(),
    itemId: text('item_id').notNull(),
    responseId: text('response_id').notNull(),
    bytes: integer('bytes').notNull(),
    /** The item's index in a list of all input items, followed by all answer items. */
    place: integer('place').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.itemId, table.responseId] }),
    index('stored_response_items_owner_index').on(table.accountId, table.responseId),
  ],
)

export const storedResponseTotals = pgTable('stored_response_totals', {
  accountId: text('account_id').primaryKey(),
  kept: bigint('kept', { mode: 'number' }).notNull().default(0),
  bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
})
