import type { Database } from '@/db/client'
import { type Page, type PageRequest, page, textLike } from '@/db/paging'
import type { ChargeBasis } from '@/ledger/charge-basis'
import type { CountGap } from '@/ledger/usage-record'
import { type Nano, nano } from '@/lib/money'

type CountGapSearch = PageRequest & {
  gap?: CountGap
  accountId?: string
  provider?: string
  from?: Date
}

/** One record; the local counts are estimated from the text. */
type GapRecord = {
  requestId: string
  accountId: string
  atMs: number
  model: string
  provider: string
  upstreamModel: string
  gaps: string[]
  providerInput: number
  providerOutput: number
  localInput: number
  localOutput: number
  /** The basis of the charge: the price of the provider's counts, or a reason for another amount. */
  basis: ChargeBasis
  cost: Nano
  /** The provider's charge; null if unknown. */
  providerCost: Nano | null
}

type GapRow = Omit<GapRecord, 'gaps' | 'cost' | 'providerCost'> & {
  event_id: string
  at: string
  gaps: string
  cost: number
  providerCost: number | null
}

/** Validates a cursor: a time as in Postgres, and an id. */
const PLACE = [
  textLike(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00$/),
  textLike(/^[\w:-]{1,100}$/),
] satisfies [unknown, unknown]

/** One page of usage records whose provider's counts differ far from ours, newest first. Throws `invalid_request` for a bad cursor. */
export async function searchCountGaps({ sql }: Database, search: CountGapSearch): Promise<Page<GapRecord>> {
  const { gap, accountId, provider, from } = search
  return await page(search, {
    checks: PLACE,
    read: (after, limit) => sql<GapRow[]>`
    SELECT event_id, request_id AS "requestId", account_id AS "accountId", settled_at::text AS at,
      floor(extract(epoch FROM settled_at) * 1000)::bigint AS "atMs", model, provider,
      upstream_model AS "upstreamModel", array_to_string(count_gaps, ',') AS gaps,
      provider_input_tokens AS "providerInput", provider_output_tokens AS "providerOutput",
      local_input_tokens AS "localInput", local_output_tokens AS "localOutput",
      cost_nano::bigint AS cost, provider_cost_nano AS "providerCost", charge_basis AS basis
    FROM usage_records WHERE count_gaps IS NOT NULL
      ${gap === undefined ? sql`` : sql`AND ${gap}::text = ANY(count_gaps)`}
      ${accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`}
      ${provider === undefined ? sql`` : sql`AND provider = ${provider}`}
      ${from === undefined ? sql`` : sql`AND settled_at >= ${from.toISOString()}::text::timestamptz`}
      ${after === undefined ? sql`` : sql`AND (settled_at, event_id) < (${after[0]}::text::timestamptz, ${after[1]}::text)`}
    ORDER BY settled_at DESC, event_id DESC LIMIT ${limit}`,
    placeOf: ({ at, event_id }) => [at, event_id],
    toItem: toGapRecord,
  })
}

function toGapRecord({ event_id: _id, at: _at, gaps, cost, providerCost, ...rest }: GapRow): GapRecord {
  return {
    ...rest,
    gaps: gaps.split(','),
    cost: nano(cost),
    providerCost: providerCost === null ? null : nano(providerCost),
  }
}
