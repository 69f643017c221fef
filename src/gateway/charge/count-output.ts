/** Counts an answer's text in the tokenizer's thread, one answer at a time, so that the counts of prompts are not delayed. */
import { countTextTokens } from '@/catalog/estimate'
import { withDeadline } from '@/lib/deadline'
import type { Said } from './kept-text'

/** How long a settlement or stream waits for a count. */
const PATIENCE_MS = 2_000

let queue: Promise<unknown> = Promise.resolve()

/** The number of tokens in the texts; undefined if counting took too long. The caller then uses an estimate. */
export function countOutput({ texts, unkeptTokens }: Said): Promise<number | undefined> {
  let isOver = false
  async function count(): Promise<number | undefined> {
    const counted = isOver ? undefined : await countTextTokens(texts)
    return counted === undefined ? undefined : counted + unkeptTokens
  }
  // An error of the thread must not prevent the charge.
  const counted = queue.then(count).catch(() => undefined)
  queue = counted
  return withDeadline(counted, PATIENCE_MS, () => {
    isOver = true
    return undefined
  })
}
