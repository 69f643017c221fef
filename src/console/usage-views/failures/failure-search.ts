/** An account's failed requests of the last thirty days: individually, newest first, and counted by kind. */
import type { Sql } from 'postgres'
import { readKeyNames } from '@/console/usage-views/names'
import type { Fragment, Sight } from '@/console/usage-views/usage-filter'
import type { Database } from '@/db/client'
import { oldestFailureMs } from '@/db/failure-schema'
import { countUpTo, type Page, type PageRequest, page, textLike } from '@/db/paging'

/** Undefined fields match everything. */
export type FailureFilter = Sight & { keyId?: string; status?: number; code?: string }

export type FoundFailure = {
  requestId: string
  keyId: string
  /** Null if the key is unknown. */
  keyName: string | null
  atMs: number
  format: string
  model: string | null
  status: number
  code: string
  param: string | null
  words: string
  /** The provider's id; null if no provider was called, or it sent none. */
  providerRequestId: string | null
}

/** Number of requests of one kind. The list contains `kept` of them. */
type FailureSum = { status: number; code: string; requests: number; kept: number }

export type FailureSearch = FailureFilter & PageRequest

type FailureRow = Omit<FoundFailure, 'keyName'>

/** One page of the list. Throws `invalid_request` for an invalid cursor. */
export async function searchFailures(
  database: Database,
  search: FailureSearch,
  nowMs: number,
): Promise<Page<FoundFailure>> {
  const { sql } = database
  // The index alone gives the page's positions. Rows are read only for the page.
  const { items, nextCursor } = await page(search, {
    checks: PLACE,
    read: (after, limit) => sql<
      FailureRow[]
    >`SELECT ${columns(sql)} FROM (SELECT request_id, failed_at FROM failed_requests
      WHERE ${conditions(sql, search, nowMs)} ${comesAfter(sql, after)}
      ORDER BY failed_at DESC, request_id DESC LIMIT ${limit}) AS page
    JOIN failed_requests USING (request_id, failed_at) ORDER BY failed_at DESC, request_id DESC`,
    placeOf: ({ atMs, requestId }) => [atMs, requestId],
    toItem: (row) => row,
  })
  return { items: await named(database, search.accountId, items), nextCursor }
}

/** The failed request with this id, ours or the provider's (the latest match); undefined if there is none or it was not stored. */
export async function findFailure(
  database: Database,
  sight: Sight,
  requestId: string,
  nowMs: number,
): Promise<FoundFailure | undefined> {
  const { sql } = database
  const rows = await sql<FailureRow[]>`SELECT ${columns(sql)} FROM failed_requests
    WHERE ${conditions(sql, sight, nowMs)} AND ${isCalled(sql, requestId)}
    ${nearestFirst(sql, requestId)}`
  return (await named(database, sight.accountId, rows))[0]
}

/** The account of the failed request with this id, for operators; undefined if none was stored. */
export async function findFailureOwner({ sql }: Database, requestId: string): Promise<string | undefined> {
  const [row] = await sql<{ account_id: string }[]>`
    SELECT account_id FROM failed_requests WHERE ${isCalled(sql, requestId)} ${nearestFirst(sql, requestId)}`
  return row?.account_id
}

/** Number of requests by kind, most frequent first. */
export async function sumFailures({ sql }: Database, filter: FailureFilter, nowMs: number): Promise<FailureSum[]> {
  const rows = await sql<FailureSum[]>`SELECT status, code, sum(requests)::bigint AS requests,
      sum(kept)::bigint AS kept FROM failed_request_counts
    WHERE account_id = ${filter.accountId} AND hour >= ${oldest(nowMs)}::text::timestamptz ${kindConditions(sql, filter)}
    GROUP BY status, code ORDER BY requests DESC, status, code`
  return [...rows]
}

function isCalled(sql: Sql, id: string): Fragment {
  return sql`(request_id = ${id} OR provider_request_id = ${id})`
}

function nearestFirst(sql: Sql, id: string): Fragment {
  return sql`ORDER BY request_id = ${id} DESC, failed_at DESC LIMIT 1`
}

function columns(sql: Sql): Fragment {
  return sql`request_id AS "requestId", key_id AS "keyId", (extract(epoch FROM failed_at) * 1000)::bigint AS "atMs",
    format, model, status, code, param, words,
    provider_request_id AS "providerRequestId"`
}

function conditions(sql: Sql, filter: FailureFilter, nowMs: number): Fragment {
  return sql`account_id = ${filter.accountId} AND failed_at >= ${oldest(nowMs)}::text::timestamptz ${kindConditions(sql, filter)}`
}

function kindConditions(sql: Sql, filter: FailureFilter): Fragment {
  const { madeBy, keyId, status, code } = filter
  return sql`${madeBy === undefined ? sql`` : sql`AND member_id = ${madeBy}`} ${keyId === undefined ? sql`` : sql`AND key_id = ${keyId}`}
    ${status === undefined ? sql`` : sql`AND status = ${status}`}
    ${code === undefined ? sql`` : sql`AND code = ${code}`}`
}

function oldest(nowMs: number): string {
  return new Date(oldestFailureMs(nowMs)).toISOString()
}

/** The last millisecond of the year 9999. */
const LATEST_MS = 253_402_300_799_999
/** Schema of a cursor: a time in milliseconds, and a request id. */
const PLACE = [countUpTo(LATEST_MS), textLike(/^[\x21-\x7e]{1,200}$/)] satisfies [unknown, unknown]

function comesAfter(sql: Sql, place: [atMs: number, requestId: string] | undefined): Fragment {
  if (!place) return sql``
  const at = sql`('1970-01-01 00:00:00+00'::timestamptz + ${place[0]}::text::bigint * interval '1 millisecond')`
  return sql`AND (failed_at, request_id) < (${at}, ${place[1]}::text)`
}

async function named(database: Database, accountId: string, rows: readonly FailureRow[]): Promise<FoundFailure[]> {
  const names = await readKeyNames(
    database,
    accountId,
    rows.map(({ keyId }) => keyId),
  )
  return rows.map((row) => ({ ...row, keyName: names.get(row.keyId) ?? null }))
}
