/** What administrators type into a search, inside an SQL pattern: looked for as it is. */

/** A pattern for LIKE that finds `text` anywhere; `%`, `_` and the escape character itself stand for themselves. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
