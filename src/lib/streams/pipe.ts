/** A TransformStream that can be written and ended from outside, gives back unread chunks, and can end only one of its sides. */

/** Handles the chunks. While a returned promise is pending, no more is read. */
export type PipeSink<Chunk> = {
  /** A chunk was read from the source. Earlier chunks may still be handled. */
  received(): void
  /** Called before the first chunk. */
  start(pipe: PipeEnd): Promise<void> | undefined
  transform(chunk: Chunk): Promise<void> | undefined
  /** The source has ended, or failed with `failure`. The reader still gets bytes that are sent during this call. */
  flush(failure: unknown): Promise<void> | undefined
  cancel(): void
}

/** The methods by which the sink sends to the reader. */
export type PipeEnd = {
  /** No effect after the reader cancelled. */
  send(bytes: Uint8Array): void
  /** Ends the readable side after all sent bytes, and accepts no more chunks. */
  end(): void
  /** Breaks the readable side off with this error, and accepts no more chunks. */
  fail(error: Error): void
}

/** Neither end closes the other: the reader gets the source's error, and after the reader cancelled the source can still be read. */
const BOTH_STAY = { preventAbort: true, preventCancel: true }

export class Pipe<Chunk> implements PipeEnd {
  readonly readable: ReadableStream<Uint8Array>
  private readonly writable: WritableStream<Chunk>
  private controller: TransformStreamDefaultController<Uint8Array> | undefined
  private waiting: Chunk | undefined
  private isEnded = false
  private failure: unknown

  constructor(private readonly sink: PipeSink<Chunk>) {
    // The size function is called when a chunk was read, before it is handled.
    const size = (chunk?: Chunk) => {
      this.waiting = chunk
      sink.received()
      return 1
    }
    const stream = new TransformStream<Chunk, Uint8Array>(this as unknown as Transformer<Chunk, Uint8Array>, {
      highWaterMark: 1,
      size,
    })
    this.readable = stream.readable
    this.writable = stream.writable
  }

  send(bytes: Uint8Array): void {
    try {
      this.controller?.enqueue(bytes)
    } catch {
      // The reader has cancelled: the sink's `cancel` is called soon.
    }
  }

  end(): void {
    this.isEnded = true
    this.controller?.terminate()
  }

  fail(error: Error): void {
    this.isEnded = true
    this.controller?.error(error)
  }

  /** Pipes until `source` ends, fails or is no longer read; leaves it unlocked and uncancelled. Never rejects. */
  flowFrom(source: ReadableStream<Chunk>): Promise<void> {
    return source.pipeTo(this.writable, BOTH_STAY).catch((error: unknown) => {
      if (this.isEnded) return undefined
      this.failure = error
      return this.close()
    })
  }

  close(): Promise<void> {
    return this.writable.close().catch(() => undefined)
  }

  /** The chunk that was read but not handled when the reader cancelled. */
  unread(): Chunk | undefined {
    return this.waiting
  }

  protected start(opened: TransformStreamDefaultController<Uint8Array>): Promise<void> | undefined {
    this.controller = opened
    return this.sink.start(this)
  }

  protected transform(chunk: Chunk): Promise<void> | undefined {
    this.waiting = undefined
    return this.sink.transform(chunk)
  }

  protected flush(): Promise<void> | undefined {
    return this.sink.flush(this.failure)
  }

  protected cancel(): void {
    this.isEnded = true
    this.sink.cancel()
  }
}
