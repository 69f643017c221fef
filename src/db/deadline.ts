/** A client-side timeout for database calls: a hung server doesn't apply its own statement timeout. */
import { withDeadline } from '@/lib/deadline'

/** The database didn't answer in time; the statement may still complete. */
export class DatabaseTimeoutError extends Error {
  override readonly name = 'DatabaseTimeoutError'
}

/** Settles like `work`, or rejects with a {@link DatabaseTimeoutError} after `timeoutMs`. */
export function withDatabaseDeadline<T>(work: PromiseLike<T>, timeoutMs: number): Promise<T> {
  return withDeadline(work, timeoutMs, () => {
    throw new DatabaseTimeoutError(`no answer in ${timeoutMs} ms`)
  })
}
