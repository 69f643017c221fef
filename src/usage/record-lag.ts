/**
 * The age of the oldest usage record waiting for Postgres, as one flusher knows it: from its own records, and from an occasional check of
 * streams that no gateway reads. A check costs a command for each stream with records, so an idle Redis is not checked.
 */
import { appendedMs, type StreamEntry } from '@/ledger/records/record-streams'

interface RecordLag {
  /** A record was appended and not read yet. */
  expected(): void
  /** A read begins that will return all expected records, unless it fails. Returns the function to call at its end. */
  reading(): (entries: readonly StreamEntry[] | undefined, isMoreLeft: boolean) => void
  /** The records read are now in Postgres or dead letters. */
  carried(): void
  /** Checks streams with records if due. `oldestMs` returns when the oldest one was appended. */
  look(streams: readonly string[], oldestMs: (streams: readonly string[]) => Promise<number | undefined>): Promise<void>
  /** The current age of the oldest known record in seconds; 0 if none waits. */
  seconds(): number
}

/** A record of this age is abandoned. A worker is still handling younger records. */
const ABANDONED_MS = 5_000
/** The interval of checks while no abandoned record is known; otherwise each call checks. */
const LOOK_INTERVAL_MS = 10_000

/** Creates the lag of one flusher. Ages compare the time in Redis with `now` on this machine. */
export function createRecordLag(now: () => number = Date.now): RecordLag {
  let expectedMs: number | undefined
  let heldMs: number | undefined
  let abandonedMs: number | undefined
  let lookedMs = Number.NEGATIVE_INFINITY

  return {
    expected() {
      expectedMs ??= now()
    },
    reading() {
      const before = expectedMs
      expectedMs = undefined
      return (entries, isMoreLeft) => {
        if (!entries) {
          expectedMs = before ?? expectedMs
          return
        }
        if (entries.length > 0) heldMs = Math.min(...entries.map(({ id }) => appendedMs(id)))
        // The rest of a stream is younger than the entries read from it.
        if (isMoreLeft) expectedMs ??= heldMs ?? before
      }
    },
    carried() {
      heldMs = undefined
    },
    async look(streams, oldestMs) {
      const isDue = abandonedMs !== undefined || performance.now() >= lookedMs + LOOK_INTERVAL_MS
      if (streams.length > 0 && !isDue) return
      lookedMs = performance.now()
      const oldest = streams.length > 0 ? await oldestMs(streams) : undefined
      abandonedMs = oldest !== undefined && now() - oldest > ABANDONED_MS ? oldest : undefined
    },
    seconds() {
      const oldest = Math.min(expectedMs ?? Infinity, heldMs ?? Infinity, abandonedMs ?? Infinity)
      return oldest === Infinity ? 0 : Math.max(0, now() - oldest) / 1000
    },
  }
}
