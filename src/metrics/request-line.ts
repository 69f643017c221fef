/** The one line that a request leaves in the log, filled on its way and written once. */
import type { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Payer } from '@/ledger/outcomes'
import type { Logger, OwnValue } from '@/lib/logger'

/** The name of the line: an answer, vectors, a count of tokens, or a route. */
type LineEvent = 'chat' | 'embedding' | 'count' | 'route'

export type RequestLine = {
  readonly event: LineEvent
  readonly requestId: string
  format: FormatName
  /** The path of the endpoint in its first spelling. */
  readonly route: string
  readonly arrivedMonotonicMs: number
  /** The client's hang-up. */
  readonly signal: AbortSignal
  /** Undefined until it is known, and for good where the key is none. */
  payer: Payer | undefined
  /** In the caller's words. */
  requestedModel: string | undefined
  stream: boolean | undefined
  /** The last call of a provider that was started for it, and how many there were by then. */
  attempt: { model: string; provider: string; attempts: number } | undefined
  /** Why an answer that had begun broke off. */
  fault: GatewayError | undefined
  isWritten: boolean
}

/** A caller's name of a model may be any text: this much of it is written. */
const MAX_MODEL_CHARS = 128

/** Opens the line of a request that has just arrived. */
export function openLine(
  arrived: Pick<RequestLine, 'event' | 'requestId' | 'format' | 'route' | 'arrivedMonotonicMs' | 'signal'>,
): RequestLine {
  return {
    ...arrived,
    payer: undefined,
    requestedModel: undefined,
    stream: undefined,
    attempt: undefined,
    fault: undefined,
    isWritten: false,
  }
}

/** Writes the line, unless it is written: adds to `own`, which is of our making, and to `foreign`, which is not, what the line has. */
export function writeLine(
  logger: Pick<Logger, 'infoOwn'>,
  line: RequestLine,
  own: Record<string, OwnValue>,
  foreign: Record<string, string> = {},
): void {
  if (line.isWritten) return
  line.isWritten = true
  const { payer, requestedModel, fault } = line
  own.requestId = line.requestId
  own.accountId = payer?.accountId
  own.keyId = payer?.keyId
  own.format = line.format
  own.route = line.route
  own.stream = line.stream
  if (fault) {
    own.error = fault.kind
    own.code = fault.options.code
  }
  if (line.signal.aborted) own.clientGone = true
  if (requestedModel !== undefined) foreign.requestedModel = requestedModel.slice(0, MAX_MODEL_CHARS)
  logger.infoOwn(line.event, own, foreign)
}
