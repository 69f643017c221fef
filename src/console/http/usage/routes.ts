/** Routes of the usage page: list of charged requests, sums, chart, single records and export. */

import { Type } from '@sinclair/typebox'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import { GatewayError } from '@/chat/error'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, IN_ACCOUNT } from '@/console/http/guard'
import { CSV_FILE, fileAnswer } from '@/console/http/wire'
import type { ExportFormat } from '@/console/usage-views/export-records'
import { fromCursor } from '@/console/usage-views/listed-record'
import { FLAG_WORDS, RULE_WORDS } from '@/console/usage-views/plain-words'
import type { Sight } from '@/console/usage-views/usage-filter'
import type { UsageViews } from '@/console/usage-views/usage-views'
import { BILLING_RULES, RECORD_FLAGS } from '@/ledger/usage-record'
import { utcDayOf } from '@/lib/clock'
import { sightOf } from '@/people/keys/authority'
import { SeriesBody, TotalsBody, toSeriesBody, toTotalsBody, toUsagePage, UsagePage } from './bodies'
import { ExportQuery, FilterQuery, filterOf, PageQuery, SeriesQuery } from './query'
import { RecordDetailBody, toRecordDetailBody } from './record-detail-body'

export type DashboardUsageDeps = GuardDeps & { usage: UsageViews; catalog: CatalogSource }

const DEFAULT_PAGE_SIZE = 50

const Explained = Type.Object({ name: Type.String(), words: Type.String() })
const ChoicesBody = Type.Object({
  keys: Type.Array(Type.Object({ keyId: Type.String(), name: Type.String() })),
  models: Type.Array(Type.String()),
  members: Type.Array(Type.Object({ memberId: Type.String(), name: Type.String() })),
  tags: Type.Array(Type.String(), { description: 'Of the latest 20,000 requests, as `name=value`' }),
  apps: Type.Array(Type.String(), { description: 'Of the latest 20,000 requests' }),
  tiers: Type.Array(Type.String(), { description: 'Values for filters, besides models' }),
  rules: Type.Array(Explained),
  flags: Type.Array(Explained),
})

export function dashboardUsageRoutes(deps: DashboardUsageDeps) {
  const { usage } = deps
  return guarded(deps, 'dashboard-usage-routes', `${ACCOUNT_PREFIX}/usage`)
    .get(
      '/',
      async ({ viewer, query }) => {
        const options = { after: fromCursor(query.cursor), limit: query.limit ?? DEFAULT_PAGE_SIZE }
        return toUsagePage(await usage.search(filterOf(query, sightOf(viewer)), options))
      },
      { may: 'usage.read', query: PageQuery, response: UsagePage, detail: LIST },
    )
    .get('/totals', async ({ viewer, query }) => toTotalsBody(await usage.totals(filterOf(query, sightOf(viewer)))), {
      may: 'usage.read',
      query: FilterQuery,
      response: TotalsBody,
      detail: TOTALS,
    })
    .get(
      '/series',
      async ({ viewer, query }) => {
        return toSeriesBody(await usage.series(filterOf(query, sightOf(viewer)), query.group ?? 'model'))
      },
      { may: 'usage.read', query: SeriesQuery, response: SeriesBody, detail: SERIES },
    )
    .get('/choices', ({ viewer }) => choices(deps, sightOf(viewer)), {
      may: 'usage.read',
      response: ChoicesBody,
      detail: CHOICES,
    })
    .get('/requests/:requestId', ({ viewer, params }) => recordDetail(usage, sightOf(viewer), params.requestId), {
      may: 'usage.read',
      params: Type.Object({
        ...IN_ACCOUNT,
        requestId: Type.String({ pattern: '^[\\x21-\\x7e]{1,300}$', maxLength: 300 }),
      }),
      response: RecordDetailBody,
      detail: RECORD,
    })
    .get('/export', ({ viewer, query }) => exportFile(usage, query, sightOf(viewer)), {
      may: 'usage.read',
      query: ExportQuery,
      detail: EXPORT,
    })
}

const LIST = {
  summary: 'Charged requests, newest first',
  description:
    'One item per usage record; corrections are items of their own. Requests that cost nothing have none. A record appears ' +
    'within about a second of the end of its request.',
}
const TOTALS = {
  summary: 'Sums over charged requests',
  description: 'Takes the same filter as the list. A correction moves the cost and is not counted as a request.',
}
const SERIES = {
  summary: 'Usage over time',
  description:
    'Takes the same filter as the list. By the hour for up to three days, else by whole UTC days, also where `from` or `to` ' +
    'lies within one.',
}
const CHOICES = {
  summary: 'What usage can be filtered by',
  description:
    'Keys (deleted ones too), models that answered in the last 400 days, members with keys, tags and apps, billing rules and flags in words.',
}
const RECORD = {
  summary: 'The usage record of one request',
  description:
    'By its `x-request-id` (or the id of one of its records): route, tokens, price per token class and the billing rule ' +
    'that decided the cost.',
}
const EXPORT = {
  summary: 'Charged requests as CSV or JSON lines',
  description:
    'Takes the same filter as the list and streams all matches, newest first; 400 where `from` lies before what is archived. Texts that a spreadsheet would take for a ' +
    'formula are preceded by an apostrophe.',
  responses: {
    200: {
      description: 'CSV with a header row, or an object in each line, with the same names',
      content: { ...CSV_FILE[200].content, 'application/jsonl': { schema: { type: 'string' } } },
    },
  },
} as const

async function choices({ usage, catalog }: DashboardUsageDeps, sight: Sight) {
  const found = await usage.choices(sight)
  return {
    ...found,
    tiers: [...catalog.current.tiers.keys()],
    rules: BILLING_RULES.map((name) => ({ name, words: RULE_WORDS[name] })),
    flags: RECORD_FLAGS.map((name) => ({ name, words: FLAG_WORDS[name] })),
  }
}

async function recordDetail(usage: UsageViews, sight: Sight, requestId: string) {
  const found = await usage.detail(sight, requestId)
  if (!found) throw new GatewayError('not_found', await noRecordWords(usage))
  return toRecordDetailBody(found)
}

async function noRecordWords(usage: UsageViews): Promise<string> {
  const beforeMs = await usage.archivedBeforeMs()
  const words = 'Your account has no charged request with this id.'
  return beforeMs === null ? words : `${words} Requests before ${utcDayOf(beforeMs)} are archived.`
}

const FILE_TYPES: Record<ExportFormat, string> = { csv: 'text/csv', jsonl: 'application/jsonl' }

async function exportFile(usage: UsageViews, { format = 'csv', ...query }: ExportQuery, sight: Sight) {
  const filter = filterOf(query, sight)
  const name = `usage-${utcDayOf(filter.fromMs)}-to-${utcDayOf(filter.toMs - 1)}.${format}`
  return fileAnswer(name, FILE_TYPES[format], await usage.export(filter, format))
}
