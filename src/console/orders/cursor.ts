/** Pages of lists that are read newest first: where the last page ended, as an opaque text. */
import { and, type Column, desc, eq, lt, or, type SQL } from 'drizzle-orm'
import { invalidRequest } from '@/chat/error'
import { assert } from '@/lib/assert'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from './limits'
import type { Page, PageRequest } from './types'

/** The columns a list is ordered by: a moment with whole milliseconds, and the row's id. */
type PageOrder = { moment: Column; id: Column }

/** Rows per page. Asserts 1 to 100. */
export function pageSize({ limit = DEFAULT_PAGE_SIZE }: PageRequest): number {
  assert(Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE, 'page size out of range')
  return limit
}

/** The condition that a page's rows come after `cursor`. Throws `invalid_request` for a text that no page has handed out. */
export function afterCursor({ cursor }: PageRequest, { moment, id }: PageOrder): SQL | undefined {
  if (cursor === undefined) return undefined
  const match = /^(\d{1,15})_(\w{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (!match) throw invalidRequest('The cursor is not one of this list.', 'cursor')
  const at = new Date(Number(match[1]))
  return or(lt(moment, at), and(eq(moment, at), lt(id, match[2])))
}

/** Newest first. */
export function newestFirst({ moment, id }: PageOrder): SQL[] {
  return [desc(moment), desc(id)]
}

/** Cuts `rows`, of which one more than `size` was asked for, into a page. */
export function toPage<Row, Item>(
  rows: readonly Row[],
  size: number,
  place: (row: Row) => { moment: Date; id: string },
  toItem: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, size)
  const last = shown.at(-1)
  const nextCursor = rows.length > size && last !== undefined ? encode(place(last)) : null
  return { items: shown.map(toItem), nextCursor }
}

function encode({ moment, id }: { moment: Date; id: string }): string {
  return Buffer.from(`${moment.getTime()}_${id}`, 'latin1').toString('base64url')
}
