/** Measures the tokens per second of each target's answers. Old values lose weight. */
import type { Clock } from '@/lib/clock'
import type { IsGone } from './renewal'

export interface Throughputs {
  /** A complete answer had this many output tokens, in this many milliseconds since the call began. */
  note(id: string, tokens: number, milliseconds: number): void
  /** Average tokens per second. Undefined without recent measurements. */
  usual(id: string): number | undefined
  forget(isGone: IsGone): void
}

/** The weight of the latest answer in the average. */
const SMOOTHING = 0.2
/** An older measurement is ignored. */
const FORGOTTEN_AFTER_MS = 10 * 60_000
/** A shorter answer's duration is mostly the time until it began. */
const MIN_TOKENS = 32

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
