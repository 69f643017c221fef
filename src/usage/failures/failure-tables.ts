/** Requests that were not answered, as the history keeps them for a week: written in one go, and forgotten. */
import { lt, sql } from 'drizzle-orm'
import type { FormatName } from '@/chat/format-name'
import type { Database } from '@/db/client'
import { FAILURE_DAYS, failedRequestCounts, failedRequests } from '@/db/failure-schema'

/** One request in the list; `words` and `param` hold nothing of what it said. */
export type ListedFailure = {
  requestId: string
  accountId: string
  keyId: string
  /** Milliseconds since 1970. */
  atMs: number
  format: FormatName
  model: string | null
  status: number
  code: string
  param: string | null
  words: string
}

/** How many there were of one kind in an hour, listed or not. */
export type FailureCount = {
  accountId: string
  /** The beginning of the hour, milliseconds since 1970. */
  hourMs: number
  keyId: string
  status: number
  code: string
  requests: number
}

const MS_PER_DAY = 86_400_000
/** Rows of one statement. */
const BATCH_SIZE = 500

/** Writes both in one transaction. Rows are taken in one order, so that two gateways don't wait for each other in a circle. */
export async function writeFailures(
  { db }: Database,
  listed: readonly ListedFailure[],
  counts: readonly FailureCount[],
): Promise<void> {
  const ordered = counts.toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
  await db.transaction(async (transaction) => {
    for (const batch of batchesOf(listed)) {
      const rows = batch.map(({ atMs, ...row }) => ({ ...row, failedAt: new Date(atMs) }))
      await transaction.insert(failedRequests).values(rows).onConflictDoNothing()
    }
    for (const batch of batchesOf(ordered)) {
      const { accountId, hour, keyId, status, code, requests } = failedRequestCounts
      await transaction
        .insert(failedRequestCounts)
        .values(batch.map(({ hourMs, ...row }) => ({ ...row, hour: new Date(hourMs) })))
        .onConflictDoUpdate({
          target: [accountId, hour, keyId, status, code],
          set: { requests: sql`${requests} + excluded.requests` },
        })
    }
  })
}

/** Deletes what is older than {@link FAILURE_DAYS} days at `nowMs`. */
export async function forgetOldFailures({ db }: Database, nowMs: number): Promise<void> {
  const oldest = new Date(nowMs - FAILURE_DAYS * MS_PER_DAY)
  await db.delete(failedRequests).where(lt(failedRequests.failedAt, oldest))
  await db.delete(failedRequestCounts).where(lt(failedRequestCounts.hour, oldest))
}

function placeOf({ accountId, hourMs, keyId, status, code }: FailureCount): string {
  return [accountId, hourMs, keyId, status, code].join(' ')
}

function batchesOf<T>(rows: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / BATCH_SIZE) }, (_, batch) =>
    rows.slice(batch * BATCH_SIZE, (batch + 1) * BATCH_SIZE),
  )
}
