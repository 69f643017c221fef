/** A provider's answer after its status. Reads the body within the call's time limits: whole, in pieces, or through a pipe. */
import { Pipe, type PipeEnd, type PipeSink } from '@/lib/streams/pipe'
import type { CallDeadline } from './call-deadline'
import { requestIdIn, type UpstreamFailure } from './failure'
import { type SentHeaders, withoutSent } from './sent-secrets'

/** Receives the bytes of an answer; see {@link PipeSink}. */
export type UpstreamSink = Omit<PipeSink<Uint8Array>, 'received' | 'flush'> & {
  flush(failure: UpstreamFailure | undefined): Promise<void> | undefined
}

type UpstreamChunk =
  | { kind: 'bytes'; bytes: Uint8Array }
  | { kind: 'done' }
  | { kind: 'failed'; failure: UpstreamFailure }

export type UpstreamBody =
  | { kind: 'body'; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'failed'; failure: UpstreamFailure }

type Failed = { kind: 'failed'; failure: UpstreamFailure }

/** Maximum announced length of a body that is read with one native call. This is much cheaper than reading in pieces. */
const MAX_NATIVE_READ_BYTES = 1024 * 1024

/** An answer that has begun with a success status. */
export class OpenAnswer implements PipeSink<Uint8Array> {
  readonly kind = 'answer'
  readonly contentType: string
  readonly isEventStream: boolean
  private reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  private sink: UpstreamSink | undefined
  private piped: Promise<void> | undefined
  private pipe: Pipe<Uint8Array> | undefined
  private hasEnded = false
  private hasBytes = false

  constructor(
    private readonly response: Response,
    private readonly deadline: CallDeadline,
    private readonly sent: SentHeaders,
  ) {
    this.contentType = response.headers.get('content-type') ?? ''
    this.isEventStream = this.contentType.includes('text/event-stream')
  }

  /** Reads the next bytes; `done` at the end. Never rejects: errors are failure values. */
  async read(): Promise<UpstreamChunk> {
    await this.piped
    const bytes = this.pipe?.unread()
    this.pipe = undefined
    if (bytes) return { kind: 'bytes', bytes }
    const { body } = this.response
    if (this.hasEnded || !body) return this.finish(DONE)
    this.reader ??= body.getReader()
    this.deadline.waits()
    try {
      const { done, value } = await this.reader.read()
      if (done) return this.finish(DONE)
      this.received()
      return { kind: 'bytes', bytes: value }
    } catch (error) {
      return this.fail(error)
    }
  }

  /** Sends the remaining body, then any error, to `sink`, as fast as its output is read. If that stops, {@link read} takes over. */
  pipeThrough(sink: UpstreamSink): ReadableStream<Uint8Array> {
    this.reader?.releaseLock()
    this.reader = undefined
    const { body } = this.response
    this.sink = sink
    const pipe = new Pipe<Uint8Array>(this)
    this.deadline.waits()
    this.piped = this.hasEnded || !body ? pipe.close() : pipe.flowFrom(body)
    this.pipe = pipe
    return pipe.readable
  }

  // The pipe calls the following methods.

  start(end: PipeEnd): Promise<void> | undefined {
    return this.sink?.start(end)
  }

  received(): void {
    this.hasBytes = true
    this.deadline.received()
  }

  transform(bytes: Uint8Array): Promise<void> | undefined {
    const busy = this.sink?.transform(bytes)
    if (busy) return busy.then(() => this.deadline.waits())
    this.deadline.waits()
    return undefined
  }

  flush(error: unknown): Promise<void> | undefined {
    return this.sink?.flush(error === undefined ? this.finish(undefined) : this.fail(error).failure)
  }

  cancel(): void {
    this.sink?.cancel()
  }

  /** Reads the whole rest of the body. More than `maxBytes` is a failure. Never rejects. */
  readAll(maxBytes: number): Promise<UpstreamBody> {
    if (announcedBytes(this.response.headers) > Math.min(maxBytes, MAX_NATIVE_READ_BYTES)) {
      return readPieces(this, maxBytes)
    }
    // Reading the whole body counts as one wait, because a small body shouldn't take longer than the idle limit.
    this.deadline.received()
    this.deadline.waits()
    return this.response.bytes().then(
      (bytes): UpstreamBody => {
        this.hasBytes = true
        return this.finish({ kind: 'body', bytes })
      },
      (error: unknown) => this.fail(error),
    )
  }

  hasSent(): boolean {
    return this.hasBytes
  }

  /** Adds the provider's request id to `failure`, and removes the secrets of the call. */
  named(failure: UpstreamFailure): UpstreamFailure {
    return { ...withoutSent(failure, this.sent), ...requestIdIn(this.response.headers) }
  }

  /** From now on, a disconnect of the client does not end the call. The reader of the answer decides. */
  outliveClient(): void {
    this.deadline.outliveClient()
  }

  /** Calls `listener` at the call's total time limit, even while nobody reads. */
  onOvertime(listener: (failure: UpstreamFailure) => void): void {
    this.deadline.onOvertime(listener)
  }

  /** Ends the call at once and frees its socket. Safe to call twice, and after the end. */
  abort(): void {
    if (this.hasEnded) return
    this.finish(undefined)
    this.deadline.abort()
  }

  private finish<Result>(result: Result): Result {
    this.hasEnded = true
    this.deadline.clear()
    return result
  }

  private fail(error: unknown): Failed {
    const failure = this.deadline.failure() ?? { kind: 'broken', detail: errorName(error) }
    return this.finish({ kind: 'failed', failure })
  }
}

export type UpstreamAnswer = Pick<OpenAnswer, Exclude<keyof OpenAnswer, keyof PipeSink<Uint8Array>>>

const DONE = { kind: 'done' } as const

function announcedBytes(headers: Headers): number {
  const length = headers.get('content-length')
  return length === null || headers.has('content-encoding') ? Number.POSITIVE_INFINITY : Number(length)
}

async function readPieces(answer: UpstreamAnswer, maxBytes: number): Promise<UpstreamBody> {
  const pieces: Uint8Array[] = []
  let size = 0
  for (let chunk = await answer.read(); chunk.kind !== 'done'; chunk = await answer.read()) {
    if (chunk.kind === 'failed') return chunk
    pieces.push(chunk.bytes)
    size += chunk.bytes.length
    if (size > maxBytes) {
      answer.abort()
      return { kind: 'failed', failure: { kind: 'malformed', detail: `answer over ${maxBytes} bytes` } }
    }
  }
  return { kind: 'body', bytes: Buffer.concat(pieces) }
}

/** The name or code of an error, which never contains an address or a key, unlike its message. */
export function errorName(error: unknown): string {
  if (error instanceof Error) return 'code' in error && typeof error.code === 'string' ? error.code : error.name
  return 'unknown error'
}
