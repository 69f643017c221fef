/** Prevents concurrent runs of the same work. */

/** Returns a function that runs `task` after the previous run has ended or failed. */
export function inTurn(task: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.catch(() => undefined).then(task)
    return last
  }
}
