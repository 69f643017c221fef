/** One HTTP call to a provider: sends it, waits for the answer's headers, and returns the body with its timeouts. */

import type { ProviderKey, Target } from '@/catalog/types'
import type { CountsInDoubt, Dialect } from '@/dialects/dialect'
import type { Format } from '@/formats/format'
import { isJsonObject, type JsonObject, type JsonValue, parseJson, textOf } from '@/lib/json'
import { errorName, OpenAnswer, type UpstreamAnswer } from './answer'
import { CallDeadline, type CallHandle, type WithoutClient } from './call-deadline'
import { endpointUrl, requestHeaders, usualHeaders } from './endpoints'
import { limitsIn, requestIdIn, type UpstreamFailure } from './failure'
import { createReachTest } from './reach'
import { sendAuthorized } from './send-authorized'
import { withoutSent } from './sent-secrets'
import { TranslatedAnswer } from './translated-answer'

export type UpstreamCall = {
  target: Target
  key: ProviderKey
  format: Format
  stream: boolean
  /** The URL, if it differs from the one for conversations. */
  url?: string
  bodyText: string
  /** A form with files, sent instead of `bodyText`. */
  form?: FormData
  /** Aborts the call: the client's signal, unless the provider's policy is to read on without a client. */
  signal: AbortSignal
  /** Set if the call may continue without its client: gets a function that ends the call. */
  readingOn?: WithoutClient | undefined
  /** Headers for tracing. The provider's own headers override them. */
  traceHeaders?: Record<string, string> | undefined
  /** Headers that replace the usual ones, such as the caller's protocol headers if the provider has the caller's format. */
  protocol?: Record<string, string> | undefined
  handle?: CallHandle
  /** Called if a cloud reports two different token counts, see `readAnswer` of a dialect. */
  doubted?: ((counts: CountsInDoubt) => void) | undefined
}

const MAX_ERROR_BODY_BYTES = 64 * 1024

const reachTest = createReachTest(() => performance.now())

type CallResult = UpstreamAnswer | { kind: 'failed'; failure: UpstreamFailure }

/** Sends one request. Returns once the provider's status is known. */
export function callUpstream(call: UpstreamCall): Promise<CallResult> {
  const { authorizer } = call.target.provider.dialect
  const url = call.url ?? endpointUrl(call.target, call.stream)
  if (!authorizer) return send(call, url, headersOf(call))
  const headers = ownHeaders(call)
  const outgoing = { url, headers, body: call.bodyText }
  return sendAuthorized(authorizer, outgoing, call, (authorized) => send(call, url, authorized))
}

async function send(call: UpstreamCall, url: string, headers: Headers | Record<string, string>): Promise<CallResult> {
  const { target, format } = call
  const limits = target.provider.timeouts
  const deadline = new CallDeadline(limits, call.signal, call.readingOn)
  if (call.handle) call.handle.deadline = deadline
  const reach = target.provider.isProxied
    ? undefined
    : reachTest.watch(target.provider.baseUrl, limits.connectMs, deadline)
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers,
      body: call.form ?? call.bodyText,
      // A redirect would send our key to any address in the answer.
      redirect: 'error',
      signal: deadline.signal,
      // Bun's own five-minute limit would cut long answers; the deadline above is the limit.
      timeout: false,
    } as RequestInit)
    reach?.answered()
  } catch (error) {
    const unheard = reach?.stop()
    deadline.clear()
    return {
      kind: 'failed',
      failure: deadline.failure() ?? { kind: 'unreachable', detail: errorName(error), ...unheard },
    }
  }
  if (!response.ok) {
    const body = await readBounded(response, MAX_ERROR_BODY_BYTES)
    deadline.clear()
    deadline.abort()
    const failure = refusal(response, body, format, target.provider.dialect)
    return { kind: 'failed', failure: withoutSent(failure, headers) }
  }
  const answer = new OpenAnswer(response, deadline, headers)
  const reading = target.provider.dialect.readAnswer?.(response.headers, call.doubted)
  return reading ? new TranslatedAnswer(answer, reading) : answer
}

function headersOf(call: UpstreamCall): Headers | Record<string, string> {
  const { target, key, stream, protocol, traceHeaders } = call
  return protocol || traceHeaders ? ownHeaders(call) : usualHeaders(target.provider, key, stream)
}

function ownHeaders({ target, key, stream, protocol, traceHeaders, form }: UpstreamCall): Record<string, string> {
  const headers = requestHeaders(target.provider, key, stream, protocol)
  // The HTTP client sets the content type of a form, with its boundary.
  if (form) delete headers['content-type']
  return traceHeaders ? { ...traceHeaders, ...headers } : headers
}

function refusal(response: Response, body: Uint8Array, format: Format, dialect: Dialect): UpstreamFailure {
  const { status, headers } = response
  const json = parseJson(new TextDecoder().decode(body))
  const said = dialect.decodeError?.(status, headers, json)
  const own = said || !JUDGING.has(status) ? undefined : ownError(json)
  const error = { ...(said ?? format.decodeError(status, json)), ...(own && { own }) }
  const serverTimeMs = dialect.authorizer ? Date.parse(headers.get('date') ?? '') : Number.NaN
  return {
    kind: 'refused',
    error: { ...limitsIn(headers, status), ...error },
    ...(!Number.isNaN(serverTimeMs) && { serverTimeMs }),
    ...requestIdIn(headers),
  }
}

/** Statuses by which a provider refuses the request's content. */
const JUDGING: ReadonlySet<number> = new Set([400, 413, 422])

/** The error object of an error response, if it has a message. Some providers put the object into a list. */
function ownError(json: JsonValue | undefined): JsonObject | undefined {
  const outer = Array.isArray(json) ? json[0] : json
  const error = isJsonObject(outer) ? outer.error : undefined
  return isJsonObject(error) && textOf(error.message) ? error : undefined
}

/** Reads at most `limit` bytes of a body and drops the rest. If the connection breaks, returns the bytes that arrived. */
export async function readBounded(response: Response, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk.subarray(0, limit - size))
      size += chunk.length
      if (size >= limit) break
    }
  } catch {
    // The body broke off: the bytes before that are returned.
  }
  return Buffer.concat(chunks)
}
