/** Paginated lists: query parameters, and pages of a list that is short enough to be read as a whole. */
import { Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { ACCOUNT_ROLES } from '@/db/auth-schema'
import { cutPage, MAX_PAGE_SIZE, type Page, type PageRequest, pageSize, readCursor, textLike } from '@/db/paging'
import { orNull } from '@/lib/schemas'
import type { ListedMember } from '@/people/members/change-members'

/** Limits of a number, inclusive, and its default. */
type Range = { minimum: number; maximum: number; default?: number }

/** The whole-number query parameter `name`. The framework's own error would not name the parameter. */
export function wholeNumber(name: string, range: Range) {
  const { minimum, maximum } = range
  // In a query the number arrives as text; the API document describes it as a number.
  return Type.Transform(Type.Any({ type: 'integer', ...range }))
    .Decode((said: unknown) => {
      const number = said === '' ? Number.NaN : Number(said)
      if (Number.isInteger(number) && number >= minimum && number <= maximum) return number
      throw invalidRequest(`${name}: must be a whole number from ${minimum} to ${maximum}.`, name)
    })
    .Encode((number) => number)
}

export const PAGE = {
  cursor: Type.Optional(Type.String({ maxLength: 500, description: '`nextCursor` of the page before' })),
  limit: Type.Optional(wholeNumber('limit', { minimum: 1, maximum: MAX_PAGE_SIZE, default: 50 })),
}

export const PageQuery = Type.Object(PAGE)

export const DayText = Type.String({ maxLength: 10, examples: ['2026-03-01'], description: 'A day (UTC), included' })

/** The start of a day in milliseconds since 1970. Throws `invalid_request` for an invalid day. */
export function readDay(text: string, param: string): number {
  const atMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(atMs)) throw invalidRequest(`${param}: must be a day such as 2026-03-01.`, param)
  return atMs
}

export const NextCursor = orNull(Type.String(), { description: '`cursor` of the next page; null on the last' })

/** The sort key of a row: group, then order, then the unique id. */
export type Place = readonly [group: number, order: number, id: string]

/** Newest first, without groups. */
export function newestFirst(createdAt: Date, id: string): Place {
  return [0, -createdAt.getTime(), id]
}

/** Owners first; within each role, the oldest membership first. */
export function placeOfMember({ role, createdAt, userId }: ListedMember): Place {
  return [ACCOUNT_ROLES.indexOf(role), createdAt.getTime(), userId]
}

const isOrder = (value: unknown): value is number => Number.isSafeInteger(value)
const isId = textLike(/^[\w-]{1,100}$/)

/** A page of `rows` in any order. Throws `invalid_request` for an invalid cursor. */
export function pageOf<Row>(rows: readonly Row[], request: PageRequest, placeOf: (row: Row) => Place): Page<Row> {
  const after = readCursor(request.cursor, [isOrder, isOrder, isId])
  const ordered = rows.toSorted((one, other) => compare(placeOf(one), placeOf(other)))
  const rest = after ? ordered.filter((row) => compare(placeOf(row), after) > 0) : ordered
  return cutPage(rest, pageSize(request), placeOf, (row) => row)
}

function compare(one: Place, other: Place): number {
  return one[0] - other[0] || one[1] - other[1] || (one[2] < other[2] ? -1 : Number(one[2] > other[2]))
}
