/**
 * Calls that go on although their client has gone, within bounds: so many at once of each provider, and each for so long. What
 * they used is only known at their end.
 */
import type { Provider } from '@/catalog/types'

/** Counts the calls that are read on, per provider. */
export interface DrainSlots {
  /** Takes a slot and returns the way to give it back, or undefined where all are taken. */
  take(provider: string, limit: number): (() => void) | undefined
}

/** Creates the slots of one process. */
export function createDrainSlots(): DrainSlots {
  const taken = new Map<string, number>()
  return {
    take(provider, limit) {
      const count = taken.get(provider) ?? 0
      if (count >= limit) return undefined
      taken.set(provider, count + 1)
      return () => taken.set(provider, (taken.get(provider) ?? 1) - 1)
    },
  }
}

/** What becomes of a call for an answer in one piece when its client leaves. */
export type ReadingOn = {
  /** Lets the call go on where there is a slot, and ends it otherwise, or when its time is over. */
  leave(end: () => void): void
  /** Whether the call goes on without its client. */
  isUnderWay(): boolean
  /** The call is over: its slot is free again. */
  over(): void
}

/** Where calls of this process are found that have to end with it. */
export type Streams = { add(interrupt: () => void): () => void }

/** Prepares to read on one call of a provider; undefined where its policy forbids it. */
export function createReadingOn(
  { drains, streams }: { drains: DrainSlots; streams: Streams },
  { name, onDisconnect }: Provider,
): ReadingOn | undefined {
  if (onDisconnect.kind === 'abort') return undefined
  const { maxMs, maxConcurrent } = onDisconnect
  let free: (() => void) | undefined
  function over(): void {
    free?.()
    free = undefined
  }
  return {
    leave(end) {
      const giveBack = drains.take(name, maxConcurrent)
      if (!giveBack) return end()
      function stop(): void {
        over()
        end()
      }
      const timer = setTimeout(stop, maxMs)
      const unregister = streams.add(stop)
      free = () => {
        clearTimeout(timer)
        unregister()
        giveBack()
      }
    },
    isUnderWay: () => free !== undefined,
    over,
  }
}
