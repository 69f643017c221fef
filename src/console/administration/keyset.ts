/** Pages by the last row seen instead of by number: as fast on page 1,000 as on the first, and nothing is shown twice. */
import { invalidRequest } from '@/chat/error'

export type Page<T> = { items: T[]; nextCursor: string | null }

export const PAGE_SIZE = 50
export const MAX_PAGE_SIZE = 100
const MAX_CURSOR_CHARS = 400

/** The row that a page begins after: a sortable value as Postgres writes it, and an id that makes it unique. */
type Position = { at: string; id: string }

/** The row that `cursor` stands for. Throws `invalid_request` for a text that no page has handed out. */
export function readCursor(cursor: string): Position {
  const [at, id, ...rest] = cursor.length > MAX_CURSOR_CHARS ? [] : decode(cursor)
  if (at === undefined || id === undefined || rest.length > 0)
    throw invalidRequest('The cursor is not valid.', 'cursor')
  return { at, id }
}

/** A page of at most `size` of `rows`, which were asked for with one more than that, to see whether there is another page. */
export function pageOf<Row extends { position: Position }, T>(
  rows: readonly Row[],
  size: number,
  toItem: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, size)
  const last = shown.at(-1)
  const hasMore = rows.length > size
  return { items: shown.map(toItem), nextCursor: hasMore && last ? encode(last.position) : null }
}

function encode({ at, id }: Position): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url')
}

/** Moments and numbers as Postgres writes them; anything else would reach the database only to fail there. */
const SORTABLE = /^(\d{1,16}|\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00)$/
const ID = /^[\w:-]{0,100}$/

function decode(cursor: string): string[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) return []
    return SORTABLE.test(values[0] ?? '') && ID.test(values[1] ?? '') ? values : []
  } catch {
    return []
  }
}
