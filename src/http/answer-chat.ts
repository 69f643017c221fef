/** Hands a request for a conversation from the door to the use case, the same for every format. */
import type { FormatName } from '@/chat/format-name'
import type { Format, Framing, RequestLine } from '@/formats/format'
import { handleChat } from '@/gateway/handle-chat'
import type { SettledAnswer } from '@/ledger/charge'
import { assert } from '@/lib/assert'
import { whenThere } from '@/lib/wait/soon'
import { answerPaid, type PaidEndpoint } from './answer-paid'
import type { HttpDeps } from './deps'
import { withPreferenceHeaders } from './preference-headers'
import { resumeRequest, withEcho } from './resume'

/** What the path says of the request, and how its answer is to be framed. */
export type ChatEndpoint = Pick<PaidEndpoint, 'format' | 'route' | 'payerOf'> & {
  line: RequestLine
  framing: Framing
  /** What a stream ends in beyond its format's own words, once the cost is known; in the framing's text. */
  epilogue?: (answer: SettledAnswer) => string
}

/** Decodes one request and hands it to the use case. Never rejects: errors become answers. */
export function answerChat(deps: HttpDeps, request: Request, endpoint: ChatEndpoint): Promise<Response> {
  const { format, line, framing, epilogue } = endpoint
  return answerPaid(deps, request, { ...endpoint, event: 'chat' }, (paid) => {
    const { payer, body, bodyBytes: bytes, share } = paid
    return whenThere(resumeRequest(deps, { format, payer, body, bytes, share }), (resumed) => {
      const grownBody = resumed?.body ?? body
      const decoded = format.decodeRequest(grownBody, line)
      share.endTurn()
      const protocol = format.readProtocol?.(request.headers, grownBody)
      if (protocol) decoded.protocol = protocol
      const chat = withPreferenceHeaders(resumed ? withEcho(decoded, resumed) : decoded, request.headers)
      paid.nameModel(chat.model, chat.stream)
      return handleChat(deps, {
        requestId: paid.requestId,
        payer,
        body: grownBody,
        bodyBytes: resumed?.bytes ?? bytes,
        signal: paid.signal,
        arrivedAtMs: paid.arrivedAtMs,
        arrivedMonotonicMs: paid.arrivedMonotonicMs,
        idempotencyKey: paid.idempotencyKey,
        onEnd: paid.onEnd,
        onSettled: paid.onSettled,
        onLateFailure: paid.onLateFailure,
        line: paid.line,
        keep: resumed?.keep,
        isPrivate: resumed !== undefined && resumed.keep === undefined,
        format,
        framing,
        request: chat,
        sessionName: request.headers.get('x-svc-session') ?? undefined,
        epilogue,
      })
    })
  })
}

/** The codec of a format; asserts that it is there. */
export function formatNamed(deps: HttpDeps, name: FormatName): Format {
  const format = deps.formats.get(name)
  assert(format, `no codec for ${name}`)
  return format
}
