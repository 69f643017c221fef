/** What administrators look through: the place of a row in a list, and the text that they type into a search. */
import { textLike } from '@/db/paging'

/** Moments and numbers as Postgres writes them; anything else would reach the database only to fail there. */
const isSortable = textLike(/^(\d{1,16}|\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?\+00)$/)
const isId = textLike(/^[\w:-]{0,100}$/)

/** A list ordered by a sortable value, as Postgres writes it, then by id. */
export const BY_VALUE_AND_ID = [isSortable, isId] satisfies [unknown, unknown]

/** A pattern for LIKE that finds `text` anywhere; `%`, `_` and the escape character itself stand for themselves. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
