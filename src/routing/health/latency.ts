/** Remembers how long targets usually take until their answer begins: an average in which the past fades. */
import type { Clock } from '@/lib/clock'

export interface Latencies {
  note(id: string, stream: boolean, milliseconds: number): void
  /** Undefined where nothing was noted lately. */
  usual(id: string, stream: boolean): number | undefined
}

/** The weight of the latest call in the average. */
const SMOOTHING = 0.2
/** What nobody has measured for this long is no longer believed, so that a slow target gets another chance. */
export const FORGOTTEN_AFTER_MS = 10 * 60_000

type Average = { averageMs: number; atMs: number }

/** Knows nothing yet. Streams and complete answers are kept apart: the latter begin when they are finished. */
export function createLatencies(clock: Clock): Latencies {
  const streams = new Map<string, Average>()
  const wholes = new Map<string, Average>()
  return {
    note(id, stream, milliseconds) {
      const averages = stream ? streams : wholes
      const entry = averages.get(id)
      const atMs = clock.monotonic()
      if (!entry || atMs - entry.atMs > FORGOTTEN_AFTER_MS) averages.set(id, { averageMs: milliseconds, atMs })
      else {
        entry.averageMs += SMOOTHING * (milliseconds - entry.averageMs)
        entry.atMs = atMs
      }
    },
    usual(id, stream) {
      const entry = (stream ? streams : wholes).get(id)
      return entry && clock.monotonic() - entry.atMs <= FORGOTTEN_AFTER_MS ? entry.averageMs : undefined
    },
  }
}
