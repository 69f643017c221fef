/** The HTTP application: one error boundary, then all routes. Building it has no side effects, so tests need no port. */
import { type AnyElysia, Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { type AssetDeps, assetRoutes } from '@/console/http/assets/routes'
import { type SandboxDepositDeps, sandboxDepositRoutes } from '@/console/http/deposits/sandbox-routes'
import { type DepositWebhookDeps, depositWebhookRoutes } from '@/console/http/deposits/webhook-routes'
import { homeRoutes } from '@/console/http/home-routes'
import { managementRoutes } from '@/console/http/management/routes'
import { type DashboardDeps, dashboardRoutes, sessionCookieName } from '@/console/http/routes'
import type { HttpDeps } from '@/http/deps'
import { errorResponse, meaningOf } from '@/http/errors'
import { isOpenToPages, openToPage } from '@/http/pages'
import { defaultFormat, formatOfRequest } from '@/http/request-format'
import { requestIdOf } from '@/http/request-id'
import { pathOf } from '@/http/request-line'
import { audioRoutes } from '@/http/routes/audio'
import { batchRoutes } from '@/http/routes/batches'
import { chatCompletionsRoutes } from '@/http/routes/chat-completions'
import { docsRoutes } from '@/http/routes/docs'
import { feedbackRoutes } from '@/http/routes/feedback'
import { fileRoutes } from '@/http/routes/files'
import { generateContentRoutes } from '@/http/routes/generate-content'
import { generationRoutes } from '@/http/routes/generation'
import { guideRoutes } from '@/http/routes/guide'
import { imageRoutes } from '@/http/routes/images'
import { keyRoutes } from '@/http/routes/key'
import { messageBatchRoutes } from '@/http/routes/message-batches'
import { messagesRoutes } from '@/http/routes/messages'
import { modelsRoutes } from '@/http/routes/models'
import { opsRoutes } from '@/http/routes/ops'
import { preflightRoutes } from '@/http/routes/preflight'
import { rerankRoutes } from '@/http/routes/rerank'
import { responsesRoutes } from '@/http/routes/responses'
import { routeRoutes } from '@/http/routes/route'
import { storedResponseRoutes } from '@/http/routes/stored-responses'
import { usageRoutes } from '@/http/routes/usage'
import { operatorRoutes } from '@/people/operators/serve'

export type AppDeps = HttpDeps &
  DepositWebhookDeps &
  Pick<SandboxDepositDeps, 'sandbox'> & { dashboard: DashboardDeps & AssetDeps }

export function buildApp(deps: AppDeps): AnyElysia {
  const webhooks = depositWebhookRoutes(deps)
  const app =
    // By default, Elysia reads a wrong path from URLs with a short host name, such as `http://gw/`.
    new Elysia({ handler: { standardHostname: false } })
      // Must come before every plugin: of several error handlers, Elysia prefers the one registered last.
      .onError(({ error, code, request }) => {
        const path = pathOf(request.url)
        // The dashboard's pages expect one error format, whatever format the headers indicate.
        const isPage = path.startsWith('/dashboard/')
        const format = isPage ? defaultFormat(deps.formats) : formatOfRequest(deps.formats, path, request.headers)
        const told = code === 'NOT_FOUND' ? unknownRoute(request.method, path) : meaningOf(error)
        const response = errorResponse(told, format, requestIdOf(request), deps.logger)
        return isOpenToPages(path) ? openToPage(request, response) : response
      })
      .use(chatCompletionsRoutes(deps))
      .use(audioRoutes(deps))
      .use(imageRoutes(deps))
      .use(rerankRoutes(deps))
      .use(messagesRoutes(deps))
      .use(responsesRoutes(deps))
      .use(generateContentRoutes(deps))
      .use(modelsRoutes(deps))
      .use(fileRoutes(deps))
      .use(batchRoutes(deps))
      .use(messageBatchRoutes(deps))
      .use(routeRoutes(deps))
      .use(usageRoutes(deps))
      .use(keyRoutes(deps))
      .use(generationRoutes(deps))
      .use(feedbackRoutes(deps))
      .use(storedResponseRoutes(deps))
      .use(preflightRoutes())
      .use(opsRoutes(deps))
      .use(dashboardRoutes({ ...deps.dashboard, chat: deps }))
      .use(assetRoutes(deps.dashboard))
      .use(homeRoutes(deps))
      .use(webhooks)
      .use(sandboxDepositRoutes({ sandbox: deps.sandbox, deliver: (request) => webhooks.handle(request) }))
      .use(guideRoutes(deps))
  const sessionCookie = sessionCookieName(deps.publicUrl)
  const management = {
    ...deps,
    ...deps.dashboard,
    routes: app.routes,
    dispatch: async (request: Request) => app.handle(request),
  }
  app.use(managementRoutes(management)).use(operatorRoutes({ ...deps.dashboard, ...deps }))
  return app.use(docsRoutes({ ...deps, routes: () => app.routes, sessionCookie }))
}

function unknownRoute(method: string, path: string): GatewayError {
  return new GatewayError(
    'not_found',
    `There is no ${method.slice(0, 16)} ${path.slice(0, 128)}. GET /docs lists all endpoints.`,
  )
}
