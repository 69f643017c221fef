/** The part of Redis' memory for stored answers and claims. It shrinks as Redis fills up, so that the ledger never lacks memory. */

/** Redis' memory at the last check; a new object for each check. */
type StoreMemory = {
  /** Used memory divided by the limit. */
  memoryShare: number
  /** Bytes of its memory; 0 if unlimited. */
  memoryLimit: number
}

export interface Room {
  /** An account that stores more bytes than this can't store another answer. Never more than `most`. */
  answerBytes(most: number): number
  /** The bytes that an account above its limit may keep. Uses Redis' memory at the last check, and ignores bytes sent since. */
  leftBytes(most: number): number
  /** Maximum keys that an account may have claimed; never more than `most`. Uses Redis' memory at the last check. */
  claims(most: number): number
  /** Records bytes sent to Redis since the last check. */
  taking(bytes: number): void
}

type RoomOptions = {
  state: () => StoreMemory
  /** The used share of memory from which paid requests are refused. */
  fullShare: number
  /** Number of processes, each of which is assumed to write as much as this one. */
  processes: number
}

/** Share of `fullShare` from which accounts may store only {@link LEAST_ACCOUNT_BYTES}. */
export const ANSWERS_SHARE = 0.5
/** Share of `fullShare` from which accounts store no more answers, and claim at most {@link LEAST_CLAIMS} keys. */
const CLAIMS_SHARE = 0.75
/** Bytes that every account may store, even if other accounts use a lot of memory. */
export const LEAST_ACCOUNT_BYTES = 64 * 1024
/** Keys that every account may claim in any case. */
export const LEAST_CLAIMS = 1_000

/** No limits: for a Redis without a memory limit. */
export const ALL_ROOM: Room = {
  answerBytes: (most) => most,
  leftBytes: (most) => most,
  claims: (most) => most,
  taking: () => undefined,
}

/** Creates the room of one process. */
export function createRoom({ state, fullShare, processes }: RoomOptions): Room {
  let seen = state()
  /** Bytes sent since the last check, and between the last two checks, since the last check may not include those. */
  let taken = 0
  let takenBefore = 0

  function share(): number {
    const now = state()
    if (now !== seen) {
      seen = now
      takenBefore = taken
      taken = 0
    }
    const { memoryShare, memoryLimit } = now
    const unseen = memoryLimit > 0 ? ((taken + takenBefore) * processes) / memoryLimit : 0
    return (memoryShare + unseen) / fullShare
  }

  function bytesAt(used: number, most: number): number {
    if (used >= CLAIMS_SHARE) return 0
    return Math.max(Math.min(most, LEAST_ACCOUNT_BYTES), Math.floor(most * (1 - used / ANSWERS_SHARE)))
  }

  return {
    answerBytes: (most) => bytesAt(share(), most),
    leftBytes: (most) => bytesAt(state().memoryShare / fullShare, most),
    claims(most) {
      const left = (CLAIMS_SHARE - state().memoryShare / fullShare) / (CLAIMS_SHARE - ANSWERS_SHARE)
      return Math.max(Math.min(most, LEAST_CLAIMS), Math.floor(most * Math.min(1, left)))
    },
    taking(bytes) {
      share()
      taken += bytes
    },
  }
}
