/** The thread that counts tokens, one request after another: what loads the vocabulary, and never makes those who serve wait. */
import { parentPort } from 'node:worker_threads'
import { countWithinBudget } from './count-within-budget'

/** What is asked: texts to count, under a number that the answer repeats. */
export type CountQuestion = { id: number; texts: readonly string[] }

/** What became of it. */
export type CountAnswer = { id: number } & ReturnType<typeof countWithinBudget>

parentPort?.on('message', ({ id, texts }: CountQuestion) => {
  const counted = countWithinBudget(texts, () => performance.now())
  parentPort?.postMessage({ id, ...counted } satisfies CountAnswer)
})
