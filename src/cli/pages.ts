/** What all commands share that list something page by page. */
import { MAX_PAGE_SIZE, type Page, type PageRequest } from '@/lib/paging'
import { type CommandResult, optional, type Values } from './command'
import { readOptionalCount, readText } from './values'

/** The options of a list. */
export const PAGE_OPTIONS = {
  limit: optional('n', `rows of a page, 1 to ${MAX_PAGE_SIZE}; otherwise 50`),
  cursor: optional('C', '`nextCursor` of the page before'),
}

/** Which page was asked for. */
export function readPage(values: Values): PageRequest {
  const limit = readOptionalCount(values, 'limit', MAX_PAGE_SIZE)
  return {
    ...(limit !== null && { limit }),
    ...(values.cursor !== undefined && { cursor: readText(values, 'cursor') }),
  }
}

/** A page as it is printed, its rows under `name`. */
export function printPage<Item>(
  name: string,
  { items, nextCursor }: Page<Item>,
  toRow: (item: Item) => object,
): CommandResult {
  return { output: { [name]: items.map(toRow), nextCursor } }
}
