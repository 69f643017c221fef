/** Customers' ratings of their answers: the last one per request, counted for the tier and the model that answered. */
import { lt, ne, sql } from 'drizzle-orm'
import { GatewayError } from '@/chat/error'
import type { Database } from '@/db/client'
import { withDatabaseDeadline } from '@/db/deadline'
import { feedback, type Rating } from '@/db/observation-schema'
import { addObservations, noCounts } from './observations'
import type { SightOf } from './reports'

type RatedRequest = { accountId: string; keyId: string; requestId: string; rating: Rating }

export interface Feedback {
  /** Rates a paid request of the last {@link FEEDBACK_DAYS} days that the key's member may see, else `unknown`. Throws `overloaded`. */
  rate(rated: RatedRequest): Promise<'rated' | 'unknown'>
}

/** How long an answer can be rated, and its rating changed. */
export const FEEDBACK_DAYS = 30
const TIMEOUT_MS = 3_000
const REQUEST_ID = /^req_[0-9a-f]{32}$/

type AnsweredRow = { day: string; tier: string; model: string }

/** Ratings stored in `database`, limited to requests that a key may see. */
export function createFeedback(database: Database, sightOf: SightOf): Feedback {
  return {
    async rate(rated) {
      if (!REQUEST_ID.test(rated.requestId)) return 'unknown'
      try {
        return await withDatabaseDeadline(rate(database, sightOf, rated), TIMEOUT_MS)
      } catch (cause) {
        throw new GatewayError('overloaded', 'Feedback cannot be taken at the moment. Try again.', {
          retryAfterSeconds: 2,
          cause,
        })
      }
    },
  }
}

/** Deletes ratings that can no longer be changed. */
export async function forgetOldFeedback({ db }: Database): Promise<void> {
  await db.delete(feedback).where(lt(feedback.ratedAt, sql`now() - ${FEEDBACK_DAYS} * interval '1 day'`))
}

async function rate(
  database: Database,
  sightOf: SightOf,
  { keyId, ...rated }: RatedRequest,
): Promise<'rated' | 'unknown'> {
  const { madeBy = null } = await sightOf({ ...rated, keyId })
  // A record has the id of its request, so no separate index is needed.
  const [row] = await database.sql<AnsweredRow[]>`
    SELECT (settled_at AT TIME ZONE 'UTC')::date::text AS day, requested_model AS tier, model FROM usage_records
    WHERE event_id = ${rated.requestId} AND account_id = ${rated.accountId}
      AND settled_at > now() - ${FEEDBACK_DAYS} * interval '1 day'
      AND (${madeBy}::text IS NULL
        OR member_id = ${madeBy})`
  if (!row) return 'unknown'
  const { rating } = rated
  await database.db.transaction(async (transaction) => {
    const [changed] = await transaction
      .insert(feedback)
      .values(rated)
      .onConflictDoUpdate({
        target: feedback.requestId,
        set: { rating, ratedAt: sql`now()` },
        setWhere: ne(feedback.rating, rating),
      })
      .returning({ isFirst: sql<boolean>`xmax = 0` })
    if (!changed) return
    const taken = changed.isFirst ? 0 : -1
    const [thumbsUp, thumbsDown] = rating === 'up' ? [1, taken] : [taken, 1]
    await addObservations(transaction, [{ ...row, ...noCounts(), thumbsUp, thumbsDown }])
  })
  return 'rated'
}
