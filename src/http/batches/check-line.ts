/** Checks a line of a batch when the batch is created: as its endpoint would, but without regard to which providers are well just now. */
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
 * The model that a line of `bytes` asks for, and the most that it can cost. Throws the error that `endpoint` would answer it with: a field
 * that breaks a rule, an unknown or forbidden model, or one that can't serve it.
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
  // The stored answers that a request builds on are read when it runs.
  const request = format.decodeRequest({ ...body, previous_response_id: undefined }, {})
  const plan = buildPlan(catalog, request, { clientFormat: format.name, ...allowed })
  return { model: request.model, most: mostOfChat(request, plan, bytes) }
}
