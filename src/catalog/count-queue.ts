import { SHARED } from '@/limits/shared-resources'
import type { CountAnswer, CountQuestion } from './tokenizer-worker'

export type CountAsker = { accountId: string; isPaid: boolean }

interface CountQueue {
  /** The count; undefined at once if too many wait or the thread has ended. */
  ask(texts: readonly string[], asker: CountAsker): Promise<CountAnswer | undefined>
  /** Resolves the current question with `answer`, and sends the next question. */
  answered(answer: CountAnswer): void
  giveUp(): void
  isIdle(): boolean
}

type Waiting = { texts: readonly string[]; resolve(answer: CountAnswer | undefined): void }

type Lane = { most: number; mostEach: number; byAccount: Map<string, Waiting[]>; count: number }

/** The tokenizer's queue: paid requests before free ones, accounts in turn. `put` gets one question at a time. */
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

/** Takes the first question of the account whose turn it is. */
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
