import type { MediaKind } from '@/catalog/types'
import type { Format } from '@/formats/format'
import type { MediaRequest } from '@/formats/media-call'
import { handleMedia } from '@/gateway/handle-media'
import { answerCached, answerUncached } from './answer-cache/answer-cached'
import { readCacheSeconds } from './answer-cache/cache-wish'
import { answerPaid } from './answer-paid'
import type { JsonBody } from './body'
import type { HttpDeps } from './deps'
import { PaidRequest } from './paid-request'

type MediaEndpoint = {
  format: Format
  kind: MediaKind
  route: string
  /** The most bytes of a form with files; missing if the body is JSON. */
  maxFormBytes?: number
  /** Throws a GatewayError `invalid_request` that names the field. */
  decode(body: JsonBody): MediaRequest | Promise<MediaRequest>
}

/** Decodes requests that are no conversations and passes them to the use case. Never rejects: errors become responses. */
export function answerMedia(deps: HttpDeps, request: Request, endpoint: MediaEndpoint): Promise<Response> {
  return answerPaid(new PaidMedia(deps, request, endpoint))
}

class PaidMedia extends PaidRequest {
  readonly kind: MediaKind

  constructor(
    deps: HttpDeps,
    arrived: Request,
    private readonly asked: MediaEndpoint,
  ) {
    super(deps, arrived, asked, asked.kind)
    this.kind = asked.kind
  }

  async answer(body: JsonBody): Promise<Response> {
    const request = await this.asked.decode(body)
    this.share?.endTurn()
    this.nameModel(request.model, request.stream)
    if (request.userId !== undefined) this.nameEndUser(request.userId)
    const answer = () => handleMedia(this.deps, Object.assign(this, { request }))
    const seconds = readCacheSeconds(this.arrived.headers, request.preferences)
    if (seconds === undefined) return await answer()
    // Sounds and pictures are too large for the cache.
    if (this.kind !== 'rerank') return await answerUncached(this, answer)
    return await answerCached(this, { seconds, body: body.json, bytes: body.bytes, facts: [] }, answer)
  }
}
