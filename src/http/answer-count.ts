import { countInputTokens } from '@/catalog/estimate'
import { restarting } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import type { Format } from '@/formats/format'
import type { JsonObject } from '@/lib/json'
import { openLine } from '@/metrics/request-line'
import { findModelOrTier } from '@/routing/plan/plan'
import { authenticate } from './auth'
import type { HttpDeps } from './deps'
import { errorResponse } from './errors'
import { NO_SNIFFING, openToPage } from './pages'
import { newRequestId } from './request-id'
import { resumeRequest } from './resume'
import { type FreeRequest, openFree } from './share/free-request'

type CountEndpoint = {
  format: Format
  /** The endpoint's path, as documented. */
  route: string
  decode(body: JsonObject): ChatRequest
  encode(inputTokens: number): JsonObject
}

/** Counts a request's input tokens locally: free, the same for every model. Never rejects: errors become responses. */
export async function answerCount(deps: HttpDeps, request: Request, endpoint: CountEndpoint): Promise<Response> {
  const requestId = newRequestId()
  const line = openLine('count', endpoint.format.name, endpoint.route, {
    requestId,
    signal: request.signal,
    arrivedMonotonicMs: deps.clock.monotonic(),
  })
  let free: FreeRequest | undefined
  try {
    if (deps.isDraining()) throw restarting()
    const payer = await authenticate(deps, request)
    line.payer = payer
    free = await openFree(deps, request, payer)
    const { body, bytes, share } = await free.read()
    const resumed = await resumeRequest(deps, { format: endpoint.format, payer, body, bytes, share })
    const decoded = endpoint.decode(resumed?.body ?? body)
    line.requestedModel = decoded.model
    findModelOrTier(deps.catalog.current, decoded.model, 'model')
    const inputTokens = await countInputTokens(decoded, payer.accountId)
    const { requestIdHeader = 'x-request-id' } = endpoint.format
    const headers = { 'x-request-id': requestId, [requestIdHeader]: requestId, ...NO_SNIFFING }
    deps.requestLog.answeredFree(line)
    return openToPage(request, Response.json(endpoint.encode(inputTokens), { headers }))
  } catch (error) {
    const response = errorResponse(error, endpoint.format, requestId, deps.logger)
    deps.requestLog.refused(line, request, error, response.status)
    return openToPage(request, response)
  } finally {
    free?.end()
  }
}
