/** The thread that counts tokens, one request after another: what loads the vocabulary, and never makes those who serve wait. */
import { parentPort } from 'node:worker_threads'
import type { Counted } from './count-within-budget'

/** A question to the thread: texts to count, with a number that the answer repeats. */
export type CountQuestion = { id: number; texts: readonly string[] }

/** The outcome of it. */
export type CountAnswer = { id: number } & Counted

/** Starts loading at once: it is needed soon, and later there may be no descriptors left to read its files. */
const loading = import('./count-within-budget')

/** This thread's processor time: on a busy machine a text is still counted whole, only later. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

parentPort?.on('message', async ({ id, texts }: CountQuestion) => {
  const { countWithinBudget } = await loading
  const counted = countWithinBudget(texts, processorMs)
  parentPort?.postMessage({ id, ...counted } satisfies CountAnswer)
})
