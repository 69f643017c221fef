/** The log line of a request, filled during the request and written once. */
import type { ModelKind } from '@/catalog/types'
import type { GatewayError } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Payer } from '@/ledger/outcomes'
import type { Logger, OwnValue } from '@/lib/logger'

/** The line's event: an answer by a model of this kind, a token count, or another route. */
type LineEvent = ModelKind | 'count' | 'route'

export type RequestLine = {
  readonly event: LineEvent
  readonly requestId: string
  format: FormatName
  readonly route: string
  readonly arrivedMonotonicMs: number
  readonly signal: AbortSignal
  /** Undefined until the key was found; for an invalid key always. */
  payer: Payer | undefined
  requestedModel: string | undefined
  stream: boolean | undefined
  /** The last call to a provider, and the number of calls so far. */
  attempt: { model: string; provider: string; attempts: number } | undefined
  fault: GatewayError | undefined
  isWritten: boolean
}

/** A caller's model name may be any text, so it is cut to this length. */
const MAX_MODEL_CHARS = 128

/** Opens the line of a request that has just arrived. */
export function openLine(
  event: LineEvent,
  format: FormatName,
  route: string,
  { requestId, arrivedMonotonicMs, signal }: Pick<RequestLine, 'requestId' | 'arrivedMonotonicMs' | 'signal'>,
): RequestLine {
  return {
    event,
    requestId,
    format,
    route,
    arrivedMonotonicMs,
    signal,
    payer: undefined,
    requestedModel: undefined,
    stream: undefined,
    attempt: undefined,
    fault: undefined,
    isWritten: false,
  }
}

/** Writes the line once. Adds its values to `own` (texts of this program) and `foreign` (texts of clients and providers). */
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
