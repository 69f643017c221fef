/** A bound on how long anything waits for the database: a hung server answers nothing, not even its own statement timeout. */

/** The database didn't answer in time; the statement may still run to its end. */
export class DatabaseTimeoutError extends Error {
  override readonly name = 'DatabaseTimeoutError'
}

/** Settles as `work` does, or rejects with a {@link DatabaseTimeoutError} after `timeoutMs`. */
export async function withDeadline<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: Timer | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseTimeoutError(`no answer in ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}
