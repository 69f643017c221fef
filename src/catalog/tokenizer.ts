/** Counts the tokens of texts with a real vocabulary, in a thread of its own, so that it never delays requests. */
import { Worker } from 'node:worker_threads'
import { type CountAsker, createCountQueue } from './count-queue'
import type { CountAnswer } from './tokenizer-worker'

interface TokenCounter {
  /** Counts all `texts`; `fallback` judges those it does not get to. Paid counts first, accounts in turn. */
  count(texts: readonly string[], fallback: (text: string) => number, asker?: CountAsker): Promise<number>
  /** Starts the thread; resolves once it loads. Without descriptors, starting one later would end the process. */
  start(): Promise<void>
}

/** The gateway itself, which counts what an answer has said. */
const GATEWAY: CountAsker = { accountId: '', isPaid: true }
/** The file that the thread runs. It is imported nowhere: no other thread loads the vocabulary. */
const THREAD = new URL('./tokenizer-worker.ts', import.meta.url)

/**
 * Creates a counter that works on one request at a time. The fallback judges text beyond a request's budget of time, and
 * every text while too many requests wait, of all accounts or of its own, or where the thread ended before it could answer. The thread starts with the first
 * count at the latest, keeps no process alive on its own, and is started again after it has ended.
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
    // Without a listener, what the thread throws would end the process. It ends the thread, which is handled below.
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
