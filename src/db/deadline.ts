/** A bound on how long anything waits for the database: a hung server answers nothing, not even its own statement timeout. */
import { withDeadline } from '@/lib/deadline'

/** The database didn't answer in time; the statement may still run to its end. */
export class DatabaseTimeoutError extends Error {
  override readonly name = 'DatabaseTimeoutError'
}

/** Settles as `work` does, or rejects with a {@link DatabaseTimeoutError} after `timeoutMs`. */
export function withDatabaseDeadline<T>(work: PromiseLike<T>, timeoutMs: number): Promise<T> {
  return withDeadline(work, timeoutMs, () => {
    throw new DatabaseTimeoutError(`no answer in ${timeoutMs} ms`)
  })
}
