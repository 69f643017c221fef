/** What the usage routes answer: records, sums and charts, with money as decimal text and moments as ISO 8601. */
import { type Static, Type } from '@sinclair/typebox'
import type { ListedRecord } from '@/console/usage-views/listed-record'
import type { SearchPage } from '@/console/usage-views/record-search'
import type { RecordTotals } from '@/console/usage-views/record-totals'
import type { UsageSeries } from '@/console/usage-views/usage-series'
import { formatUsd, nano } from '@/lib/money'
import { toCursor } from './query'

const usd = (description: string) => Type.String({ description: `${description}, USD as exact decimal text` })
const iso = (description: string) => Type.String({ description: `${description}, ISO 8601 in UTC` })
const milliseconds = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], { description: `${description}, milliseconds` })

const archivedBefore = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description: `${description}, ISO 8601 in UTC; else null` })

export const UsageItem = Type.Object({
  recordId: Type.String(),
  requestId: Type.String(),
  at: iso('When it was charged'),
  kind: Type.String({ description: '`settle`, `expire`, or `late`: a correction' }),
  keyId: Type.String(),
  keyName: Type.Union([Type.String(), Type.Null()]),
  model: Type.String({ description: 'The model that answered' }),
  requestedModel: Type.String({ description: 'The model or tier that was asked for' }),
  provider: Type.String(),
  status: Type.Integer({ description: 'The HTTP status that the client got; 499 where it went away first' }),
  stream: Type.Boolean(),
  rule: Type.String({ description: 'The billing rule' }),
  flags: Type.Array(Type.String()),
  inputTokens: Type.Integer({ description: 'Cached or not' }),
  outputTokens: Type.Integer(),
  cost: usd('Negative where a correction gave something back'),
  firstTokenMs: milliseconds('From arrival to the first content'),
  durationMs: Type.Integer({ description: 'From arrival to the end' }),
})

export const UsagePage = Type.Object({
  items: Type.Array(UsageItem),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
  searchedTo: Type.Union([Type.String(), Type.Null()], {
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
  isComplete: Type.Boolean({ description: 'False where there were too many records to add up: these are the newest' }),
  archivedBefore: archivedBefore('Not null where requests before this moment are archived, and not in these sums'),
})

export const SeriesBody = Type.Object({
  step: Type.Union([Type.Literal('hour'), Type.Literal('day')], { description: 'Days are in UTC' }),
  points: Type.Array(
    Type.Object({
      at: iso('Start of the hour or day'),
      group: Type.String(),
      requests: Type.Integer(),
      tokens: Type.Integer({ description: 'Input and output' }),
      cost: usd('Of this hour or day'),
    }),
    { description: 'Oldest first; hours and days in which nothing happened are left out' },
  ),
  labels: Type.Record(Type.String(), Type.String(), { description: 'What to call each group' }),
  isComplete: Type.Boolean(),
  archivedBefore: archivedBefore('Not null where requests before this moment are archived, and not in this chart'),
})

/** A page of records. */
export function toUsagePage({ records, next, searchedToMs, archivedBeforeMs }: SearchPage): Static<typeof UsagePage> {
  return {
    items: records.map(toUsageItem),
    nextCursor: next && toCursor(next),
    searchedTo: searchedToMs === null ? null : toIso(searchedToMs),
    archivedBefore: archivedBeforeMs === null ? null : toIso(archivedBeforeMs),
  }
}

/** One record. */
export function toUsageItem(record: ListedRecord): Static<typeof UsageItem> {
  const { atMs, usage, cost, position, held, attempts, routeReason, ...rest } = record
  return { ...rest, at: toIso(atMs), outputTokens: usage.output, cost: formatUsd(cost) }
}

/** Sums. */
export function toTotalsBody({ archivedBeforeMs, ...totals }: RecordTotals): Static<typeof TotalsBody> {
  const archivedBefore = archivedBeforeMs === null ? null : toIso(archivedBeforeMs)
  return { ...totals, cost: formatUsd(totals.cost), archivedBefore }
}

/** A chart. */
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

/** A moment as ISO 8601 in UTC. */
export function toIso(atMs: number): string {
  return new Date(atMs).toISOString()
}
