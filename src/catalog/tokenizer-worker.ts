/**
 * The thread that counts tokens, one request after another: what loads the vocabulary, with the first of them, and never makes those
 * who serve wait.
 */
import { parentPort } from 'node:worker_threads'
import type { Counted } from './count-within-budget'

/** What is asked: texts to count, under a number that the answer repeats. */
export type CountQuestion = { id: number; texts: readonly string[] }

/** What became of it. */
export type CountAnswer = { id: number } & Counted

const NOTHING: Counted = { tokens: 0, text: 0, character: 0 }

parentPort?.on('message', async ({ id, texts }: CountQuestion) => {
  const counted = await import('./count-within-budget').then(
    ({ countWithinBudget }) => countWithinBudget(texts, () => performance.now()),
    // It can't be read with no descriptor left: the next question tries again.
    () => NOTHING,
  )
  parentPort?.postMessage({ id, ...counted } satisfies CountAnswer)
})
