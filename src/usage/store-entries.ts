import { databaseFailure, describeFailure } from '@/db/failure'
import type { StreamEntry } from '@/ledger/records/record-streams'
import { parseUsageRecord, type UsageRecord } from '@/ledger/usage-record'
import { slicesOf } from '@/lib/wait/slices'
import { RECORDS_PER_TURN } from './totals'

/** An entry that can't be stored, and why; `record` is set if it could be parsed. */
export type Suspect = { entry: StreamEntry; record: UsageRecord | undefined; reason: string }

type StoreResult = {
  stored: StreamEntry[]
  suspects: Suspect[]
  inserted: number
  records: UsageRecord[]
}

/** Maximum repeats of a transaction after a conflict (deadlock, serialization). */
const MAX_CONFLICTS = 5

/** Writes records in one transaction and returns how many were new. Must end in bounded time. */
type WriteRecords = (records: readonly UsageRecord[]) => Promise<number>

/** Turns `entries` into records and stores them with `write`; finds an invalid one by halving the list. Throws if the database fails. */
export async function storeEntries(write: WriteRecords, entries: readonly StreamEntry[]): Promise<StoreResult> {
  const result: StoreResult = { stored: [], suspects: [], inserted: 0, records: [] }
  const readable: ReadableEntry[] = []
  for await (const slice of slicesOf(entries, RECORDS_PER_TURN))
    for (const entry of slice) {
      const record = parseUsageRecord(entry.fields)
      if (record) readable.push({ entry, record })
      else result.suspects.push({ entry, record: undefined, reason: 'not a usage record' })
    }
  await storeReadable(write, readable, result)
  return result
}

type ReadableEntry = { entry: StreamEntry; record: UsageRecord }

async function storeReadable(
  write: WriteRecords,
  readable: readonly ReadableEntry[],
  result: StoreResult,
): Promise<void> {
  if (readable.length === 0) return
  const records = readable.map(({ record }) => record)
  try {
    result.inserted += await writeWithRetries(write, records)
    for (const { entry, record } of readable) {
      result.stored.push(entry)
      result.records.push(record)
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

async function writeWithRetries(write: WriteRecords, records: readonly UsageRecord[]): Promise<number> {
  for (let conflicts = 1; ; conflicts++) {
    try {
      return await write(records)
    } catch (error) {
      if (databaseFailure(error) !== 'conflict' || conflicts === MAX_CONFLICTS) throw error
    }
  }
}
