/** A TransformStream that can be written and ended from outside, says what was left unread, and ends one side alone. */

/** The outcome of the chunks. If something takes its time, nothing more is read meanwhile. */
export type PipeSink<Chunk> = {
  /** A chunk was read, which may be before it is its turn. */
  received(): void
  /** Before the first chunk. */
  start(pipe: PipeEnd): Promise<void> | undefined
  /** One chunk, in order. */
  transform(chunk: Chunk): Promise<void> | undefined
  /** The source has ended, or broke and says why; what is sent meanwhile is still read. */
  flush(failure: unknown): Promise<void> | undefined
  /** The reader has left. */
  cancel(): void
}

/** The reader's end, as the writer sees it. */
export type PipeEnd = {
  /** Nothing happens where the reader has left. */
  send(bytes: Uint8Array): void
  /** Ends what is read, once all that was sent is read, and takes no more chunks. */
  end(): void
}

/** Neither end closes the other: the reader gets an error of a broken source, and a source whose reader has left may be read on. */
const BOTH_STAY = { preventAbort: true, preventCancel: true }

/** A pipe into `sink`. */
export class Pipe<Chunk> implements PipeEnd {
  readonly readable: ReadableStream<Uint8Array>
  private readonly writable: WritableStream<Chunk>
  private controller: TransformStreamDefaultController<Uint8Array> | undefined
  private waiting: Chunk | undefined
  private isEnded = false
  private failure: unknown

  constructor(private readonly sink: PipeSink<Chunk>) {
    // A strategy's size is asked of a chunk when it was read, and before it waits for its turn.
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
      // The reader is gone, and its leaving on its way to the sink.
    }
  }

  end(): void {
    this.isEnded = true
    this.controller?.terminate()
  }

  /**
   * Lets chunks flow until `source` ends, breaks or is no longer read, and is then left unlocked and uncancelled. Never rejects.
   */
  flowFrom(source: ReadableStream<Chunk>): Promise<void> {
    return source.pipeTo(this.writable, BOTH_STAY).catch((error: unknown) => {
      if (this.isEnded) return undefined
      // What was read before has its turn first.
      this.failure = error
      return this.close()
    })
  }

  /** There is nothing to flow. */
  close(): Promise<void> {
    return this.writable.close().catch(() => undefined)
  }

  /** The chunk that had been read when the reader left, and not been transformed. */
  unread(): Chunk | undefined {
    return this.waiting
  }

  // What the TransformStream calls.

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
