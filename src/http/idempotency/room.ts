/**
 * The share of the store for stored answers and claims: the fuller it is, the less. The ledger uses the same memory and must
 * never lack it.
 */

/** The store's memory at the last look; a new object for each look. */
type StoreMemory = {
  /** Of its memory, the part in use. */
  memoryShare: number
  /** Bytes of its memory; 0 if nothing limits it. */
  memoryLimit: number
}

export interface Room {
  /** The bytes with which an account may still keep one answer more, of the most that it may have. */
  answerBytes(most: number): number
  /** The bytes that an account has to give back to, by what the last look has seen and not by what may be on its way. */
  leftBytes(most: number): number
  /** The keys that an account may have claimed now, likewise. */
  claims(most: number): number
  /** So many bytes are on their way to the store, and no look has seen them yet. */
  taking(bytes: number): void
}

type RoomOptions = {
  state: () => StoreMemory
  /** The part of the memory beyond which the store takes no paid request. */
  fullShare: number
  /** How many processes write as this one does, and are not seen from here. */
  processes: number
}

/** Of the part up to which the store takes requests: from here on, accounts keep only {@link LEAST_ACCOUNT_BYTES}. */
export const ANSWERS_SHARE = 0.5
/** Likewise: from here on they keep nothing more, and claim no more than {@link LEAST_CLAIMS}. */
const CLAIMS_SHARE = 0.75
/** What an account may keep while others have taken the rest. */
export const LEAST_ACCOUNT_BYTES = 64 * 1024
/** So many keys an account may claim in any case. */
export const LEAST_CLAIMS = 1_000

/** For a store that nothing limits. */
export const ALL_ROOM: Room = {
  answerBytes: (most) => most,
  leftBytes: (most) => most,
  claims: (most) => most,
  taking: () => undefined,
}

/** Creates the room of one process. */
export function createRoom({ state, fullShare, processes }: RoomOptions): Room {
  let seen = state()
  /** Since the last look and since the one before: the last one may have come too soon for what was on its way. */
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
