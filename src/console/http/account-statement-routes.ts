/** The routes of an account's own statement: page by page, and as a file. */
import { Elysia } from 'elysia'
import type { Member } from '@/console/auth/viewer'
import type { UsageViews } from '@/console/usage-views/usage-views'
import {
  PeriodQuery,
  readStatementPage,
  StatementBody,
  StatementQuery,
  statementFile,
} from './account-statement-bodies'
import { ACCOUNT_PREFIX, type GuardDeps, guard } from './guard'

/** Mounts `/dashboard/api/a/:accountId/statement`. */
export function accountStatementRoutes(deps: GuardDeps & { usage: UsageViews }) {
  const { usage } = deps
  return new Elysia({ name: 'account-statement-routes', prefix: `${ACCOUNT_PREFIX}/statement`, tags: ['Dashboard'] })
    .use(guard(deps))
    .get('', ({ viewer, query }) => readStatementPage(usage, readerOf(viewer), query), {
      may: 'billing.read',
      query: StatementQuery,
      response: StatementBody,
      detail: {
        summary: 'Account statement',
        description:
          'Every movement of money of a period with the balance after it: credit bought, refunds, chargebacks, adjustments, and usage by ' +
          'the day (UTC). `opening` and all amounts add up to `closing`.',
      },
    })
    .get('/csv', ({ viewer, query }) => statementFile(usage, readerOf(viewer), query), {
      may: 'billing.read',
      query: PeriodQuery,
      detail: {
        summary: 'Account statement as CSV',
        description: 'With a row for the opening and one for the closing balance.',
        responses: {
          200: { description: 'CSV with a header row', content: { 'text/csv': { schema: { type: 'string' } } } },
        },
      },
    })
}

function readerOf({ accountId }: Member) {
  return { accountId, isAdministrator: false }
}
