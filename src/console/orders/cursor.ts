/** Where a page of orders or payments, newest first, begins in the tables. */
import { and, type Column, desc, eq, lt, or, type SQL } from 'drizzle-orm'
import { invalidRequest } from '@/chat/error'
import { countUpTo, type PageRequest, parseCursor, textLike } from '@/lib/paging'

/** The columns a list is ordered by: a moment with whole milliseconds, and the row's id. */
type PageOrder = { moment: Column; id: Column }

/** Far beyond the year 9999, and still a moment. */
const LATEST_MS = 999_999_999_999_999
const isMoment = countUpTo(LATEST_MS)
const isId = textLike(/^\w{1,64}$/)

/** The condition that a page's rows come after `cursor`. Throws `invalid_request` for a text that no page has handed out. */
export function afterCursor({ cursor }: PageRequest, { moment, id }: PageOrder): SQL | undefined {
  if (cursor === undefined) return undefined
  const place = parseCursor(cursor, [isMoment, isId])
  if (!place) throw invalidRequest('The cursor is not one of this list.', 'cursor')
  const at = new Date(place[0])
  return or(lt(moment, at), and(eq(moment, at), lt(id, place[1])))
}

/** Newest first. */
export function newestFirst({ moment, id }: PageOrder): SQL[] {
  return [desc(moment), desc(id)]
}
