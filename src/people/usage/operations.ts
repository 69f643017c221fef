/** The operations that show usage: the account at a glance, charged and failed requests, sums, charts, exports and statements. */
import { Type } from '@sinclair/typebox'
import type { CatalogSource } from '@/catalog/reload/live-catalog'
import { GatewayError } from '@/chat/error'
import type { GuardDeps } from '@/console/http/guard'
import { CSV_FILE, fileAnswer } from '@/console/http/wire'
import type { ExportFormat } from '@/console/usage-views/export-records'
import { fromCursor } from '@/console/usage-views/listed-record'
import { FLAG_WORDS, RULE_WORDS } from '@/console/usage-views/plain-words'
import type { Sight } from '@/console/usage-views/usage-filter'
import type { UsageViews } from '@/console/usage-views/usage-views'
import { BILLING_RULES, RECORD_FLAGS } from '@/ledger/usage-record'
import { utcDayOf } from '@/lib/clock'
import { sightOf } from '@/people/keys/authority'
import { FileAnswer, operationsOver } from '@/people/operation'
import { SeriesBody, TotalsBody, toSeriesBody, toTotalsBody, toUsagePage, UsagePage } from './bodies'
import { FAILURES_DESCRIPTION, FailureBody, FailurePage, FailureQuery, readFailure, readFailurePage } from './failures'
import { OverviewBody, readOverview } from './overview'
import { ExportQuery, FilterQuery, filterOf, PageQuery, SeriesQuery } from './query'
import { RecordDetailBody, toRecordDetailBody } from './record-detail-body'
import { PeriodQuery, readStatementPage, StatementBody, StatementQuery, statementFile } from './statement'

export type UsageDeps = GuardDeps & { usage: UsageViews; catalog: CatalogSource }

const operation = operationsOver<UsageDeps>()

const DEFAULT_PAGE_SIZE = 50

const requestId = (most: number) => ({
  requestId: Type.String({ pattern: `^[\\x21-\\x7e]{1,${most}}$`, maxLength: most }),
})

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

const overview = operation('account.overview', 'GET /overview', 'billing.read', undefined, {
  summary: 'The account at a glance',
  description:
    'Balance and month are correct to the last settled request; the other figures follow within about a second.',
  gives: OverviewBody,
  run: ({ deps, viewer }) => readOverview(deps.usage, viewer.accountId),
})

const list = operation('usage.list', 'GET /usage', 'usage.read', undefined, {
  summary: 'Charged requests, newest first',
  description:
    'One item per usage record; corrections are items of their own. Requests that cost nothing have none. A record appears ' +
    'within about a second of the end of its request.',
  takes: PageQuery,
  gives: UsagePage,
  async run({ deps, viewer }, query) {
    const options = { after: fromCursor(query.cursor), limit: query.limit ?? DEFAULT_PAGE_SIZE }
    return toUsagePage(await deps.usage.search(filterOf(query, sightOf(viewer)), options))
  },
})

const totals = operation('usage.totals', 'GET /usage/totals', 'usage.read', undefined, {
  summary: 'Sums over charged requests',
  description: 'Takes the same filter as the list. A correction moves the cost and is not counted as a request.',
  takes: FilterQuery,
  gives: TotalsBody,
  run: async ({ deps, viewer }, query) => toTotalsBody(await deps.usage.totals(filterOf(query, sightOf(viewer)))),
})

const series = operation('usage.series', 'GET /usage/series', 'usage.read', undefined, {
  summary: 'Usage over time',
  description:
    'Takes the same filter as the list. By the hour for up to three days, else by whole UTC days, also where `from` or `to` ' +
    'lies within one.',
  takes: SeriesQuery,
  gives: SeriesBody,
  run: async ({ deps, viewer }, query) =>
    toSeriesBody(await deps.usage.series(filterOf(query, sightOf(viewer)), query.group ?? 'model')),
})

const choices = operation('usage.choices', 'GET /usage/choices', 'usage.read', undefined, {
  summary: 'What usage can be filtered by',
  description:
    'Keys (deleted ones too), models that answered in the last 400 days, members with keys, tags and apps, billing rules and flags in words.',
  gives: ChoicesBody,
  run: ({ deps, viewer }) => readChoices(deps, sightOf(viewer)),
})

const record = operation('usage.record', 'GET /usage/requests/:requestId', 'usage.read', undefined, {
  summary: 'The usage record of one request',
  description:
    'By its `x-request-id` (or the id of one of its records): route, tokens, price per token class and the billing rule ' +
    'that decided the cost.',
  names: requestId(300),
  gives: RecordDetailBody,
  run: ({ deps, viewer, params }) => readRecord(deps.usage, sightOf(viewer), params.requestId),
})

const exported = operation('usage.export', 'GET /usage/export', 'usage.read', undefined, {
  summary: 'Charged requests as CSV or JSON lines',
  description:
    'Takes the same filter as the list and streams all matches, newest first; 400 where `from` lies before what is archived. Texts that a spreadsheet would take for a ' +
    'formula are preceded by an apostrophe.',
  takes: ExportQuery,
  gives: FileAnswer,
  file: {
    200: {
      description: 'CSV with a header row, or an object in each line, with the same names',
      content: { ...CSV_FILE[200].content, 'application/jsonl': { schema: { type: 'string' } } },
    },
  },
  run: ({ deps, viewer }, query) => exportFile(deps.usage, query, sightOf(viewer)),
})

const failures = operation('failure.list', 'GET /failures', 'usage.read', undefined, {
  summary: 'List failed requests',
  description: FAILURES_DESCRIPTION,
  takes: FailureQuery,
  gives: FailurePage,
  run: ({ deps, viewer }, query) => readFailurePage(deps.usage, sightOf(viewer), query),
})

const failure = operation('failure.show', 'GET /failures/:requestId', 'usage.read', undefined, {
  summary: 'Get a failed request',
  description: 'By its `x-request-id`, or by the provider’s own id.',
  names: requestId(200),
  gives: FailureBody,
  run: ({ deps, viewer, params }) => readFailure(deps.usage, sightOf(viewer), params.requestId),
})

const statement = operation('account.statement', 'GET /statement', 'billing.read', undefined, {
  summary: 'Account statement',
  description:
    'Every movement of money of a period with the balance after it: credit bought, refunds, chargebacks, adjustments, transfers, and usage by ' +
    'the day (UTC). `opening` and all amounts add up to `closing`.',
  takes: StatementQuery,
  gives: StatementBody,
  run: ({ deps, viewer: { accountId } }, query) =>
    readStatementPage(deps.usage, { accountId, isAdministrator: false }, query),
})

const statementCsv = operation('account.statement.file', 'GET /statement/csv', 'billing.read', undefined, {
  summary: 'Account statement as CSV',
  description: 'With a row for the opening and one for the closing balance.',
  takes: PeriodQuery,
  gives: FileAnswer,
  file: CSV_FILE,
  run: ({ deps, viewer: { accountId } }, query) =>
    statementFile(deps.usage, { accountId, isAdministrator: false }, query),
})

export const USAGE_OPERATIONS = [
  ...[overview, list, totals, series, choices, record, exported],
  ...[failures, failure, statement, statementCsv],
] as const

async function readChoices({ usage, catalog }: UsageDeps, sight: Sight) {
  const found = await usage.choices(sight)
  return {
    ...found,
    tiers: [...catalog.current.tiers.keys()],
    rules: BILLING_RULES.map((name) => ({ name, words: RULE_WORDS[name] })),
    flags: RECORD_FLAGS.map((name) => ({ name, words: FLAG_WORDS[name] })),
  }
}

async function readRecord(usage: UsageViews, sight: Sight, requestId: string) {
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
