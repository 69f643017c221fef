/**
 * The age of the oldest usage record that waits for the history, as one flusher knows it: from expected and held records, and
 * from an occasional look at streams that no gateway reads. A look costs a command for each stream with records, so an idle
 * store is not asked.
 */
import { appendedMs, type StreamEntry } from '@/ledger/records/record-streams'

interface RecordLag {
  /** A record was appended and not read yet. */
  expected(): void
  /** A read begins: what was expected is in it, unless it fails. Returns the function to call at its end. */
  reading(): (entries: readonly StreamEntry[] | undefined, isMoreLeft: boolean) => void
  /** What was read is in the history, or has been put aside. */
  carried(): void
  /** Looks at streams with records, where that is due. `oldestMs` tells when the oldest one was appended. */
  look(streams: readonly string[], oldestMs: (streams: readonly string[]) => Promise<number | undefined>): Promise<void>
  /** The age of the oldest record now, in seconds; 0 if none is known to wait. */
  seconds(): number
}

/** Younger ones are being carried by a worker. */
const ABANDONED_MS = 5_000
/** How often is looked while nothing was found; as often as the caller counts while something was. */
const LOOK_INTERVAL_MS = 10_000

/** Creates the lag of one flusher. Ages are reckoned between the store's clock and `now`, that of this machine. */
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
