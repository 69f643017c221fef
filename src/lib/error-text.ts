/** The text of an error without secrets: a failed statement quotes its values, which may be personal. */

/** The error's message. For a failed SQL statement: the statement's text, never its values. */
export function messageOf(error: Error): string {
  if (!('query' in error && 'params' in error)) return String(error.message)
  return `Failed query: ${String(error.query)}`
}

/** The stack, which begins with the message. */
export function stackOf(error: Error): string | undefined {
  return error.stack?.replace(String(error.message), () => messageOf(error))
}
