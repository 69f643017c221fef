/** Work that is never done twice at the same time. */

/** A function that runs `task`, each time once the time before has ended, however it ended. */
export function inTurn(task: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve()
  return () => {
    last = last.catch(() => undefined).then(task)
    return last
  }
}
