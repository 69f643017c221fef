/** What an error says, without what it must not say: a failed statement quotes the values it was sent with, which are people's own. */

/** The message; of a failed statement only its text, never its values. */
export function messageOf(error: Error): string {
  if (!('query' in error && 'params' in error)) return String(error.message)
  return `Failed query: ${String(error.query)}`
}

/** The stack, which begins with the message. */
export function stackOf(error: Error): string | undefined {
  return error.stack?.replace(String(error.message), () => messageOf(error))
}
