/** The share of Redis for stored answers and claims, which shrinks as Redis fills up, because the ledger must never lack memory there. */

/** Redis' memory at the last check; a new object for each check. */
type StoreMemory = {
  /** The used part of its memory. */
  memoryShare: number
  /** Bytes of its memory; 0 if unlimited. */
  memoryLimit: number
}

export interface Room {
  /** The stored bytes up to which an account may store another answer, `most` at best. */
  answerBytes(most: number): number
  /** The bytes to which an account above its limit is reduced, by the last check alone, without data still in transit. */
  leftBytes(most: number): number
  /** The most keys that an account may have claimed now, `most` at best, by the last check alone. */
  claims(most: number): number
  /** Records bytes sent to Redis since the last check. */
  taking(bytes: number): void
}

type RoomOptions = {
  state: () => StoreMemory
  /** The used share of memory from which Redis takes no paid requests. */
  fullShare: number
  /** Number of processes that write as much as this one. */
  processes: number
}

/** Share of `fullShare` from which accounts may store only {@link LEAST_ACCOUNT_BYTES}. */
export const ANSWERS_SHARE = 0.5
/** Share of `fullShare` from which accounts store no more answers, and claim at most {@link LEAST_CLAIMS} keys. */
const CLAIMS_SHARE = 0.75
/** Bytes that every account may store even if others have used up the rest. */
export const LEAST_ACCOUNT_BYTES = 64 * 1024
/** Keys that every account may claim in any case. */
export const LEAST_CLAIMS = 1_000

/** The room in a Redis without limits. */
export const ALL_ROOM: Room = {
  answerBytes: (most) => most,
  leftBytes: (most) => most,
  claims: (most) => most,
  taking: () => undefined,
}

/** Creates the room of one process. */
export function createRoom({ state, fullShare, processes }: RoomOptions): Room {
  let seen = state()
  /** Bytes sent since the last check, and between the last two: the last check may have missed data in transit. */
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
