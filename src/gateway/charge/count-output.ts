/**
 * Counts what an answer has said with a real vocabulary, in the tokenizer's thread: only where the charge, or whether the answer
 * may go on, depends on it. One answer at a time, so that a thousand that break off at once don't keep the prompts waiting.
 */
import { countTextTokens } from '@/catalog/estimate'
import { withDeadline } from '@/lib/deadline'
import type { Said } from './kept-text'

/** How long a settlement, or a stream, waits for its count. */
const PATIENCE_MS = 2_000

let queue: Promise<unknown> = Promise.resolve()

/** The tokens of what was said; undefined where they could not be counted in time: then a guess has to do. */
export function countOutput({ texts, unkeptTokens }: Said): Promise<number | undefined> {
  let isOver = false
  async function count(): Promise<number | undefined> {
    const counted = isOver ? undefined : await countTextTokens(texts)
    return counted === undefined ? undefined : counted + unkeptTokens
  }
  // What fails here is the thread, and no reason to keep an answer from being charged.
  const counted = queue.then(count).catch(() => undefined)
  queue = counted
  return withDeadline(counted, PATIENCE_MS, () => {
    isOver = true
    return undefined
  })
}
