/** All views that an account has of its usage, as one dependency of the routes. */
import { GatewayError, invalidRequest } from '@/chat/error'
import { readStatement, type StatementPage } from '@/console/usage-views/account-statement/read-statement'
import type { StatementPeriod } from '@/console/usage-views/account-statement/statement-query'
import {
  type FailureFilter,
  type FailureSearch,
  findFailure,
  searchFailures,
  sumFailures,
} from '@/console/usage-views/failures/failure-search'
import type { Database } from '@/db/client'
import { archivedBeforeMs } from '@/db/usage-archive'
import type { Ledger } from '@/ledger/ledger'
import type { Clock } from '@/lib/clock'
import { utcDayOf } from '@/lib/clock'
import type { Logger } from '@/lib/logger'
import { createBudget } from '@/lib/quota/budget'
import { SHARED } from '@/limits/shared-resources'
import { EXPORT_FORMATS, type ExportFormat, exportRecords } from './export-records'
import { readChoices } from './filter-choices'
import { livePart } from './live-records'
import { readOverview } from './overview'
import { readHistory } from './read-history'
import { type PriceUsage, readRecordDetail } from './record-detail'
import { type SearchOptions, searchRecords } from './record-search'
import { sumRecords } from './record-totals'
import { listRequests, type RequestSearch } from './request-list'
import type { Sight, UsageFilter } from './usage-filter'
import { readSeries, type SeriesGroup } from './usage-series'

type UsageViewsDeps = {
  database: Database
  ledger: Ledger
  priceUsage: PriceUsage
  clock: Pick<Clock, 'now'>
  logger: Logger
}

const RETRY_SECONDS = 10
const TURN_MS = 5_000
const MAX_WAITING = 400
const MAX_WAITING_EACH = 100

/** All throw a GatewayError, `overloaded` or `timeout`, if a store is unreachable or too slow. */
export type UsageViews = ReturnType<typeof createUsageViews>

export function createUsageViews({ database, ledger, priceUsage, clock, logger }: UsageViewsDeps) {
  const exports = createBudget({
    ...{ perSubject: SHARED.exports.perAccount, total: SHARED.exports.perProcess, waitMs: 0 },
    ...{ maxWaiting: 0, maxWaitingEach: 0 },
  })
  const turns = createBudget({
    perSubject: SHARED.pageReads.perAccount,
    total: SHARED.pageReads.perProcess,
    waitMs: TURN_MS,
    maxWaiting: MAX_WAITING,
    maxWaitingEach: MAX_WAITING_EACH,
  })

  /** Limits concurrent reads of the account, so that an account with many reads doesn't block others. */
  async function read<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const turn = await turns.take(accountId, 1)
    if (!turn) {
      throw new GatewayError('overloaded', 'Too many look-ups are under way. Try again.', {
        retryAfterSeconds: RETRY_SECONDS,
      })
    }
    try {
      return await readHistory(work())
    } finally {
      turn.release()
    }
  }

  /** Exports the records as a file. Throws `rate_limited` if too many exports run, `invalid_request` if part of the time is archived. */
  async function beginExport(filter: UsageFilter, format: ExportFormat): Promise<ReadableStream<Uint8Array>> {
    const { accountId } = filter
    // Counts the export before the first `await`, so that simultaneous calls cannot exceed the limit.
    const place = exports.takeNow(accountId, 1)
    if (!place) {
      throw new GatewayError('rate_limited', 'Other exports are still running. Try again when they have ended.', {
        retryAfterSeconds: RETRY_SECONDS,
      })
    }
    try {
      await refuseArchived(filter)
    } catch (error) {
      place.release()
      throw error
    }
    const readPage = (page: SearchOptions) => read(accountId, () => searchRecords(database, filter, page))
    return exportRecords(readPage, EXPORT_FORMATS[format], (failure) => {
      place.release()
      if (failure !== undefined) logger.warn('usage_export_failed', { accountId, error: failure })
    })
  }

  async function refuseArchived(filter: UsageFilter): Promise<void> {
    const live = await read(filter.accountId, () => livePart(database, filter))
    if (live.archivedBeforeMs === null) return
    const day = utcDayOf(live.archivedBeforeMs)
    throw invalidRequest(
      `from: requests before ${day} are archived and no longer exported one by one. Choose ${day} or later; the account statement has the sums of each day.`,
      'from',
    )
  }

  return {
    overview: (accountId: string) => read(accountId, () => readOverview(database, ledger, accountId, clock.now())),
    search: (filter: UsageFilter, options: SearchOptions) =>
      read(filter.accountId, () => searchRecords(database, filter, options)),
    totals: (filter: UsageFilter) => read(filter.accountId, () => sumRecords(database, filter)),
    series: (filter: UsageFilter, group: SeriesGroup) =>
      read(filter.accountId, () => readSeries(database, filter, group)),
    choices: (sight: Sight) => read(sight.accountId, () => readChoices(database, sight)),
    detail: (sight: Sight, id: string) =>
      read(sight.accountId, () => readRecordDetail(database, priceUsage, sight, id)),
    requests: (search: RequestSearch) => read(search.accountId, () => listRequests(database, search, clock.now())),
    failures: (search: FailureSearch) => read(search.accountId, () => searchFailures(database, search, clock.now())),
    failureSums: (filter: FailureFilter) => read(filter.accountId, () => sumFailures(database, filter, clock.now())),
    failure: (sight: Sight, requestId: string) =>
      read(sight.accountId, () => findFailure(database, sight, requestId, clock.now())),
    statement: (period: StatementPeriod, page: StatementPage) =>
      read(period.accountId, () => readStatement(database, logger, period, page)),
    inTurn: read,
    /** The time before which records are archived, milliseconds since 1970; null if none are. */
    archivedBeforeMs: () => readHistory(archivedBeforeMs(database.sql)),
    export: beginExport,
  }
}
