/** Checks a line when its batch is created. The endpoint's own checks apply, except for the current health of providers. */
import { invalidRequest } from '@/chat/error'
import { mostOfChat, mostOfEmbeddings } from '@/gateway/most-cost'
import type { HttpDeps } from '@/http/deps'
import { formatOfRequest } from '@/http/request-format'
import { EMBEDDINGS_PATH, embeddingsEndpoint } from '@/http/routes/chat-completions'
import { type Allowed, EVERYTHING } from '@/ledger/allowed'
import type { JsonObject } from '@/lib/json'
import type { Nano } from '@/lib/money'
import { buildPlan } from '@/routing/plan/plan'
import { buildEmbeddingPlan } from '@/routing/plan/plan-embedding'

type CheckDeps = Pick<HttpDeps, 'catalog' | 'formats'> & { allowed?: Allowed }

const NO_HEADERS = new Headers()

/**
 * The model that a line of `bytes` requests, and its maximum cost. Throws the error that `endpoint` would return: for an invalid field, an
 * unknown or forbidden model, or a model that can't serve the request.
 */
export function checkLine(
  deps: CheckDeps,
  endpoint: string,
  body: JsonObject,
  bytes: number,
): { model: string; most: Nano } {
  if (body.stream === true) throw invalidRequest('stream: an answer in a batch is not streamed.', 'stream')
  const { formats, allowed = EVERYTHING } = deps
  const catalog = deps.catalog.current
  if (endpoint === EMBEDDINGS_PATH) {
    const request = embeddingsEndpoint(deps).decode(body)
    return { model: request.model, most: mostOfEmbeddings(buildEmbeddingPlan(catalog, request, allowed)) }
  }
  const format = formatOfRequest(formats, endpoint, NO_HEADERS)
  // An earlier answer that the request continues is only read when the line runs.
  const request = format.decodeRequest({ ...body, previous_response_id: undefined }, {})
  const plan = buildPlan(catalog, request, { clientFormat: format.name, ...allowed })
  return { model: request.model, most: mostOfChat(request, plan, bytes) }
}
