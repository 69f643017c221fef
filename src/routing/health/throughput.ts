/** Remembers how many tokens a second the answers of each target come to. The past fades. */
import type { Clock } from '@/lib/clock'
import type { IsGone } from './renewal'

export interface Throughputs {
  /** An answer is complete: so many tokens of output, in so many milliseconds since the call began. */
  note(id: string, tokens: number, milliseconds: number): void
  /** Tokens a second, on average. Undefined if nothing was noted lately. */
  usual(id: string): number | undefined
  forget(isGone: IsGone): void
}

/** The weight of the latest answer in the average. */
const SMOOTHING = 0.2
/** An older measurement is ignored. */
const FORGOTTEN_AFTER_MS = 10 * 60_000
/** A shorter answer says how long its beginning took, and nothing of what follows. */
const MIN_TOKENS = 32

/** Knows nothing yet. */
export function createThroughputs(clock: Clock): Throughputs {
  const known = new Map<string, { average: number; atMs: number }>()

  function recent(id: string) {
    const entry = known.get(id)
    return entry && clock.monotonic() - entry.atMs <= FORGOTTEN_AFTER_MS ? entry : undefined
  }

  return {
    note(id, tokens, milliseconds) {
      if (tokens < MIN_TOKENS || milliseconds <= 0) return
      const perSecond = (tokens * 1000) / milliseconds
      const atMs = clock.monotonic()
      const entry = recent(id)
      if (!entry) known.set(id, { average: perSecond, atMs })
      else {
        entry.average += SMOOTHING * (perSecond - entry.average)
        entry.atMs = atMs
      }
    },
    usual: (id) => recent(id)?.average,
    forget(isGone) {
      for (const id of known.keys()) if (isGone(id)) known.delete(id)
    },
  }
}
