/** The tables of answer counts by tier and model, and of customers' ratings, for typed queries. */
import { bigint, date, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'

const count = (name: string) => bigint(name, { mode: 'number' }).notNull().default(0)

export const tierObservations = pgTable(
  'tier_observations',
  {
    day: date('day').notNull(),
    /** The requested tier, or a model with customer feedback. */
    tier: text('tier').notNull(),
    model: text('model').notNull(),
    answers: count('answers'),
    cutByLength: count('cut_by_length'),
    toolCalls: count('tool_calls'),
    filtered: count('filtered'),
    broken: count('broken'),
    leftEarly: count('left_early'),
    outputTokens: count('output_tokens'),
    retries: count('retries'),
    thumbsUp: count('thumbs_up'),
    thumbsDown: count('thumbs_down'),
  },
  (table) => [primaryKey({ columns: [table.day, table.tier, table.model] })],
)

export type Rating = 'up' | 'down'

export const feedback = pgTable(
  'feedback',
  {
    requestId: text('request_id').primaryKey(),
    accountId: text('account_id').notNull(),
    rating: text('rating').$type<Rating>().notNull(),
    ratedAt: moment('rated_at').notNull().defaultNow(),
  },
  (table) => [index('feedback_rated_index').on(table.ratedAt)],
)
