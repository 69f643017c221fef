/** Gathers what many callers ask within one turn of the event loop into one question, for a source where many cost as one. */

type BatchOptions<V> = {
  /** Answers at most `maxKeys` keys at once; a key that is not in the answer has none. Must settle by itself. */
  answer(keys: readonly string[]): Promise<ReadonlyMap<string, V>>
  maxKeys: number
  /** Questions on their way at once; what is asked meanwhile is gathered for the next. */
  maxQuestions: number
  /** Keys that may wait, so that no flood fills the memory: from then on asking fails at once. */
  maxWaiting: number
}

/** The answer for one key, from a question that was put after the call. Rejects as the question does. */
type AskInBatch<V> = (key: string) => Promise<V | undefined>

/** Creates a batch. First come, first served; a key that is asked for twice before its question is put is asked once. */
export function createBatch<V>(options: BatchOptions<V>): AskInBatch<V> {
  const { answer, maxKeys, maxQuestions, maxWaiting } = options
  const waiting = new Map<string, PromiseWithResolvers<V | undefined>>()
  let questions = 0
  let isScheduled = false

  /** At the end of the turn, when all that one event has set in motion has asked. */
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
