/** Who is next at the tokenizer: paid before free, and accounts in turn. */

import { SHARED } from '@/limits/shared-resources'
import type { CountAnswer, CountQuestion } from './tokenizer-worker'

/** The account that wants a count, and whether its request is paid. */
export type CountAsker = { accountId: string; isPaid: boolean }

interface CountQueue {
  /** The answer; undefined, at once, where too many wait, and where the thread has ended. */
  ask(texts: readonly string[], asker: CountAsker): Promise<CountAnswer | undefined>
  /** The question under way has its answer: the next one is put. */
  answered(answer: CountAnswer): void
  /** The thread has ended; all waiting counts fail. */
  giveUp(): void
  isIdle(): boolean
}

type Waiting = { texts: readonly string[]; resolve(answer: CountAnswer | undefined): void }

/** Those of one kind who wait, by account. */
type Lane = { most: number; mostEach: number; byAccount: Map<string, Waiting[]>; count: number }

/** Creates a queue that has `put` put one question at a time. */
export function createCountQueue(put: (question: CountQuestion) => void): CountQueue {
  const paid = laneOf(SHARED.paidCounts)
  const free = laneOf(SHARED.freeCounts)
  let current: { id: number; waiting: Waiting } | undefined
  let lastId = 0

  function next(): void {
    const waiting = takeFrom(paid) ?? takeFrom(free)
    current = waiting && { id: ++lastId, waiting }
    if (current) put({ id: current.id, texts: current.waiting.texts })
  }

  return {
    async ask(texts, { accountId, isPaid }) {
      const lane = isPaid ? paid : free
      const own = lane.byAccount.get(accountId) ?? []
      if (lane.count >= lane.most || own.length >= lane.mostEach) return undefined
      const { promise, resolve } = Promise.withResolvers<CountAnswer | undefined>()
      own.push({ texts, resolve })
      lane.byAccount.set(accountId, own)
      lane.count += 1
      if (!current) next()
      return await promise
    },
    answered(answer) {
      if (answer.id !== current?.id) return
      current.waiting.resolve(answer)
      next()
    },
    giveUp() {
      current?.waiting.resolve(undefined)
      current = undefined
      for (const lane of [paid, free]) {
        for (let waiting = takeFrom(lane); waiting; waiting = takeFrom(lane)) waiting.resolve(undefined)
      }
    },
    isIdle: () => current === undefined,
  }
}

function laneOf({ perProcess, perAccount }: { perProcess: number; perAccount: number }): Lane {
  return { most: perProcess, mostEach: perAccount, byAccount: new Map(), count: 0 }
}

/** The first of the account whose turn it is; then it is the next one's. */
function takeFrom(lane: Lane): Waiting | undefined {
  for (const [accountId, own] of lane.byAccount) {
    const first = own.shift()
    lane.byAccount.delete(accountId)
    if (own.length > 0) lane.byAccount.set(accountId, own)
    lane.count -= 1
    return first
  }
  return undefined
}
