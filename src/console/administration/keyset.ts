/** Cursors and search patterns for the lists of administrators. */
import { textLike } from '@/db/paging'

/** Times and numbers as Postgres writes them; with other values the query would fail. */
const isSortable = textLike(/^(\d{1,16}|\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00)$/)
const isId = textLike(/^[\w:-]{0,100}$/)

/** The cursor of a list sorted by a value in Postgres' form, then by id. */
export const BY_VALUE_AND_ID = [isSortable, isId] satisfies [unknown, unknown]

/** A LIKE pattern that finds `text` anywhere; `%`, `_` and the escape character are escaped. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
