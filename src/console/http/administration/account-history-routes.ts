/** Administrators' routes for an account's failed requests and statement. */
import { Type } from '@sinclair/typebox'
import { invalidRequest } from '@/chat/error'
import { guarded } from '@/console/http/guard'
import { DayText, PAGE, readDay } from '@/console/http/pages'
import { CSV_FILE, NullableText } from '@/console/http/wire'
import { MS_PER_DAY } from '@/lib/clock'
import { type Nano, parseUsd } from '@/lib/money'
import { orNull } from '@/lib/schemas'
import { FAILURES_DESCRIPTION, FailurePage, FailureQuery, readFailurePage } from '@/people/usage/failures'
import { PeriodQuery, readStatementPage, StatementBody, StatementQuery, statementFile } from '@/people/usage/statement'
import { ADMIN_PREFIX, type AdminDeps, Id, UsdInput } from './context'

const AccountParams = Type.Object({ accountId: Id })

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

export function adminAccountHistoryRoutes(deps: AdminDeps) {
  const { usage } = deps
  return guarded(deps, 'admin-account-history-routes', `${ADMIN_PREFIX}/accounts`, 'Administration')
    .get(
      '/:accountId/failures',
      ({ params, query }) => readFailurePage(usage, { accountId: params.accountId }, query),
      {
        administrator: true,
        params: AccountParams,
        query: FailureQuery,
        response: FailurePage,
        detail: {
          summary: "List an account's failed requests",
          description: `${FAILURES_DESCRIPTION} For administrators.`,
        },
      },
    )
    .get(
      '/:accountId/requests',
      ({ params, query: { from, to, cost, ...search } }) =>
        usage.requests({
          ...{ ...search, accountId: params.accountId },
          ...(from !== undefined && { fromMs: readDay(from, 'from') }),
          ...(to !== undefined && { toMs: readDay(to, 'to') + MS_PER_DAY }),
          ...(cost !== undefined && { cost: readCost(cost) }),
        }),
      {
        administrator: true,
        params: AccountParams,
        query: RequestQuery,
        response: RequestPage,
        detail: {
          summary: "List an account's charged requests",
          description:
            'Newest first, of the last 30 days unless days are named. `sameAs` is another charge within ten minutes with the same key, ' +
            'model, input tokens and cost. For administrators.',
        },
      },
    )
    .get('/:accountId/statement', ({ params, query }) => readStatementPage(usage, readerOf(params), query), {
      administrator: true,
      params: AccountParams,
      query: StatementQuery,
      response: StatementBody,
      detail: {
        summary: "An account's statement",
        description: 'As the account sees it, with the references of its entries. For administrators.',
      },
    })
    .get('/:accountId/statement/csv', ({ params, query }) => statementFile(usage, readerOf(params), query), {
      administrator: true,
      params: AccountParams,
      query: PeriodQuery,
      detail: {
        summary: "An account's statement as CSV",
        description: 'For administrators.',
        responses: CSV_FILE,
      },
    })
}

function readCost(text: string): Nano {
  const cost = parseUsd(text)
  if (cost === undefined) throw invalidRequest('cost: must be an amount in USD such as 0.0125.', 'cost')
  return cost
}

function readerOf({ accountId }: { accountId: string }) {
  return { accountId, isAdministrator: true }
}
