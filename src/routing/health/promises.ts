/**
 * Keeps what providers asked for by `retry-after`: for so long the target is not called with that key, even where nothing else is
 * left. A rest of the key alone is our own guess at other targets, which may well have limits of their own.
 */
import type { ProviderKey, Target } from '@/catalog/types'
import type { Clock } from '@/lib/clock'
import type { IsGone } from './renewal'
import { targetId } from './target-id'

export interface Promises {
  /** The target asked to be left alone with this key for `forMs`. Never shortens what it asked for before. */
  keep(target: Target, key: ProviderKey, forMs: number): void
  /** Milliseconds for which it is left alone still; 0 where it asked for nothing. */
  remainingMs(target: Target, key: ProviderKey): number
  forget(isGone: IsGone): void
  /** Another gateway was asked so. */
  adopt(id: string, forMs: number): void
}

/** Creates the memory of one process; `onKept` tells the other gateways. */
export function createPromises(clock: Clock, onKept: (id: string, forMs: number) => void = () => undefined): Promises {
  const untilMs = new Map<string, number>()

  function adopt(id: string, forMs: number): boolean {
    const nowMs = clock.monotonic()
    if ((untilMs.get(id) ?? 0) >= nowMs + forMs) return false
    untilMs.set(id, nowMs + forMs)
    return true
  }

  return {
    keep(target, key, forMs) {
      const id = promiseId(target, key)
      if (adopt(id, forMs)) onKept(id, forMs)
    },
    remainingMs(target, key) {
      if (untilMs.size === 0) return 0
      return Math.max(0, (untilMs.get(promiseId(target, key)) ?? 0) - clock.monotonic())
    },
    forget(isGone) {
      for (const id of untilMs.keys()) if (isGone(id)) untilMs.delete(id)
    },
    adopt,
  }
}

/** `provider/upstream model digest of the key`. */
function promiseId(target: Target, key: ProviderKey): string {
  return `${targetId(target)} ${key.id}`
}
