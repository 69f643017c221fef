import { Worker } from 'node:worker_threads'
import { type CountAsker, createCountQueue } from './count-queue'
import type { CountAnswer } from './tokenizer-worker'

interface TokenCounter {
  /** Counts all `texts`; `fallback` estimates those not counted. Paid requests first, accounts in turn. */
  count(texts: readonly string[], fallback: (text: string) => number, asker?: CountAsker): Promise<number>
  /** Starts the thread; resolves once it runs and loads. Call it early: a start without free file descriptors would end the process. */
  start(): Promise<void>
}

/** The asker of counts that the gateway itself needs, such as the tokens of answers. */
const GATEWAY: CountAsker = { accountId: '', isPaid: true }
/** Only started as a thread, never imported, so that no other thread loads the vocabulary. */
const THREAD = new URL('./tokenizer-worker.ts', import.meta.url)

/**
 * Counts tokens with a real vocabulary in its own thread, so that requests are not delayed. Creates a counter that works on one request at
 * a time. `fallback` estimates the texts for which the time budget is too short. If the queue is full or the thread ends, it estimates all
 * texts. The thread starts at the first count at the latest, doesn't keep the process alive, and is restarted after it ended.
 */
export function createTokenCounter(file: URL = THREAD): TokenCounter {
  const queue = createCountQueue((question) => {
    thread ??= startThread()
    thread.ref()
    thread.postMessage(question)
  })
  let thread: Worker | undefined

  function startThread(): Worker {
    const fresh = new Worker(file, { name: 'tokenizer' })
    fresh.on('message', (answer: CountAnswer) => {
      queue.answered(answer)
      if (queue.isIdle()) fresh.unref()
    })
    // Without a listener, an error in the thread would end the process. With one, it ends only the thread, which `exit` handles.
    fresh.on('error', () => undefined)
    fresh.on('exit', () => {
      thread = undefined
      queue.giveUp()
    })
    return fresh
  }

  return {
    async count(texts, fallback, asker = GATEWAY) {
      const counted = await queue.ask(texts, asker)
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
      if (queue.isIdle()) thread?.unref()
    },
  }
}

function sumOf(texts: readonly string[], judge: (text: string) => number): number {
  return texts.reduce((sum, text) => sum + judge(text), 0)
}
