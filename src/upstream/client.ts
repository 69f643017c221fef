/** One HTTP call to a provider: sends, waits for the answer's headers, and hands out the body with its timeouts attached. */
import type { ProviderKey, Target } from '@/catalog/types'
import type { Format } from '@/formats/format'
import { parseJson } from '@/lib/json'
import { createPipe, type Pipe, type PipeSink } from '@/lib/streams/pipe'
import { createDeadline, type Deadline } from './call-deadline'
import { endpointUrl, requestHeaders } from './endpoints'
import type { TimeoutPhase, UpstreamFailure } from './failure'
import { limitsIn } from './limit-headers'
import { createReachTest } from './reach'
import { readBounded } from './read-bounded'
import { sendAuthorized } from './send-authorized'

/** An answer that has begun with a success status. */
export type UpstreamAnswer = {
  kind: 'answer'
  isEventStream: boolean
  /** Reads the next bytes; `done` at the end. Never rejects: what goes wrong is a failure value. */
  read(): Promise<UpstreamChunk>
  /**
   * Hands what is still to come to `sink`, at the pace at which what it sends is read, and at its end why it broke, if it did;
   * {@link read} has what is left where nobody reads any more.
   */
  pipeThrough(sink: UpstreamSink): ReadableStream<Uint8Array>
  /** Reads the whole rest, at most `maxBytes`; more than that is a failure. Never rejects. */
  readAll(maxBytes: number): Promise<UpstreamBody>
  /** Whether anything of the body has come. */
  hasSent(): boolean
  /** From now on the client's going away does not end the call: whoever reads it decides. */
  outliveClient(): void
  /** Who is to be told when the call has taken as long as it may in all, also while nobody reads. */
  onOvertime(listener: (failure: UpstreamFailure) => void): void
  /** Ends the call at once and frees its socket. Safe to call twice, and after the end. */
  abort(): void
}

/** Where the bytes of an answer go; see {@link PipeSink}. */
type UpstreamSink = Omit<PipeSink<Uint8Array>, 'flush'> & {
  flush(failure: UpstreamFailure | undefined): Promise<void> | undefined
}

type UpstreamChunk =
  | { kind: 'bytes'; bytes: Uint8Array }
  | { kind: 'done' }
  | { kind: 'failed'; failure: UpstreamFailure }

type UpstreamBody = { kind: 'body'; bytes: Uint8Array } | { kind: 'failed'; failure: UpstreamFailure }

type UpstreamCall = {
  target: Target
  key: ProviderKey
  format: Format
  stream: boolean
  /** Where it is called, if not where conversations are. */
  url?: string
  bodyText: string
  /** Aborts the call: the client's, unless the provider's policy is to read on without one. */
  signal: AbortSignal
  /** Told with the way to end the call, instead of ending it, when the client goes away. */
  leave?: ((end: () => void) => void) | undefined
  /** Sent beside the provider's own, which go before them. */
  traceHeaders?: Record<string, string> | undefined
  /** What the caller asks of a provider of its own format. */
  protocol?: Record<string, string> | undefined
  /** Is given a way to end the call; see {@link CallHandle}. */
  handle?: CallHandle
}

/** Ends one call from outside: as one that nobody wants any more, or as having run out of one of its timeouts. */
export type CallHandle = { end(phase?: TimeoutPhase): void }

/** Up to this announced length a body is read natively in one go, at a fraction of a reader's cost. */
const MAX_NATIVE_READ_BYTES = 1024 * 1024
const MAX_ERROR_BODY_BYTES = 64 * 1024

const reachTest = createReachTest(() => performance.now())

/** What a call comes to: errors of the provider are failures. */
type CallResult = UpstreamAnswer | { kind: 'failed'; failure: UpstreamFailure }

/** Sends one request. Returns once the provider's status is known. */
export function callUpstream(call: UpstreamCall): Promise<CallResult> {
  const { authorizer } = call.target.provider.dialect
  const url = call.url ?? endpointUrl(call.target, call.stream)
  const headers = headersOf(call)
  if (!authorizer) return send(call, url, headers)
  const outgoing = { url, headers, body: call.bodyText }
  return sendAuthorized(authorizer, outgoing, call, (authorized) => send(call, url, authorized))
}

async function send(call: UpstreamCall, url: string, headers: Record<string, string>): Promise<CallResult> {
  const { target, format } = call
  const limits = target.provider.timeouts
  const deadline = createDeadline(limits, call.signal, call.leave)
  if (call.handle) call.handle.end = deadline.end
  const reach = target.provider.isProxied
    ? undefined
    : reachTest.watch(target.provider.baseUrl, limits.connectMs, deadline.unconnected)
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers,
      body: call.bodyText,
      // A redirect would carry our key to whatever address the answer names.
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
    return { kind: 'failed', failure: refusal(response, body, format) }
  }
  return createAnswer(response, deadline)
}

function headersOf({ target, key, stream, protocol, traceHeaders }: UpstreamCall): Record<string, string> {
  const headers = requestHeaders(target.provider, key, stream, protocol)
  return traceHeaders ? { ...traceHeaders, ...headers } : headers
}

function createAnswer(response: Response, deadline: Deadline): UpstreamAnswer {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let piped: Promise<void> | undefined
  let unread: Pipe<Uint8Array>['unread'] | undefined
  let ended = false
  let hasSent = false
  function finish(): void {
    ended = true
    deadline.clear()
  }
  function fail(error: unknown): { kind: 'failed'; failure: UpstreamFailure } {
    finish()
    return { kind: 'failed', failure: deadline.failure() ?? { kind: 'broken', detail: errorName(error) } }
  }
  function pipeThrough(sink: UpstreamSink) {
    reader?.releaseLock()
    reader = undefined
    const pipe = createPipe<Uint8Array>(
      {
        ...sink,
        transform(bytes) {
          const busy = sink.transform(bytes)
          if (busy) return busy.then(deadline.waits)
          deadline.waits()
          return undefined
        },
        flush(error) {
          if (error !== undefined) return sink.flush(fail(error).failure)
          finish()
          return sink.flush(undefined)
        },
      },
      () => {
        hasSent = true
        deadline.received()
      },
    )
    deadline.waits()
    piped = ended || !response.body ? pipe.close() : pipe.flowFrom(response.body)
    unread = pipe.unread
    return pipe.readable
  }
  async function read(): Promise<UpstreamChunk> {
    await piped
    const bytes = unread?.()
    unread = undefined
    if (bytes) return { kind: 'bytes', bytes }
    if (ended || !response.body) {
      finish()
      return { kind: 'done' }
    }
    reader ??= response.body.getReader()
    deadline.waits()
    try {
      const { done, value } = await reader.read()
      if (done) {
        finish()
        return { kind: 'done' }
      }
      deadline.received()
      hasSent = true
      return { kind: 'bytes', bytes: value }
    } catch (error) {
      return fail(error)
    }
  }
  function abort(): void {
    if (ended) return
    finish()
    deadline.abort()
  }
  return {
    kind: 'answer',
    isEventStream: (response.headers.get('content-type') ?? '').includes('text/event-stream'),
    read,
    pipeThrough,
    readAll(maxBytes) {
      if (announcedBytes(response.headers) > Math.min(maxBytes, MAX_NATIVE_READ_BYTES)) {
        return readPieces(read, abort, maxBytes)
      }
      // The whole body counts as one wait: so small a one has no business taking longer than the idle limit.
      deadline.received()
      deadline.waits()
      return response.bytes().then((bytes): UpstreamBody => {
        hasSent = true
        finish()
        return { kind: 'body', bytes }
      }, fail)
    },
    hasSent: () => hasSent,
    outliveClient: deadline.outliveClient,
    onOvertime: deadline.onOvertime,
    abort,
  }
}

/** How long a body will be; a compressed one, which nobody asked for, may unfold to any length. */
function announcedBytes(headers: Headers): number {
  const length = headers.get('content-length')
  return length === null || headers.has('content-encoding') ? Number.POSITIVE_INFINITY : Number(length)
}

async function readPieces(
  read: () => Promise<UpstreamChunk>,
  abort: () => void,
  maxBytes: number,
): Promise<UpstreamBody> {
  const pieces: Uint8Array[] = []
  let size = 0
  for (let chunk = await read(); chunk.kind !== 'done'; chunk = await read()) {
    if (chunk.kind === 'failed') return chunk
    pieces.push(chunk.bytes)
    size += chunk.bytes.length
    if (size > maxBytes) {
      abort()
      return { kind: 'failed', failure: { kind: 'malformed', detail: `answer over ${maxBytes} bytes` } }
    }
  }
  return { kind: 'body', bytes: Buffer.concat(pieces) }
}

function refusal(response: Response, body: Uint8Array, format: Format): UpstreamFailure {
  const error = format.decodeError(response.status, parseJson(new TextDecoder().decode(body)))
  return { kind: 'refused', error: { ...limitsIn(response.headers, response.status), ...error } }
}

/** The name or code of an error, which never holds an address or a key, unlike its message. */
function errorName(error: unknown): string {
  if (error instanceof Error) return 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return 'unknown error'
}
