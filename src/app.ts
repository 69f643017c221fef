/** The HTTP application: one error boundary, then every route. Builds without side effects, so tests drive it without a port. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { chatCompletionsRoutes } from '@/http/chat-completions-routes'
import { type AssetDeps, assetRoutes } from '@/http/dashboard/asset-routes'
import { type DashboardDeps, dashboardRoutes } from '@/http/dashboard/routes'
import { type DepositWebhookDeps, depositWebhookRoutes } from '@/http/deposit-webhook-routes'
import type { HttpDeps } from '@/http/deps'
import { docsRoutes } from '@/http/docs-routes'
import { errorResponse, formatOfRequest, meaningOf } from '@/http/errors'
import { generateContentRoutes } from '@/http/generate-content-routes'
import { messagesRoutes } from '@/http/messages-routes'
import { modelsRoutes } from '@/http/models-routes'
import { opsRoutes } from '@/http/ops-routes'
import { newRequestId } from '@/http/request-id'
import { pathOf } from '@/http/request-line'
import { routeRoutes } from '@/http/route-routes'
import { type SandboxDepositDeps, sandboxDepositRoutes } from '@/http/sandbox-deposit-routes'
import { usageRoutes } from '@/http/usage-routes'
import { assert } from '@/lib/assert'

export type AppDeps = HttpDeps &
  DepositWebhookDeps &
  Pick<SandboxDepositDeps, 'sandbox'> & { dashboard: DashboardDeps & AssetDeps }

/** Builds the application over its dependencies. */
export function buildApp(deps: AppDeps) {
  const webhooks = depositWebhookRoutes(deps)
  return (
    // The path of a request starts after any host name, even one as short as `http://gw/`.
    new Elysia({ handler: { standardHostname: false } })
      // Registered before every plugin: a later boundary of a plugin would win over it.
      .onError(({ error, code, request }) => {
        const path = pathOf(request.url)
        const format = deps.formats.get(formatOfRequest(path, request.headers))
        assert(format, 'every family has its codec')
        const told = code === 'NOT_FOUND' ? unknownRoute(request.method, path) : meaningOf(error)
        return errorResponse(told, format, newRequestId(), deps.logger)
      })
      .use(chatCompletionsRoutes(deps))
      .use(messagesRoutes(deps))
      .use(generateContentRoutes(deps))
      .use(modelsRoutes(deps))
      .use(routeRoutes(deps))
      .use(usageRoutes(deps))
      .use(opsRoutes(deps))
      .use(dashboardRoutes({ ...deps.dashboard, chat: deps }))
      .use(assetRoutes(deps.dashboard))
      .use(webhooks)
      .use(sandboxDepositRoutes({ sandbox: deps.sandbox, deliver: (request) => webhooks.handle(request) }))
      .use(docsRoutes(deps))
  )
}

function unknownRoute(method: string, path: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no ${method.slice(0, 16)} ${path.slice(0, 128)}. GET /docs lists all endpoints.`,
  )
}
