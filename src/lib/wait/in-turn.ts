/** Prevents concurrent runs: the returned function runs `task` after the previous run has ended or failed. */
export function inTurn(task: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.catch(() => undefined).then(task)
    return last
  }
}
