import type { Database } from '@/db/client'
import { type PageRequest, pageSize } from '@/db/paging'
import { MS_PER_DAY } from '@/lib/clock'
import type { Nano } from '@/lib/money'
import { fromCursor, tellRecord, toCursor } from './listed-record'
import { findLookAlikes } from './look-alikes'
import { searchRecords } from './record-search'

/** `toMs` is exclusive; without `fromMs`, the last 30 days. */
export type RequestSearch = PageRequest & {
  accountId: string
  fromMs?: number
  toMs?: number
  cost?: Nano
  tag?: string
}

const DEFAULT_DAYS = 30
const BUDGET_MS = 10_000

/** One page of an account's charged requests for administrators, newest first, each with its possible duplicate, if there is one. */
export async function listRequests(database: Database, search: RequestSearch, nowMs: number) {
  const { cursor, limit: _, fromMs = nowMs - DEFAULT_DAYS * MS_PER_DAY, toMs = nowMs + MS_PER_DAY, ...filter } = search
  const options = { after: fromCursor(cursor), limit: pageSize(search), budgetMs: BUDGET_MS }
  const page = await searchRecords(database, { ...filter, fromMs, toMs }, options)
  const alike = await findLookAlikes(database, filter.accountId, page.records)
  return {
    items: page.records.map((record) => {
      const { requestId, settledAt, keyId, memberId, model, status, cost, tags, rule, flags } = tellRecord(record)
      return {
        ...{ requestId, at: settledAt, keyId, keyName: record.keyName, memberId, model, status, costUsd: cost },
        ...{ inputTokens: record.inputTokens, outputTokens: record.outputTokens, rule, flags, tags },
        sameAs: alike.get(record.recordId) ?? null,
      }
    }),
    searchedTo: isoOf(page.searchedToMs),
    archivedBefore: isoOf(page.archivedBeforeMs),
    nextCursor: page.next && toCursor(page.next),
  }
}

function isoOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString()
}
