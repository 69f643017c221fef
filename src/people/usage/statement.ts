/** Account statements, in pages and as a file, for the account's members and for administrators. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError, invalidRequest } from '@/chat/error'
import { PAGE, wholeNumber } from '@/console/http/pages'
import { csvFile, inUsd, NullableText, exactUsd as usd } from '@/console/http/wire'
import {
  MOVEMENT_KINDS,
  type Movement,
  type StatementPart,
} from '@/console/usage-views/account-statement/read-statement'
import type { StatementPeriod, StatementPlace } from '@/console/usage-views/account-statement/statement-query'
import type { UsageViews } from '@/console/usage-views/usage-views'
import { countUpTo, formatCursor, readCursor, textLike } from '@/db/paging'
import { titled } from '@/http/openapi/titled'
import { csvRow } from '@/lib/csv'
import { formatUsd, type Nano } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'

const day = (description: string) =>
  Type.Optional(Type.String({ pattern: '^20\\d{2}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$', description }))

const MovementBody = titled('StatementMovement', {
  id: Type.String({ description: 'Unique in the statement' }),
  day: Type.String({ description: 'yyyy-mm-dd, UTC' }),
  at: orNull(Type.String(), { description: 'ISO 8601 in UTC; null for the usage of a day' }),
  kind: oneOf(MOVEMENT_KINDS),
  amount: usd('Negative where the balance went down'),
  balance: usd('After it'),
  requests: orNull(Type.Integer(), { description: 'Of the usage of a day' }),
  orderId: NullableText,
  orderReference: NullableText,
  reference: orNull(Type.String(), { description: 'What it was recorded by; for administrators, and of a transfer' }),
})

export const StatementBody = titled('AccountStatement', {
  from: Type.String({ description: 'The first day, UTC' }),
  to: orNull(Type.String(), { description: 'The last day; null: until now' }),
  opening: usd('The balance before the period'),
  closing: usd('The balance after it'),
  credited: usd('Added in the period'),
  takenBack: usd('Refunds, chargebacks, corrections and credit moved away in the period'),
  spent: usd('Usage of the period'),
  count: Type.Integer({ description: 'Movements of the period' }),
  items: Type.Array(MovementBody, { description: 'Oldest first; the usage of a day after everything else of it' }),
  nextCursor: NullableText,
})

const PERIOD = {
  from: day('The first day (UTC). Without it: the first of the month of `to`, or of this month'),
  to: day('The last day (UTC), included. Without it: up to now'),
}

export const PeriodQuery = Type.Object(PERIOD)
export const StatementQuery = Type.Object({
  ...PERIOD,
  cursor: PAGE.cursor,
  limit: Type.Optional(wholeNumber('limit', { minimum: 1, maximum: 500, default: 100 })),
})

const DEFAULT_PAGE_SIZE = 100
const MAX_FILE_LINES = 20_000

type Statements = Pick<UsageViews, 'statement'>
/** The statement's account, and its reader: only administrators see references, which are internal. */
type Reader = { accountId: string; isAdministrator: boolean }

/** One page of a statement. Throws 400 for an invalid period, and 404 for an unknown account. */
export async function readStatementPage(
  usage: Statements,
  reader: Reader,
  query: Static<typeof StatementQuery>,
): Promise<Static<typeof StatementBody>> {
  const period = periodOf(query, reader.accountId)
  const limit = query.limit ?? DEFAULT_PAGE_SIZE
  const part = await readPart(usage, period, { after: placeOf(query.cursor), limit })
  const { opening, closing, credited, takenBack, spent, movements, hasMore, count } = part
  const last = movements.at(-1)
  return {
    from: period.from,
    to: period.to ?? null,
    ...inUsd({ opening, closing, credited, takenBack, spent }),
    count,
    items: movements.map((movement) => movementBody(movement, reader)),
    nextCursor: hasMore && last ? formatCursor([last.day, last.rank, last.atMicros, last.entryId]) : null,
  }
}

/** A whole period as a file. Throws like {@link readStatementPage}, and 400 if the file would be too long. */
export async function statementFile(
  usage: Statements,
  reader: Reader,
  query: Static<typeof PeriodQuery>,
): Promise<Response> {
  const period = periodOf(query, reader.accountId)
  const part = await readPart(usage, period, { limit: MAX_FILE_LINES })
  if (part.hasMore)
    throw invalidRequest(`from: a file has at most ${MAX_FILE_LINES} movements. Choose less time.`, 'from')
  const rows = part.movements.map((movement) => csvMovement(movement, reader))
  const { opening, closing } = part
  const lastDay = period.to ?? part.movements.at(-1)?.day ?? period.from
  const text = [
    csvRow(HEADINGS),
    csvRow([period.from, null, 'opening', null, decimal(opening), null, null, null, null]),
    ...rows,
    csvRow([lastDay, null, 'closing', null, decimal(closing), null, null, null, null]),
  ].join('')
  return csvFile(`statement-${period.from}-to-${lastDay}.csv`, text)
}

const HEADINGS = [
  'day_utc',
  'time_utc',
  'kind',
  'amount_usd',
  'balance_usd',
  'requests',
  'order_reference',
  'entry_id',
  'reference',
]

function csvMovement(movement: Movement, reader: Reader): string {
  const { id, day: ofDay, at, kind, requests, orderReference, reference } = movementBody(movement, reader)
  const amounts = [decimal(movement.amount), decimal(movement.balance)]
  return csvRow([ofDay, at, kind, ...amounts, requests, orderReference, kind === 'usage' ? null : id, reference])
}

function decimal(amount: Nano): { decimal: string } {
  return { decimal: formatUsd(amount) }
}

async function readPart(
  usage: Statements,
  period: StatementPeriod,
  page: { after?: StatementPlace | undefined; limit: number },
): Promise<StatementPart> {
  const part = await usage.statement(period, page)
  if (!part) throw new GatewayError('not_found', 'There is no such account.')
  return part
}

function movementBody(movement: Movement, { isAdministrator }: Reader): Static<typeof MovementBody> {
  const { atMicros, entryId, amount, balance, reference, rank: _, ...rest } = movement
  const isUsage = rest.kind === 'usage'
  return {
    ...rest,
    ...inUsd({ amount, balance }),
    id: isUsage ? `usage ${rest.day}` : entryId,
    at: isUsage ? null : new Date(Math.floor(atMicros / 1000)).toISOString(),
    reference: isAdministrator || rest.kind === 'transfer' ? reference : null,
  }
}

function periodOf({ from, to }: Static<typeof PeriodQuery>, accountId: string): StatementPeriod {
  for (const [param, text] of Object.entries({ from, to })) {
    // JavaScript reads 31 June as 1 July, so such days are refused.
    if (text !== undefined && dayOf(Date.parse(text)) !== text) throw invalidRequest(`${param}: is no day.`, param)
  }
  const first = from ?? `${(to ?? new Date().toISOString()).slice(0, 'yyyy-mm'.length)}-01`
  if (to !== undefined && first > to) throw invalidRequest('from: must not be after to.', 'from')
  return { accountId, from: first, to }
}

function dayOf(atMs: number): string | undefined {
  return Number.isNaN(atMs) ? undefined : new Date(atMs).toISOString().slice(0, 'yyyy-mm-dd'.length)
}

const isDay = (value: unknown): value is string => typeof value === 'string' && dayOf(Date.parse(value)) === value
const isRank = countUpTo(1)
const isMoment = countUpTo(Number.MAX_SAFE_INTEGER)
const isEntryId = textLike(/^[\x21-\x7e]{0,200}$/)

function placeOf(cursor: string | undefined): StatementPlace | undefined {
  const place = readCursor(cursor, [isDay, isRank, isMoment, isEntryId])
  if (!place) return undefined
  const [ofDay, rank, atMicros, entryId] = place
  return { day: ofDay, rank, atMicros, entryId }
}
