/** Reads path and query of a request the same way for routing, authentication and logging. */

/** The path of a request URL, percent-encoded and without the query. `/` if there is none. */
export function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start === -1) return '/'
  const end = url.indexOf('?', start)
  return end === -1 ? url.slice(start) : url.slice(start, end)
}

/** The query of a request URL without question mark; '' if there is none. */
export function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}
