/** The tables of stored answers and of what each account has of them, as TypeScript sees them. */
import { bigint, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

export const storedResponses = pgTable(
  'stored_responses',
  {
    accountId: text('account_id').notNull(),
    id: text('id').notNull(),
    keyId: text('key_id').notNull(),
    /** The answer that the request built on. */
    parentId: text('parent_id'),
    /** As the caller named it. */
    model: text('model').notNull(),
    /** The items of this request's own input, as a JSON array. */
    input: text('input').notNull(),
    /** The answer as it was sent, as a JSON object. */
    answer: text('answer').notNull(),
    /** Of both texts. */
    bytes: integer('bytes').notNull(),
    /** In both texts. */
    jsonValues: integer('json_values').notNull(),
    /** That its provider counted of the whole prompt; null if it counted none. */
    tokens: integer('tokens'),
    /** How many items the input has, and the answer. */
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
    /** Of the item as JSON. */
    bytes: integer('bytes').notNull(),
    /** Among the items of the input and then those of the answer. */
    place: integer('place').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.itemId, table.responseId] }),
    index('stored_response_items_owner_index').on(table.accountId, table.responseId),
  ],
)

export const storedResponseTotals = pgTable('stored_response_totals', {
  accountId: text('account_id').primaryKey(),
  /** How many answers. */
  kept: bigint('kept', { mode: 'number' }).notNull().default(0),
  bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
})
