/** Failed requests in Postgres, which are kept for thirty days. */
import { and, inArray, isNotNull, lt, sql } from 'drizzle-orm'
import type { FormatName } from '@/chat/format-name'
import type { Database } from '@/db/client'
import {
  failedRequestCounts,
  failedRequestDays,
  failedRequests,
  oldestFailureMs,
  startOfDay,
} from '@/db/failure-schema'
import { apiKeys } from '@/db/schema'

/** One failed request in the list; `words` and `param` contain no content of the request. */
export type ListedFailure = {
  requestId: string
  accountId: string
  keyId: string
  /** The acting member for a key without an owner; otherwise ''. */
  memberId: string
  /** Milliseconds since 1970. */
  atMs: number
  format: FormatName
  model: string | null
  status: number
  code: string
  param: string | null
  words: string
  /** The provider's id; null if no provider was called, or it sent none. */
  providerRequestId: string | null
}

/** The number of requests of one kind on a UTC day, listed or not. */
export type FailureCount = {
  accountId: string
  /** The beginning of the day, milliseconds since 1970. */
  dayMs: number
  keyId: string
  memberId: string
  status: number
  code: string
  requests: number
}

/** An account on a UTC day, in milliseconds since 1970. */
type AccountDay = { accountId: string; dayMs: number }

/** Maximum listed requests of an account per day, by all gateways together. */
export const MAX_LISTED_PER_DAY = 10_000
const BATCH_SIZE = 500

/** Writes requests and counts in one transaction and returns full days ({@link MAX_LISTED_PER_DAY}). Rows are locked in a fixed order. */
export async function writeFailures(
  { db }: Database,
  listed: readonly ListedFailure[],
  counts: readonly FailureCount[],
): Promise<AccountDay[]> {
  return await db.transaction(async (transaction) => {
    const days = await lockDays(transaction, listed)
    const withMember = await memberFinder(transaction, counts)
    const inserted = await insertListed(transaction, withinLimit(listed, days).map(withMember))
    const [ofKind, ofDay] = [tally(inserted.map(kindOf)), tally(inserted.map(dayName))]
    await addCounts(
      transaction,
      inOrder(counts.map(withMember), kindOf).map((count) => ({ ...count, kept: ofKind.get(kindOf(count)) ?? 0 })),
    )
    const moved = [...days.values()].map((day) => ({ ...day, kept: day.kept + (ofDay.get(dayName(day)) ?? 0) }))
    await writeDays(transaction, moved)
    return moved.filter((day) => day.kept >= MAX_LISTED_PER_DAY)
  })
}

/** Deletes counts older than thirty days at `nowMs`; requests are deleted with their partitions. */
export async function forgetOldCounts({ db }: Database, nowMs: number): Promise<void> {
  const oldest = new Date(oldestFailureMs(nowMs))
  await db.delete(failedRequestCounts).where(lt(failedRequestCounts.day, oldest))
  await db.delete(failedRequestDays).where(lt(failedRequestDays.day, dateOf(oldest.getTime())))
}

type Transaction = Parameters<Parameters<Database['db']['transaction']>[0]>[0]
type Day = AccountDay & { kept: number }
type Kind = Omit<FailureCount, 'requests'>

/** Locks the days of `listed` until the end of the transaction, and returns them with the number of listed requests. */
async function lockDays(transaction: Transaction, listed: readonly ListedFailure[]): Promise<Map<string, Day>> {
  const days = new Map(
    listed.map(({ accountId, atMs }) => {
      const day = { accountId, dayMs: startOfDay(atMs), kept: 0 }
      return [dayName(day), day]
    }),
  )
  const rows = await writeDays(transaction, [...days.values()])
  for (const { accountId, day, kept } of rows) {
    const locked = { accountId, dayMs: Date.parse(day), kept }
    days.set(dayName(locked), locked)
  }
  return days
}

/** Writes each day's number of listed requests, which never decreases. Returns the new days. */
async function writeDays(transaction: Transaction, days: readonly Day[]) {
  const { accountId, day, kept } = failedRequestDays
  const rows: (typeof failedRequestDays.$inferSelect)[] = []
  for (const batch of batchesOf(inOrder(days, dayName))) {
    const written = transaction
      .insert(failedRequestDays)
      .values(batch.map(({ dayMs, ...own }) => ({ ...own, day: dateOf(dayMs) })))
      .onConflictDoUpdate({ target: [accountId, day], set: { kept: sql`greatest(${kept}, excluded.kept)` } })
      .returning()
    rows.push(...(await written))
  }
  return rows
}

function withinLimit(listed: readonly ListedFailure[], days: ReadonlyMap<string, Day>): ListedFailure[] {
  const room = new Map([...days].map(([name, { kept }]) => [name, MAX_LISTED_PER_DAY - kept]))
  return listed.filter(({ accountId, atMs }) => {
    const name = dayName({ accountId, dayMs: startOfDay(atMs) })
    const left = room.get(name) ?? 0
    room.set(name, left - 1)
    return left > 0
  })
}

/** Finds the owner of each row's key. All keys of the list are in the counts too. */
async function memberFinder(transaction: Transaction, counts: readonly FailureCount[]) {
  const keyIds = [...new Set(counts.map(({ keyId }) => keyId))]
  const isAsked = and(inArray(apiKeys.id, keyIds), isNotNull(apiKeys.createdBy))
  const rows = await transaction.select({ keyId: apiKeys.id, owner: apiKeys.createdBy }).from(apiKeys).where(isAsked)
  const owners = new Map(rows.map(({ keyId, owner }) => [keyId, owner]))
  return <T extends { keyId: string; memberId: string }>(row: T): T => {
    const owner = owners.get(row.keyId)
    return owner ? { ...row, memberId: owner } : row
  }
}

async function insertListed(transaction: Transaction, listed: readonly ListedFailure[]): Promise<Kind[]> {
  const { accountId, failedAt, keyId, memberId, status, code } = failedRequests
  const inserted: Kind[] = []
  for (const batch of batchesOf(listed)) {
    const rows = await transaction
      .insert(failedRequests)
      .values(batch.map(({ atMs, ...row }) => ({ ...row, failedAt: new Date(atMs) })))
      .onConflictDoNothing()
      .returning({ accountId, failedAt, keyId, memberId, status, code })
    inserted.push(...rows.map((row) => ({ ...row, dayMs: startOfDay(row.failedAt.getTime()) })))
  }
  return inserted
}

async function addCounts(transaction: Transaction, sums: readonly (FailureCount & { kept: number })[]): Promise<void> {
  const { accountId, day, keyId, memberId, status, code, requests, kept } = failedRequestCounts
  for (const batch of batchesOf(sums)) {
    await transaction
      .insert(failedRequestCounts)
      .values(batch.map(({ dayMs, ...row }) => ({ ...row, day: new Date(dayMs) })))
      .onConflictDoUpdate({
        target: [accountId, day, keyId, memberId, status, code],
        set: { requests: sql`${requests} + excluded.requests`, kept: sql`${kept} + excluded.kept` },
      })
  }
}

function dayName({ accountId, dayMs }: AccountDay): string {
  return `${accountId} ${dayMs}`
}

/** The identity of a row of counts. */
export function kindOf({ accountId, dayMs, keyId, memberId, status, code }: Kind): string {
  return [accountId, dayMs, keyId, memberId, status, code].join(' ')
}

function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

function inOrder<T>(rows: readonly T[], nameOf: (row: T) => string): T[] {
  return rows.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
}

function batchesOf<T>(rows: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(rows.length / BATCH_SIZE) }, (_, batch) =>
    rows.slice(batch * BATCH_SIZE, (batch + 1) * BATCH_SIZE),
  )
}
