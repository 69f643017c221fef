import { type EmbeddingRequest, MAX_EMBEDDING_TOKENS } from '@/chat/embedding'
import type { Embeddings } from '@/formats/embeddings'
import { handleEmbeddings } from '@/gateway/handle-embeddings'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { answerCached } from './answer-cache/answer-cached'
import { readCacheSeconds } from './answer-cache/cache-wish'
import { answerPaid } from './answer-paid'
import type { JsonBody } from './body'
import type { HttpDeps } from './deps'
import { type PaidEndpoint, PaidRequest } from './paid-request'

type EmbeddingEndpoint = Pick<PaidEndpoint, 'format' | 'route' | 'payerOf' | 'batchLine'> & {
  decode(body: JsonObject): EmbeddingRequest
}

/** Maximum JSON values in a body that are not tokens. Each token is one more value. */
const OTHER_VALUES = 20_000

/** Decodes embeddings requests of every format and passes them to the use case. Never rejects: errors become responses. */
export function answerEmbeddings(deps: HttpDeps, request: Request, endpoint: EmbeddingEndpoint): Promise<Response> {
  const { format } = endpoint
  assert(format.embeddings, `${format.name} has embeddings`)
  return answerPaid(new PaidEmbeddings(deps, request, endpoint, format.embeddings))
}

class PaidEmbeddings extends PaidRequest {
  constructor(
    deps: HttpDeps,
    arrived: Request,
    private readonly asked: EmbeddingEndpoint,
    readonly embeddings: Embeddings,
  ) {
    super(deps, arrived, { ...asked, maxJsonValues: MAX_EMBEDDING_TOKENS + OTHER_VALUES }, 'embedding')
  }

  answer({ json: body, bytes }: JsonBody): Promise<Response> {
    const request = this.asked.decode(body)
    this.share?.endTurn()
    this.nameModel(request.model)
    if (request.userId !== undefined) this.nameEndUser(request.userId)
    const answer = () => handleEmbeddings(this.deps, Object.assign(this, { request, body }))
    const seconds = readCacheSeconds(this.arrived.headers, request.preferences)
    return seconds === undefined
      ? answer()
      : answerCached(this, { seconds, body, bytes, facts: [request.model] }, answer)
  }
}
