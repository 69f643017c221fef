/** The memory for stored answers in the shared Redis. Each account's answers are in one slot and limited; newer ones replace the oldest. */
import { GatewayError } from '@/chat/error'
import { assert } from '@/lib/assert'
import { SHARED } from '@/limits/shared-resources'
import dropText from './drop.lua' with { type: 'text' }
import { ALL_ROOM, LEAST_ACCOUNT_BYTES, type Room } from './room'
import surplusText from './surplus.lua' with { type: 'text' }
import weighText from './weigh.lua' with { type: 'text' }

export type KeptAnswer = { status: number; headers: [string, string][]; body: string }

/** Runs a script on keys in one slot of Redis. */
export type RunScript = (text: string, names: readonly string[], args: readonly (string | number)[]) => Promise<unknown>

export interface KeptAnswers {
  /**
   * Stores an answer of `size` bytes with `put`, which gets the account's maximum bytes and returns a script's reply. If the reply is
   * `full`, the oldest answers are dropped and `put` runs again. False if there is no room, or the reply is not `kept`.
   */
  keep(accountId: string, size: number, put: (most: number) => Promise<unknown>): Promise<boolean>
}

/** Maximum time that an answer is stored. */
export const KEEP_MS = 24 * 60 * 60 * 1000
/** Longer answers are not stored. */
export const MAX_ANSWER_BYTES = 1024 * 1024
/** Maximum attempts to free memory: for a new answer, or in an account above its limit. Each attempt drops up to a hundred answers. */
const MAX_DROPS = 20
/** Redis key of a sorted set of all accounts, by the bytes that they store. */
const ACCOUNTS_NAME = 'idempotency:{accounts}:kept'

type KeptAnswersOptions = { run: RunScript; accountBytes?: number; room?: Room }

/** Creates the memory for stored answers in the Redis of `run`. */
export function createKeptAnswers({
  run,
  accountBytes = SHARED.keptAnswers.perAccount,
  room = ALL_ROOM,
}: KeptAnswersOptions): KeptAnswers {
  let isTrimming = false
  /** Bytes stored per account that were not recorded yet. */
  const unnoted = new Map<string, number>()

  /** Drops an account's oldest answers until it stores at most `most` bytes. Resolves to the bytes it stores then. */
  async function dropOldest(accountId: string, most: number): Promise<number> {
    const { answers, bytes, answer } = namesOf(accountId)
    let total = 0
    for (let drops = 0; drops < MAX_DROPS; drops++) {
      const [kept, ...oldest] = textsOf(await asked(run(surplusText, [answers, bytes], [most])))
      total = Number(kept)
      if (oldest.length === 0) return total
      await asked(run(dropText, [answers, bytes, ...oldest.map(answer)], oldest))
    }
    return total
  }

  /** Records how much an account stores. Resolves to the accounts above their limit. */
  async function weigh(accountId: string, total: number): Promise<string[]> {
    const args = [accountId, total, LEAST_ACCOUNT_BYTES, room.leftBytes(accountBytes), KEEP_MS]
    return textsOf(await asked(run(weighText, [ACCOUNTS_NAME], args)))
  }

  /** Drops answers of accounts above their limit, in the background. Only one run at a time. */
  function trim(accountId: string, kept: number): void {
    unnoted.set(accountId, kept)
    if (isTrimming) return
    isTrimming = true
    // The next stored answer tries again.
    trimNoted().catch(() => undefined)
  }

  /** Trims all accounts in `unnoted`, also those added meanwhile: else only the first of an account's concurrent answers would count. */
  async function trimNoted(): Promise<void> {
    try {
      for (const [accountId, kept] of unnoted) {
        unnoted.delete(accountId)
        const heavy = await weigh(accountId, kept)
        for (const one of heavy) await weigh(one, await dropOldest(one, room.leftBytes(accountBytes)))
      }
    } finally {
      isTrimming = false
    }
  }

  return {
    async keep(accountId, size, put) {
      const most = room.answerBytes(accountBytes)
      if (size > most) {
        if (size <= accountBytes) trim('', 0)
        return false
      }
      room.taking(size)
      const store = async () => textsOf(await asked(put(most)))
      let [kind, total = ''] = await store()
      if (kind === 'full') {
        await dropOldest(accountId, most - size)
        ;[kind, total = ''] = await store()
      }
      if (kind !== 'kept') return false
      if (Number(total) >= LEAST_ACCOUNT_BYTES) trim(accountId, Number(total))
      return true
    },
  }
}

/** Redis keys of an account: of each answer by digest, of the answers by expiry time, and of the sum of their bytes. */
export function namesOf(accountId: string) {
  const prefix = `idempotency:{${accountId}}:`
  return {
    answer: (digest: string) => `${prefix}claim:${digest}`,
    answers: `${prefix}answers`,
    bytes: `${prefix}bytes`,
  }
}

/** A script's reply as texts. */
export function textsOf(reply: unknown): string[] {
  assert(Array.isArray(reply), 'a script answers with a list')
  return reply.map(String)
}

/** The reply of Redis. Throws `overloaded` if Redis does not answer. */
export async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw claimsUnavailable(cause)
  }
}

/** The error while keys cannot be claimed. */
export function claimsUnavailable(cause?: unknown): GatewayError {
  return new GatewayError('overloaded', 'Idempotency keys cannot be looked up at the moment. Try again.', {
    code: 'idempotency_unavailable',
    retryAfterSeconds: 1,
    cause,
  })
}
