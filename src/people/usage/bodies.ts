/** Response bodies of the usage routes: records, sums and charts, with money as decimal text and times as ISO 8601. */
import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { exactUsd as usd } from '@/console/http/wire'
import {
  type ListedRecord,
  SEEN_COLUMNS,
  type SeenKind,
  type ToldRecord,
  tellRecord,
  toCursor,
} from '@/console/usage-views/listed-record'
import type { SearchPage } from '@/console/usage-views/record-search'
import type { RecordTotals } from '@/console/usage-views/record-totals'
import type { UsageSeries } from '@/console/usage-views/usage-series'
import { formatUsd, nano } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'

const iso = (description: string) => Type.String({ description: `${description}, ISO 8601 in UTC` })

const archivedBefore = (description: string) =>
  orNull(Type.String(), { description: `${description}, ISO 8601 in UTC; else null` })

const UNITS: Partial<Record<SeenKind, string>> = {
  amount: ', USD',
  moment: ', ISO 8601 in UTC',
  duration: ', milliseconds',
}
const PLAIN = {
  text: Type.String(),
  amount: Type.String(),
  moment: Type.String(),
  count: Type.Integer(),
  duration: Type.Integer(),
  boolean: Type.Boolean(),
}

function schemaOf({ kind, seen, isNullable }: (typeof SEEN_COLUMNS)[number]): TSchema {
  const words = seen.about && { description: `${seen.about}${UNITS[kind] ?? ''}` }
  const schema = kind === 'words' ? Type.Array(Type.String()) : PLAIN[kind]
  return isNullable ? orNull(schema, words || {}) : { ...schema, ...(words || {}) }
}

const { settledAt, ...seenFields } = Object.fromEntries(
  SEEN_COLUMNS.map((column) => [column.property, schemaOf(column)]),
) as {
  [Name in keyof ToldRecord]: TUnsafe<ToldRecord[Name]>
}

export const UsageItem = Type.Object({
  at: settledAt,
  ...seenFields,
  keyName: orNull(Type.String()),
  inputTokens: Type.Integer({ description: 'Cached or not' }),
})

/** Fields that only the page of a request shows, not the list. */
const UNLISTED = [
  'attempts',
  'uncachedTokens',
  'cacheReadTokens',
  'cacheWrite5mTokens',
  'cacheWrite1hTokens',
  'reasoningTokens',
  'held',
  'routeReason',
  'upstreamModel',
  'clientFormat',
  'providerFormat',
  'startedAt',
  'dataRules',
  'dataTerms',
] as const

export const UsagePage = Type.Object({
  items: Type.Array(Type.Omit(UsageItem, UNLISTED)),
  nextCursor: orNull(Type.String()),
  searchedTo: orNull(Type.String(), {
    description:
      'Not null where the search stopped for its time limit before the page was full: everything back to this moment has ' +
      'been looked at, and `nextCursor` goes on from there.',
  }),
  archivedBefore: archivedBefore('Not null where requests before this moment are archived, and so not in the list'),
})

export const TotalsBody = Type.Object({
  requests: Type.Integer(),
  errors: Type.Integer({ description: 'Without clients that hung up (499)' }),
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  cost: usd('All usage records together, corrections included'),
  isComplete: Type.Boolean({ description: 'False if there were too many records: the sums cover the newest' }),
  archivedBefore: archivedBefore('Not null where requests before this moment are archived, and not in these sums'),
})

export const SeriesBody = Type.Object({
  step: oneOf(['hour', 'day'], { description: 'Days are in UTC' }),
  points: Type.Array(
    Type.Object({
      at: iso('Start of the hour or day'),
      group: Type.String(),
      requests: Type.Integer(),
      tokens: Type.Integer({ description: 'Input and output' }),
      cost: usd('Of this hour or day'),
    }),
    { description: 'Oldest first; hours and days without requests are omitted' },
  ),
  labels: Type.Record(Type.String(), Type.String(), { description: 'What to call each group' }),
  isComplete: Type.Boolean(),
  archivedBefore: archivedBefore('Not null where requests before this moment are archived, and not in this chart'),
})

/** A page of records as a response body. */
export function toUsagePage({ records, next, searchedToMs, archivedBeforeMs }: SearchPage): Static<typeof UsagePage> {
  return {
    items: records.map(toUsageItem),
    nextCursor: next && toCursor(next),
    searchedTo: searchedToMs === null ? null : toIso(searchedToMs),
    archivedBefore: archivedBeforeMs === null ? null : toIso(archivedBeforeMs),
  }
}

/** A record as a response body. */
export function toUsageItem(record: ListedRecord): Static<typeof UsageItem> {
  const { settledAt: at, ...told } = tellRecord(record)
  return { at, ...told, keyName: record.keyName, inputTokens: record.inputTokens }
}

/** Totals as a response body. */
export function toTotalsBody({ archivedBeforeMs, ...totals }: RecordTotals): Static<typeof TotalsBody> {
  const archivedBefore = archivedBeforeMs === null ? null : toIso(archivedBeforeMs)
  return { ...totals, cost: formatUsd(totals.cost), archivedBefore }
}

/** A chart as a response body. */
export function toSeriesBody({
  step,
  points,
  labels,
  isComplete,
  archivedBeforeMs,
}: UsageSeries): Static<typeof SeriesBody> {
  return {
    step,
    points: points.map(({ atMs, cost, ...point }) => ({ ...point, at: toIso(atMs), cost: formatUsd(nano(cost)) })),
    labels: Object.fromEntries(labels),
    isComplete,
    archivedBefore: archivedBeforeMs === null ? null : toIso(archivedBeforeMs),
  }
}

/** A time as ISO 8601 in UTC. */
export function toIso(atMs: number): string {
  return new Date(atMs).toISOString()
}
