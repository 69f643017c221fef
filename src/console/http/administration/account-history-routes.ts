/** The routes of what an account sees of itself, for administrators: its failed requests, and its statement. */
import { Type } from '@sinclair/typebox'
import {
  PeriodQuery,
  readStatementPage,
  StatementBody,
  StatementQuery,
  statementFile,
} from '@/console/http/account-statement'
import { FAILURES_DESCRIPTION, FailurePage, FailureQuery, readFailurePage } from '@/console/http/failures'
import { guarded } from '@/console/http/guard'
import { CSV_FILE } from '@/console/http/wire'
import { ADMIN_PREFIX, type AdminDeps, Id } from './context'

const AccountParams = Type.Object({ accountId: Id })

/** Mounts `/dashboard/api/admin/accounts/:accountId/failures` and `…/statement`. */
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

function readerOf({ accountId }: { accountId: string }) {
  return { accountId, isAdministrator: true }
}
