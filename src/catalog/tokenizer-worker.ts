/** The thread of the tokenizer: it loads the vocabulary and counts tokens for one request at a time, without blocking the server. */
import { parentPort } from 'node:worker_threads'
import type { Counted } from './count-within-budget'

export type CountQuestion = { id: number; texts: readonly string[] }

export type CountAnswer = { id: number } & Counted

/** Loads when the thread starts, because later there may be no file descriptors left. */
const loading = import('./count-within-budget')

/** This thread's processor time. The budget is measured by it, so a busy machine delays a count but doesn't end it early. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

parentPort?.on('message', async ({ id, texts }: CountQuestion) => {
  const { countWithinBudget } = await loading
  const counted = countWithinBudget(texts, processorMs)
  parentPort?.postMessage({ id, ...counted } satisfies CountAnswer)
})
