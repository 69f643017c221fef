/** Usage filters in query parameters: validated, and converted for the database query. */
import { type Static, Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { PAGE, wholeNumber } from '@/console/http/pages'
import type { Sight, StatusFilter, UsageFilter } from '@/console/usage-views/usage-filter'
import { SERIES_GROUPS } from '@/console/usage-views/usage-series'
import { BILLING_RULES, LATEST_MS, RECORD_FLAGS } from '@/ledger/usage-record'
import { oneOf } from '@/lib/schemas'

const MOMENT = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,6})?)?Z$'
const moment = (description: string) => Type.Optional(Type.String({ pattern: MOMENT, description }))
const word = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[\\x21-\\x7e]{1,200}$', maxLength: 200, description }))

export const FilterQuery = Type.Object({
  from: moment('Settled at or after this moment, ISO 8601 in UTC. Without it: 30 days before `to`.'),
  to: moment('Settled before this moment, ISO 8601 in UTC. Without it: now.'),
  key: word('Id of the API key'),
  model: word('Id of the model that answered'),
  requestedModel: word('Id of the model or tier that was asked for'),
  status: Type.Optional(
    Type.String({
      pattern: '^(ok|error|[1-5][0-9]{2})$',
      description: '`ok`, `error` (without 499), or an HTTP status',
    }),
  ),
  flag: Type.Optional(oneOf(RECORD_FLAGS)),
  rule: Type.Optional(oneOf(BILLING_RULES)),
  member: word('Id of the member whose key it was'),
  tag: word('A tag, as `name=value`'),
  app: Type.Optional(Type.String({ pattern: '^[^\\x00]{1,200}$', maxLength: 200, description: 'What called' })),
})
export type FilterQuery = Static<typeof FilterQuery>

export const PageQuery = Type.Composite([
  FilterQuery,
  Type.Object({
    cursor: PAGE.cursor,
    limit: Type.Optional(wholeNumber('limit', { minimum: 1, maximum: 200, default: 50 })),
  }),
])

export const SeriesQuery = Type.Composite([FilterQuery, Type.Object({ group: Type.Optional(oneOf(SERIES_GROUPS)) })])

export const ExportQuery = Type.Composite([
  FilterQuery,
  Type.Object({
    format: Type.Optional(oneOf(['csv', 'jsonl'], { description: 'Default: CSV', default: 'csv' })),
  }),
])
export type ExportQuery = Static<typeof ExportQuery>

const DEFAULT_RANGE_MS = 30 * 86_400_000
/** The default end is this far in the future. So it includes requests that are settled meanwhile, even if clocks differ. */
const AHEAD_MS = 60_000

/** The query's filter, limited to what `sight` allows. Throws 400 for inconsistent times. */
export function filterOf(query: FilterQuery, sight: Sight, nowMs = Date.now()): UsageFilter {
  const toMs = query.to === undefined ? nowMs + AHEAD_MS : momentOf(query.to, 'to')
  const fromMs = query.from === undefined ? toMs - DEFAULT_RANGE_MS : momentOf(query.from, 'from')
  if (fromMs >= toMs) throw invalidRequest('from: must be before to.', 'from')
  const { from: _, to: __, key, member, status, ...rest } = query
  return {
    ...rest,
    ...(key !== undefined && { keyId: key }),
    ...(member !== undefined && { memberId: member }),
    ...(status !== undefined && { status: statusOf(status) }),
    ...sight,
    fromMs,
    toMs,
  }
}

function momentOf(text: string, param: string): number {
  const atMs = Date.parse(text)
  if (!Number.isFinite(atMs) || atMs < 0 || atMs > LATEST_MS) {
    throw invalidRequest(`${param}: is no moment in time.`, param)
  }
  return atMs
}

function statusOf(text: string): StatusFilter {
  return text === 'ok' || text === 'error' ? text : Number(text)
}
