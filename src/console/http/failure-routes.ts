/** The routes of an account's own failed requests: the list, and one of them by its request id. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import type { UsageViews } from '@/console/usage-views/usage-views'
import {
  FAILURES_DESCRIPTION,
  FailureBody,
  FailurePage,
  FailureQuery,
  failureBody,
  readFailurePage,
} from './failure-bodies'
import { ACCOUNT_PREFIX, type GuardDeps, guard, IN_ACCOUNT } from './guard'
import { sightOf } from './sight'

/** Mounts `/dashboard/api/a/:accountId/failures`. */
export function failureRoutes(deps: GuardDeps & { usage: UsageViews }) {
  const { usage } = deps
  return new Elysia({ name: 'failure-routes', prefix: `${ACCOUNT_PREFIX}/failures`, tags: ['Dashboard'] })
    .use(guard(deps))
    .get('', ({ viewer, query }) => readFailurePage(usage, sightOf(viewer), query), {
      may: 'usage.read',
      query: FailureQuery,
      response: FailurePage,
      detail: { summary: 'List failed requests', description: FAILURES_DESCRIPTION },
    })
    .get(
      '/:requestId',
      async ({ viewer, params }) => {
        const found = await usage.failure(sightOf(viewer), params.requestId)
        if (!found) throw new GatewayError('not_found', 'Your account has no failed request with this id.')
        return failureBody(found)
      },
      {
        may: 'usage.read',
        params: Type.Object({
          ...IN_ACCOUNT,
          requestId: Type.String({ pattern: '^[\\x21-\\x7e]{1,200}$', maxLength: 200 }),
        }),
        response: FailureBody,
        detail: { summary: 'Get a failed request', description: 'By its `x-request-id`, where it is in the list.' },
      },
    )
}
