/** From stream entries to records: parses, writes, and finds the one entry that spoils a batch by halving it. */
import { databaseFailure, describeFailure } from '@/db/failure'
import { parseUsageEvent, type UsageEvent } from '@/ledger/usage-event'
import type { StreamEntry } from './shard-streams'

/** An entry that can't become a record, and why; `event` where it could at least be read. */
export type Suspect = { entry: StreamEntry; event: UsageEvent | undefined; reason: string }

type StoreResult = {
  /** Entries whose events are in the history now, whoever put them there. */
  stored: StreamEntry[]
  suspects: Suspect[]
  /** Records that were really new. */
  inserted: number
  /** The events of `stored`. */
  events: UsageEvent[]
}

/** Transactions that lose a race (deadlock, serialization) are repeated this often before the batch waits. */
const MAX_CONFLICTS = 5

/** Writes events in one transaction and returns how many were new. Has to answer or reject in bounded time. */
type WriteEvents = (events: readonly UsageEvent[]) => Promise<number>

/** Stores `entries` by `write`. Throws where the database is at fault; then nothing or some of it was written. */
export async function storeEntries(write: WriteEvents, entries: readonly StreamEntry[]): Promise<StoreResult> {
  const result: StoreResult = { stored: [], suspects: [], inserted: 0, events: [] }
  const readable: ReadableEntry[] = []
  for (const entry of entries) {
    const event = parseUsageEvent(entry.fields)
    if (event) readable.push({ entry, event })
    else result.suspects.push({ entry, event: undefined, reason: 'not a usage event' })
  }
  await storeReadable(write, readable, result)
  return result
}

type ReadableEntry = { entry: StreamEntry; event: UsageEvent }

async function storeReadable(
  write: WriteEvents,
  readable: readonly ReadableEntry[],
  result: StoreResult,
): Promise<void> {
  if (readable.length === 0) return
  const events = readable.map(({ event }) => event)
  try {
    result.inserted += await writeWithRetries(write, events)
    for (const { entry, event } of readable) {
      result.stored.push(entry)
      result.events.push(event)
    }
  } catch (error) {
    if (databaseFailure(error) !== 'data') throw error
    const [only, second] = readable
    if (only && second === undefined) {
      result.suspects.push({ ...only, reason: describeFailure(error) })
      return
    }
    const middle = Math.ceil(readable.length / 2)
    await storeReadable(write, readable.slice(0, middle), result)
    await storeReadable(write, readable.slice(middle), result)
  }
}

async function writeWithRetries(write: WriteEvents, events: readonly UsageEvent[]): Promise<number> {
  for (let conflicts = 1; ; conflicts++) {
    try {
      return await write(events)
    } catch (error) {
      if (databaseFailure(error) !== 'conflict' || conflicts === MAX_CONFLICTS) throw error
    }
  }
}
