/** What administrators look through: where a page begins (after a sortable value as Postgres writes it, and an id), and what they type into a search. */
import { invalidRequest } from '@/chat/error'
import { parseCursor, textLike } from '@/lib/paging'

/** Moments and numbers as Postgres writes them; anything else would reach the database only to fail there. */
const isSortable = textLike(/^(\d{1,16}|\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00)$/)
const isId = textLike(/^[\w:-]{0,100}$/)

/** The row that `cursor` stands for. Throws `invalid_request` for a text that no page has handed out. */
export function readCursor(cursor: string): { at: string; id: string } {
  const place = parseCursor(cursor, [isSortable, isId])
  if (!place) throw invalidRequest('The cursor is not valid.', 'cursor')
  return { at: place[0], id: place[1] }
}

/** A pattern for LIKE that finds `text` anywhere; `%`, `_` and the escape character itself stand for themselves. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
