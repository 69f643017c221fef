/** Reads one upstream event stream, from bytes to wire events to hub events, at the reader's pace. */
import type { ChatEvent } from '@/chat/event'
import type { Format, StreamDecoder } from '@/formats/format'
import { parseJson } from '@/lib/json'
import { Pipe, type PipeEnd, type PipeSink } from '@/lib/streams/pipe'
import { type SseEvent, SseEventTooLargeError, SseParser } from '@/lib/streams/sse'
import type { UpstreamAnswer, UpstreamSink } from '@/upstream/answer'
import type { UpstreamFailure } from '@/upstream/failure'
import { RepeatPattern, type Repeats, type StreamItem } from './repeats'

export type StreamBatch =
  /** `repeats` precede `items`. `wire` has the exact bytes of both, if known. */
  | { kind: 'items'; items: StreamItem[]; repeats?: Repeats | undefined; wire?: Wire | undefined }
  /** The upstream closed; `events` close open blocks. */
  | { kind: 'done'; events: ChatEvent[] }
  | { kind: 'failed'; failure: UpstreamFailure }

type Wire = { text: string; bytes: Uint8Array }

/** Receives the non-empty batches of a stream; see {@link PipeSink}. */
export type BatchSink = Pick<PipeSink<unknown>, 'start' | 'cancel'> & {
  write(batch: StreamBatch): Promise<void> | undefined
}

export interface StreamSource {
  /** The next batch. One call at a time. Nothing follows `done` or `failed`. */
  next(): Promise<StreamBatch>
  /** Sends all further batches to `sink`, as fast as its output is read. If that stops, {@link next} returns the remaining batches. */
  pipeThrough(sink: BatchSink): ReadableStream<Uint8Array>
  hasSent(): boolean
  /** Whether the provider has sent its finish reason: only its last events are missing. */
  isFinished(): boolean
  /** From now on, a client's disconnect does not end the upstream call; this stream's reader decides when it ends. */
  outliveClient(): void
  onOvertime(listener: (failure: UpstreamFailure) => void): void
  /** `failure` with the provider's request id and without secrets, so that it can be logged and sent. */
  named(failure: UpstreamFailure): UpstreamFailure
  abort(): void
}

/** The failure of an answer that is far longer than its limit. Its charge never exceeds the hold, but the call must be stopped. */
export const RUNAWAY: UpstreamFailure = { kind: 'broken', detail: 'wrote far beyond its output limit' }

/** How long a finished upstream may take to close, so that its connection can be reused. */
const CLOSE_PATIENCE_MS = 1_000
const MAX_EVENT_CHARS = 16 * 1024 * 1024
/** A byte below this value is a whole character in UTF-8. */
const FIRST_OF_SEVERAL = 0x80

/** Opens `answer` as a stream of `format`. */
export function openStreamSource(answer: UpstreamAnswer, format: Format): StreamSource {
  return new DecodedStream(answer, format)
}

class DecodedStream implements StreamSource, UpstreamSink {
  private readonly parser = new SseParser(MAX_EVENT_CHARS)
  private readonly decoder: StreamDecoder
  private readonly pattern: RepeatPattern
  private sink: BatchSink | undefined
  private hasClosed = false
  private wasWhole = false

  constructor(
    private readonly answer: UpstreamAnswer,
    format: Format,
  ) {
    this.decoder = format.createStreamDecoder()
    this.pattern = new RepeatPattern(this.decoder)
  }

  async next(): Promise<StreamBatch> {
    while (!this.hasClosed) {
      const chunk = await this.answer.read()
      if (chunk.kind === 'failed') return chunk
      if (chunk.kind === 'done') this.hasClosed = true
      const batch = chunk.kind === 'bytes' ? this.batchOf(chunk.bytes) : this.tail()
      if (batch) return batch
    }
    return { kind: 'done', events: this.decoder.end() }
  }

  pipeThrough(sink: BatchSink): ReadableStream<Uint8Array> {
    this.sink = sink
    return this.answer.pipeThrough(this)
  }

  start(end: PipeEnd): Promise<void> | undefined {
    return this.sink?.start(end)
  }

  transform(bytes: Uint8Array): Promise<void> | undefined {
    const batch = this.batchOf(bytes)
    return batch && this.sink?.write(batch)
  }

  flush(failure: UpstreamFailure | undefined): Promise<void> | undefined {
    if (failure) return this.sink?.write({ kind: 'failed', failure })
    this.hasClosed = true
    const end = () => this.sink?.write({ kind: 'done', events: this.decoder.end() })
    const tail = this.tail()
    const busy = tail && this.sink?.write(tail)
    return busy ? busy.then(end) : end()
  }

  cancel(): void {
    this.sink?.cancel()
  }

  hasSent(): boolean {
    return this.answer.hasSent()
  }

  isFinished(): boolean {
    return this.decoder.isFinished()
  }

  outliveClient(): void {
    this.answer.outliveClient()
  }

  onOvertime(listener: (failure: UpstreamFailure) => void): void {
    this.answer.onOvertime(listener)
  }

  named(failure: UpstreamFailure): UpstreamFailure {
    return this.answer.named(failure)
  }

  abort(): void {
    this.answer.abort()
  }

  /** Decodes the events that are complete with these bytes; undefined if there are none. */
  private batchOf(bytes: Uint8Array): StreamBatch | undefined {
    const text = this.parser.decode(bytes)
    // A character split between two reads belongs to the second one's text.
    const isWhole = (bytes.at(-1) ?? 0) < FIRST_OF_SEVERAL
    const wire = isWhole && this.wasWhole ? { text, bytes } : undefined
    this.wasWhole = isWhole
    const found = this.parser.isBetweenBlocks() ? this.pattern.find(text) : undefined
    if (!found) return this.decoded(text, undefined, wire)
    return this.decoded(found.end === text.length ? '' : text.slice(found.end), found.repeats, wire)
  }

  private decoded(text: string, repeats: Repeats | undefined, wire: Wire | undefined): StreamBatch | undefined {
    const items: StreamItem[] = []
    try {
      if (text !== '') for (const sse of this.parser.append(text)) items.push(this.decode(sse))
    } catch (error) {
      return this.refused(error)
    }
    return items.length > 0 || repeats ? { kind: 'items', items, repeats, wire } : undefined
  }

  /** The incomplete block at the end of the stream, with a line end added, so that it doesn't merge with later text. */
  private tail(): StreamBatch | undefined {
    try {
      const items = this.parser.end().map((sse) => this.decode({ ...sse, raw: closed(sse.raw) }))
      return items.length > 0 ? { kind: 'items', items } : undefined
    } catch (error) {
      return this.refused(error)
    }
  }

  private refused(error: unknown): StreamBatch {
    if (!(error instanceof SseEventTooLargeError)) throw error
    this.abort()
    return { kind: 'failed', failure: { kind: 'malformed', detail: `event over ${MAX_EVENT_CHARS} characters` } }
  }

  private decode(sse: SseEvent): StreamItem {
    if (sse.data === undefined) return { sse, json: undefined, events: [] }
    const json = parseJson(sse.data)
    const item = { sse, json, events: this.decoder.push(sse, json) }
    this.pattern.learn(item)
    return item
  }
}

const END: StreamBatch = { kind: 'done', events: [] }

/** The source of a complete answer, without batches. */
export const EMPTY_SOURCE: StreamSource = {
  next: async () => END,
  pipeThrough(sink) {
    const flush = () => sink.write(END)
    const nothing = () => undefined
    const [start, cancel] = [sink.start.bind(sink), sink.cancel.bind(sink)]
    const pipe = new Pipe<never>({ start, cancel, received: nothing, transform: nothing, flush })
    void pipe.close()
    return pipe.readable
  },
  hasSent: () => true,
  isFinished: () => true,
  outliveClient: () => undefined,
  onOvertime: () => undefined,
  named: (failure) => failure,
  abort: () => undefined,
}

/** Waits until a finished provider ends the response itself, so that the connection can be reused. */
export async function letUpstreamClose(source: StreamSource): Promise<void> {
  const timer = setTimeout(() => source.abort(), CLOSE_PATIENCE_MS)
  for (let batch = await source.next(); batch.kind === 'items'; batch = await source.next());
  clearTimeout(timer)
}

function closed(raw: string): string {
  return /^[\r\n]*$/.test(raw) ? raw : `${raw}\n\n`
}
