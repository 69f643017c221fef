/** Passes chat requests of every format from their route to the use case. */
import type { FormatName } from '@/chat/format-name'
import type { Format, Framing, RequestLine } from '@/formats/format'
import { isOpenRouterLibrary } from '@/formats/openrouter-library'
import type { ChatCall } from '@/gateway/chat-call'
import { handleChat } from '@/gateway/handle-chat'
import type { SettledAnswer } from '@/ledger/charge'
import { assert } from '@/lib/assert'
import type { Resumed } from '@/stored-responses/stored-responses'
import { answerCached, answerUncached } from './answer-cache/answer-cached'
import { readCacheSeconds } from './answer-cache/cache-wish'
import { answerPaid } from './answer-paid'
import type { JsonBody } from './body'
import type { HttpDeps } from './deps'
import { type PaidEndpoint, PaidRequest } from './paid-request'
import { LOSSY_HEADER, QUALITY_HEADER, USAGE_RECORD_HEADER, withPreferenceHeaders } from './preference-headers'
import { resumeRequest, withEcho } from './resume'
import { sessionNameOf } from './session-name'

/** The properties that a route gives its requests: format, payer, and form of the answer. */
export type ChatEndpoint = Pick<PaidEndpoint, 'format' | 'route' | 'payerOf' | 'batchLine'> & {
  line: RequestLine
  framing: Framing
  /** Text to send after the last event of a stream, once the cost is known. It has the form of the framing. */
  epilogue?: (answer: SettledAnswer) => string
}

class PaidChat extends PaidRequest implements ChatCall {
  asked: ChatCall['asked'] = undefined
  readonly framing: Framing
  readonly epilogue: ChatCall['epilogue']
  readonly sessionName: string | undefined
  wantsStream = false
  keep: ChatCall['keep'] = undefined
  isPrivate = false
  private readonly pathSays: RequestLine

  constructor(deps: HttpDeps, arrived: Request, endpoint: ChatEndpoint) {
    super(deps, arrived, endpoint, 'chat')
    this.framing = endpoint.framing
    this.epilogue = endpoint.epilogue
    this.sessionName = sessionNameOf(arrived.headers)
    this.pathSays = endpoint.line
  }

  answer(sent: JsonBody): Promise<Response> {
    const { deps, format, payer, share } = this
    assert(share, 'what was read has its share')
    const resuming = resumeRequest(deps, { format, payer, body: sent.json, bytes: sent.bytes, share })
    if (!resuming) return this.answerBody(sent)
    return resuming.then((resumed) => {
      const isStateless = !resumed.keep && resumed.body === sent.json
      return this.answerBody({ json: resumed.body, bytes: resumed.bytes }, resumed, isStateless)
    })
  }

  private answerBody(
    { json: body, bytes: bodyBytes, text }: JsonBody,
    resumed?: Resumed,
    isStateless = true,
  ): Promise<Response> {
    const { deps, format, share } = this
    const { headers } = this.arrived
    const decoded = format.decodeRequest(body, this.pathSays)
    share?.endTurn()
    const protocol = format.readProtocol?.(headers, body)
    if (protocol) decoded.protocol = protocol
    if (isOpenRouterLibrary(headers)) decoded.forOpenRouter = true
    const request = withPreferenceHeaders(resumed ? withEcho(decoded, resumed) : decoded, headers)
    this.nameModel(request.model, request.stream)
    if (request.userId !== undefined) this.nameEndUser(request.userId)
    this.asked = { request, body, bodyBytes, text }
    this.wantsStream = request.stream
    this.keep = resumed?.keep
    this.isPrivate = resumed !== undefined && resumed.keep === undefined
    const cacheSeconds = readCacheSeconds(headers, request.preferences)
    if (cacheSeconds === undefined) return handleChat(deps, this)
    const answer = () => handleChat(deps, this)
    // An answer to a stored conversation is not cached, because the conversation can be deleted.
    if (!isStateless) return answerUncached(this, answer)
    const { model, stream, forOpenRouter } = request
    const wishes = [QUALITY_HEADER, LOSSY_HEADER, USAGE_RECORD_HEADER].map((name) => headers.get(name))
    const facts = [this.framing.contentType, model, stream, protocol, forOpenRouter, ...wishes]
    return answerCached(this, { seconds: cacheSeconds, body, bytes: bodyBytes, facts }, answer)
  }
}

/** Decodes one request and passes it to the use case. Never rejects: errors become responses. */
export function answerChat(deps: HttpDeps, request: Request, endpoint: ChatEndpoint): Promise<Response> {
  return answerPaid(new PaidChat(deps, request, endpoint))
}

/** The codec of a format. Asserts that it exists. */
export function formatNamed(deps: Pick<HttpDeps, 'formats'>, name: FormatName): Format {
  const format = deps.formats.get(name)
  assert(format, `no codec for ${name}`)
  return format
}
