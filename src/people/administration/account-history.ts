/** The administrators' operations on an account's requests and statement. */
import { Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { DayText, PAGE, readDay } from '@/console/http/pages'
import { CSV_FILE, NullableText } from '@/console/http/wire'
import { MS_PER_DAY } from '@/lib/clock'
import { type Nano, parseUsd } from '@/lib/money'
import { orNull } from '@/lib/schemas'
import { administrationOver, FileAnswer } from '@/people/operation'
import { FAILURES_DESCRIPTION, FailurePage, FailureQuery, readFailurePage } from '@/people/usage/failures'
import { PeriodQuery, readStatementPage, StatementBody, StatementQuery, statementFile } from '@/people/usage/statement'
import { type AdminDeps, OF_ACCOUNT, UsdInput } from './context'

const RequestQuery = Type.Object({
  from: Type.Optional(DayText),
  to: Type.Optional(DayText),
  cost: Type.Optional(UsdInput),
  tag: Type.Optional(Type.String({ maxLength: 200, description: '`name=value`' })),
  ...PAGE,
})

const Words = Type.Array(Type.String())
const RequestPage = Type.Object({
  items: Type.Array(
    Type.Object({
      requestId: Type.String(),
      at: Type.String({ description: 'ISO 8601' }),
      keyId: Type.String(),
      keyName: NullableText,
      memberId: NullableText,
      model: Type.String(),
      status: Type.Integer(),
      costUsd: Type.String(),
      inputTokens: Type.Integer(),
      outputTokens: Type.Integer(),
      rule: Type.String(),
      flags: Words,
      tags: orNull(Words),
      sameAs: NullableText,
    }),
  ),
  searchedTo: NullableText,
  archivedBefore: NullableText,
  nextCursor: NullableText,
})

const operation = administrationOver<AdminDeps>()

const failures = operation('account.failures', 'GET /accounts/:accountId/failures', 'administrator', {
  summary: "List an account's failed requests",
  description: `${FAILURES_DESCRIPTION} For administrators.`,
  names: OF_ACCOUNT,
  takes: FailureQuery,
  gives: FailurePage,
  run: ({ deps, params: { accountId } }, query) => readFailurePage(deps.usage, { accountId }, query),
})

const requests = operation('account.requests', 'GET /accounts/:accountId/requests', 'administrator', {
  summary: "List an account's charged requests",
  description:
    'Newest first, of the last 30 days unless days are named. `sameAs` is another charge within ten minutes with the same key, ' +
    'model, input tokens and cost. For administrators.',
  names: OF_ACCOUNT,
  takes: RequestQuery,
  gives: RequestPage,
  run: ({ deps, params: { accountId } }, { from, to, cost, ...search }) =>
    deps.usage.requests({
      ...{ ...search, accountId },
      ...(from !== undefined && { fromMs: readDay(from, 'from') }),
      ...(to !== undefined && { toMs: readDay(to, 'to') + MS_PER_DAY }),
      ...(cost !== undefined && { cost: readCost(cost) }),
    }),
})

const statement = operation('account.statement', 'GET /accounts/:accountId/statement', 'administrator', {
  summary: "An account's statement",
  description: 'As the account sees it, with the references of its entries. For administrators.',
  names: OF_ACCOUNT,
  takes: StatementQuery,
  gives: StatementBody,
  run: ({ deps, params }, query) => readStatementPage(deps.usage, readerOf(params), query),
})

const statementCsv = operation('account.statement.file', 'GET /accounts/:accountId/statement/csv', 'administrator', {
  summary: "An account's statement as CSV",
  description: 'For administrators.',
  names: OF_ACCOUNT,
  takes: PeriodQuery,
  gives: FileAnswer,
  file: CSV_FILE,
  run: ({ deps, params }, query) => statementFile(deps.usage, readerOf(params), query),
})

export const HISTORY_ADMINISTRATION = [failures, requests, statement, statementCsv] as const

function readCost(text: string): Nano {
  const cost = parseUsd(text)
  if (cost === undefined) throw invalidRequest('cost: must be an amount in USD such as 0.0125.', 'cost')
  return cost
}

function readerOf({ accountId }: { accountId: string }) {
  return { accountId, isAdministrator: true }
}
