/** Counts the tokens of texts with a real vocabulary, in a thread of its own: whoever serves is never held up by it. */
import { Worker } from 'node:worker_threads'
import type { CountAnswer, CountQuestion } from './tokenizer-worker'

interface TokenCounter {
  /** Counts the tokens of all `texts`; what it does not get to is judged by `fallback`, text by text. */
  count(texts: readonly string[], fallback: (text: string) => number): Promise<number>
  /**
   * Has the thread before the first count; resolves once it runs and loads, or has ended. With no descriptor left, which
   * strangers can bring about from the moment that a gateway listens, starting a thread ends the whole process.
   */
  start(): Promise<void>
}

/** Requests that may wait for their turn to count. */
const MAX_WAITING = 64
/** The file that the thread runs. It is imported nowhere: nobody else loads the vocabulary. */
const THREAD = new URL('./tokenizer-worker.ts', import.meta.url)

/**
 * Creates a counter that works on one request at a time. The fallback judges text beyond a request's budget of time, and
 * every text while too many requests wait, or where the thread ended before it could answer. The thread starts with the first
 * count at the latest, keeps no process alive on its own, and is started again after it has ended.
 */
export function createTokenCounter(file: URL = THREAD): TokenCounter {
  const waiting = new Map<number, PromiseWithResolvers<CountAnswer | undefined>>()
  let thread: Worker | undefined
  let lastId = 0

  function startThread(): Worker {
    const fresh = new Worker(file, { name: 'tokenizer' })
    fresh.on('message', (answer: CountAnswer) => settle(answer.id, answer))
    // Without a listener, what the thread throws would end the process. It ends the thread, which is told below.
    fresh.on('error', () => undefined)
    fresh.on('exit', () => {
      thread = undefined
      for (const id of waiting.keys()) settle(id, undefined)
    })
    return fresh
  }

  function settle(id: number, answer: CountAnswer | undefined): void {
    waiting.get(id)?.resolve(answer)
    waiting.delete(id)
    if (waiting.size === 0) thread?.unref()
  }

  return {
    async count(texts, fallback) {
      if (waiting.size >= MAX_WAITING) return sumOf(texts, fallback)
      thread ??= startThread()
      thread.ref()
      const id = ++lastId
      const answer = Promise.withResolvers<CountAnswer | undefined>()
      waiting.set(id, answer)
      thread.postMessage({ id, texts } satisfies CountQuestion)
      const counted = await answer.promise
      if (!counted) return sumOf(texts, fallback)
      const rest = texts.slice(counted.text)
      if (counted.character > 0) rest[0] = rest[0]?.slice(counted.character) ?? ''
      return counted.tokens + sumOf(rest, fallback)
    },
    async start() {
      if (thread) return
      thread = startThread()
      const { promise: isUp, resolve } = Promise.withResolvers<void>()
      thread.once('online', resolve).once('exit', resolve)
      await isUp
      if (waiting.size === 0) thread?.unref()
    },
  }
}

function sumOf(texts: readonly string[], judge: (text: string) => number): number {
  return texts.reduce((sum, text) => sum + judge(text), 0)
}
