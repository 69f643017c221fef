/** Hands a request for embeddings from the door to the use case, the same for every format that has them. */
import { type EmbeddingRequest, MAX_EMBEDDING_TOKENS } from '@/chat/embedding'
import type { Format } from '@/formats/format'
import { handleEmbeddings } from '@/gateway/handle-embeddings'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import { answerPaid } from './answer-paid'
import type { HttpDeps } from './deps'
import { PaidRequest } from './paid-request'

/** In which format it came, and how a body of it is read. */
type EmbeddingEndpoint = { format: Format; route: string; decode(body: JsonObject): EmbeddingRequest }

/** What a body may hold beside its tokens, each of which is a value. */
const OTHER_VALUES = 20_000

/** Decodes one request and hands it to the use case. Never rejects: errors become answers. */
export function answerEmbeddings(
  deps: HttpDeps,
  request: Request,
  { format, route, decode }: EmbeddingEndpoint,
): Promise<Response> {
  const { embeddings } = format
  assert(embeddings, `${format.name} has embeddings`)
  const endpoint = { format, route, maxJsonValues: MAX_EMBEDDING_TOKENS + OTHER_VALUES }
  const paid = new PaidRequest(deps, request, endpoint, 'embedding')
  return answerPaid(paid, (body) => {
    const decoded = decode(body)
    paid.share?.endTurn()
    paid.nameModel(decoded.model)
    return handleEmbeddings(deps, Object.assign(paid, { embeddings, request: decoded, body }))
  })
}
