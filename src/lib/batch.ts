type BatchOptions<V> = {
  /** Looks up at most `maxKeys` keys; missing keys have no value. Must have a time limit of its own, since there is none here. */
  answer(keys: readonly string[]): Promise<ReadonlyMap<string, V>>
  maxKeys: number
  /** Maximum concurrent queries; later lookups wait for the next query. */
  maxQuestions: number
  /** Maximum waiting keys; further lookups fail at once, so that memory is bounded. */
  maxWaiting: number
}

/** The value of one key, from a query made after the call. Rejects if the query fails. */
type AskInBatch<V> = (key: string) => Promise<V | undefined>

/** Combines lookups of many callers in one tick into one query: first come, first served; duplicate keys are sent once. */
export function createBatch<V>(options: BatchOptions<V>): AskInBatch<V> {
  const { answer, maxKeys, maxQuestions, maxWaiting } = options
  const waiting = new Map<string, PromiseWithResolvers<V | undefined>>()
  let questions = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || questions >= maxQuestions || waiting.size === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      void putQuestion()
      schedule()
    })
  }

  async function putQuestion(): Promise<void> {
    const asked = [...waiting].slice(0, maxKeys)
    for (const [key] of asked) waiting.delete(key)
    questions++
    try {
      const answers = await answer(asked.map(([key]) => key))
      for (const [key, caller] of asked) caller.resolve(answers.get(key))
    } catch (error) {
      for (const [, caller] of asked) caller.reject(error)
    } finally {
      questions--
      schedule()
    }
  }

  return async function ask(key) {
    const earlier = waiting.get(key)
    if (earlier) return earlier.promise
    if (waiting.size >= maxWaiting) throw new Error(`${maxWaiting} keys are waiting already`)
    const caller = Promise.withResolvers<V | undefined>()
    waiting.set(key, caller)
    schedule()
    return caller.promise
  }
}
