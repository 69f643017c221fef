/** Daily sums in Postgres of the answers for tiers, by model, and reports of them over several days. */
import { sql } from 'drizzle-orm'
import type { Database } from '@/db/client'
import { tierObservations } from '@/db/observation-schema'

/** The names of the counters. `answers` counts all ended answers; the next five count some of these. */
export const COUNTERS = [
  'answers',
  'cutByLength',
  'toolCalls',
  'filtered',
  'broken',
  'leftEarly',
  'outputTokens',
  'retries',
  'thumbsUp',
  'thumbsDown',
] as const

export type Counts = Record<(typeof COUNTERS)[number], number>

/** `tier` is the requested name. */
type Observed = { tier: string; model: string } & Counts

/** One row of the sums; `day` is in UTC, yyyy-mm-dd. */
export type DayObserved = { day: string } & Observed

/** All counters at 0. */
export function noCounts(): Counts {
  return {
    answers: 0,
    cutByLength: 0,
    toolCalls: 0,
    filtered: 0,
    broken: 0,
    leftEarly: 0,
    outputTokens: 0,
    retries: 0,
    thumbsUp: 0,
    thumbsDown: 0,
  }
}

/** The UTC day of a time, yyyy-mm-dd. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** Adds to the sums in one statement. Rows are locked in a fixed order, so that two gateways can't deadlock. */
export async function addObservations(db: Pick<Database['db'], 'insert'>, rows: readonly DayObserved[]): Promise<void> {
  if (rows.length === 0) return
  const ordered = rows.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
  const sums = COUNTERS.map((name) => {
    const column = tierObservations[name]
    return [name, sql`${column} + excluded.${sql.identifier(column.name)}`] as const
  })
  await db
    .insert(tierObservations)
    .values(ordered)
    .onConflictDoUpdate({
      target: [tierObservations.day, tierObservations.tier, tierObservations.model],
      set: Object.fromEntries(sums),
    })
}

function placeOf({ day, tier, model }: DayObserved): string {
  return `${day} ${tier} ${model}`
}

const MS_PER_DAY = 86_400_000

/** The sums of the last `days` UTC days up to that of `nowMs`, sorted by name. */
export async function readObservations(database: Database, days: number, nowMs: number): Promise<Observed[]> {
  const from = dayOf(nowMs - (days - 1) * MS_PER_DAY)
  return await database.sql<Observed[]>`
    SELECT tier, model, sum(answers)::bigint AS answers, sum(cut_by_length)::bigint AS "cutByLength",
      sum(tool_calls)::bigint AS "toolCalls", sum(filtered)::bigint AS filtered, sum(broken)::bigint AS broken,
      sum(left_early)::bigint AS "leftEarly", sum(output_tokens)::bigint AS "outputTokens",
      sum(retries)::bigint AS retries, sum(thumbs_up)::bigint AS "thumbsUp", sum(thumbs_down)::bigint AS "thumbsDown"
    FROM tier_observations WHERE day >= ${from}::text::date GROUP BY tier, model ORDER BY tier, model`
}
