/** Keyset pagination: a page begins after the last row seen, so page 1,000 is as fast as page 1, and no row appears twice. */
import { invalidRequest } from '@/chat/error'
import { assert } from '@/lib/assert'
import { parseJson } from '@/lib/json'

/** `nextCursor` is null on the last page. */
export type Page<T> = { items: T[]; nextCursor: string | null }

/** `cursor` from an earlier page; `limit` from 1 to 100, default 50. */
export type PageRequest = { cursor?: string; limit?: number }

type PartCheck<T> = (value: unknown) => value is T

const DEFAULT_PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 100
const MAX_CURSOR_CHARS = 500

type PlaceChecks<Place> = { [Part in keyof Place]: PartCheck<Place[Part]> }

type Listing<Row, Item, Place> = {
  checks: PlaceChecks<Place>
  /** Returns up to `limit` rows after the position `after`, in the list's order; without `after`, the first rows. */
  read: (after: Place | undefined, limit: number) => PromiseLike<readonly Row[]>
  placeOf: (row: Row) => Readonly<Place>
  toItem: (row: Row) => Item
}

/** One page. Throws `invalid_request` for an invalid cursor. */
export async function page<Row, Item, Place extends (string | number)[] | []>(
  request: PageRequest,
  { checks, read, placeOf, toItem }: Listing<Row, Item, Place>,
): Promise<Page<Item>> {
  const size = pageSize(request)
  return cutPage(await read(readCursor(request.cursor, checks), size + 1), size, placeOf, toItem)
}

/** Rows per page. Asserts 1 to 100. */
export function pageSize({ limit = DEFAULT_PAGE_SIZE }: PageRequest): number {
  assert(Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE, 'page size out of range')
  return limit
}

/** Cuts `rows`, read with a limit of `size` + 1, into a page. A place is the input of {@link formatCursor}. */
export function cutPage<Row, Item>(
  rows: readonly Row[],
  size: number,
  placeOf: (row: Row) => readonly (string | number)[],
  toItem: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, size)
  const last = shown.at(-1)
  const hasMore = rows.length > size && last !== undefined
  return { items: shown.map(toItem), nextCursor: hasMore ? formatCursor(placeOf(last)) : null }
}

/** A position in a list, as opaque text: the values that the list is ordered by. */
export function formatCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/** The position in `cursor`; undefined without one. Throws `invalid_request` for an invalid cursor. */
export function readCursor<Place extends unknown[] | []>(
  cursor: string | undefined,
  checks: PlaceChecks<Place>,
): Place | undefined {
  const place = cursor === undefined ? undefined : parseCursor(cursor, checks)
  if (cursor !== undefined && !place) throw invalidRequest('The cursor is not one of this list.', 'cursor')
  return place
}

function parseCursor<Place extends unknown[] | []>(cursor: string, checks: PlaceChecks<Place>): Place | undefined {
  if (cursor.length > MAX_CURSOR_CHARS) return undefined
  const place: unknown = parseJson(Buffer.from(cursor, 'base64url').toString())
  if (!Array.isArray(place) || place.length !== checks.length) return undefined
  return checks.every((isSound, part) => isSound(place[part])) ? (place as Place) : undefined
}

/** A check for texts that match `pattern`. */
export function textLike(pattern: RegExp): PartCheck<string> {
  return (value): value is string => typeof value === 'string' && pattern.test(value)
}

/** A check for whole numbers from 0 to `maximum`. */
export function countUpTo(maximum: number): PartCheck<number> {
  return (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= maximum
}
