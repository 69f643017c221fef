import type { ProviderKey, Target } from '@/catalog/types'
import type { Clock } from '@/lib/clock'
import { createPerAccount } from './per-account'
import type { IsGone } from './renewal'
import { targetId } from './target-id'

export interface BackoffWindows {
  /** Notes that the target requested a pause with this key, for all accounts or one. Never shortens an earlier pause. */
  keep(target: Target, key: ProviderKey, forMs: number, accountId?: string): void
  /** Milliseconds of the account's remaining pause, or 0. */
  remainingMs(target: Target, key: ProviderKey, accountId: string): number
  forget(isGone: IsGone): void
  adopt(id: string, forMs: number): void
}

/** Remembers pauses that targets requested (`retry-after`), per target and key. Even a last resort obeys them. `onKept` shares them. */
export function createBackoffWindows(
  clock: Clock,
  onKept: (id: string, forMs: number) => void = () => undefined,
): BackoffWindows {
  const untilMs = new Map<string, number>()
  let own = createPerAccount<number>()

  function prolong(known: Map<string, number>, id: string, forMs: number): boolean {
    const nowMs = clock.monotonic()
    if ((known.get(id) ?? 0) >= nowMs + forMs) return false
    known.set(id, nowMs + forMs)
    return true
  }

  return {
    keep(target, key, forMs, accountId) {
      const id = windowId(target, key)
      if (accountId !== undefined) prolong(own.of(accountId), id, forMs)
      else if (prolong(untilMs, id, forMs)) onKept(id, forMs)
    },
    remainingMs(target, key, accountId) {
      const ofAccount = own.find(accountId)
      if (untilMs.size === 0 && !ofAccount) return 0
      const id = windowId(target, key)
      return Math.max(0, Math.max(untilMs.get(id) ?? 0, ofAccount?.get(id) ?? 0) - clock.monotonic())
    },
    forget(isGone) {
      for (const id of untilMs.keys()) if (isGone(id)) untilMs.delete(id)
      own = createPerAccount()
    },
    adopt: (id, forMs) => void prolong(untilMs, id, forMs),
  }
}

/** The id is `<provider>/<upstream model> <digest of the key>`. */
function windowId(target: Target, key: ProviderKey): string {
  return `${targetId(target)} ${key.id}`
}
