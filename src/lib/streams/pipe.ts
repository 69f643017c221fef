/** A TransformStream that can be written and ended from outside, says what was left unread, and ends one side alone. */

/** What becomes of the chunks. Where something takes its time, nothing more is read meanwhile. */
export type PipeSink<Chunk> = {
  /** Before the first chunk. */
  start(pipe: PipeEnd): Promise<void> | undefined
  /** One chunk, in order. */
  transform(chunk: Chunk): Promise<void> | undefined
  /** The source has ended, or broke and says why; what is sent meanwhile is still read. */
  flush(failure: unknown): Promise<void> | undefined
  /** The reader has left. */
  cancel(): void
}

/** The reader's end, for whoever writes to it. */
export type PipeEnd = {
  /** Nothing happens where the reader has left. */
  send(bytes: Uint8Array): void
  /** Ends what is read, once all that was sent is read, and takes no more chunks. */
  end(): void
}

export type Pipe<Chunk> = PipeEnd & {
  readable: ReadableStream<Uint8Array>
  /**
   * Lets chunks flow until `source` ends, breaks or is no longer read, and is then left unlocked and uncancelled. Never rejects.
   */
  flowFrom(source: ReadableStream<Chunk>): Promise<void>
  /** There is nothing to flow. */
  close(): Promise<void>
  /** The chunk that had been read when the reader left, and not been transformed. */
  unread(): Chunk | undefined
}

/** Neither end takes the other with it: of a source that breaks its reader is told, and one whose reader has left may be read on. */
const BOTH_STAY = { preventAbort: true, preventCancel: true }

/** Creates a pipe; `onRead` is told of each chunk when it is read, which may be before it is its turn. */
export function createPipe<Chunk>(sink: PipeSink<Chunk>, onRead: () => void): Pipe<Chunk> {
  let controller: TransformStreamDefaultController<Uint8Array> | undefined
  let unread: Chunk | undefined
  let isEnded = false
  let failure: unknown
  const end: PipeEnd = {
    send(bytes) {
      try {
        controller?.enqueue(bytes)
      } catch {
        // The reader is gone, and its leaving on its way to the sink.
      }
    },
    end() {
      isEnded = true
      controller?.terminate()
    },
  }
  // A strategy's size is asked of a chunk when it was read, and before it waits for its turn.
  const size = (chunk?: Chunk) => {
    unread = chunk
    onRead()
    return 1
  }
  const { readable, writable } = new TransformStream<Chunk, Uint8Array>(
    {
      start(opened) {
        controller = opened
        return sink.start(end)
      },
      transform(chunk) {
        unread = undefined
        return sink.transform(chunk)
      },
      flush: () => sink.flush(failure),
      cancel() {
        isEnded = true
        sink.cancel()
      },
    } as Transformer<Chunk, Uint8Array>,
    { highWaterMark: 1, size },
  )
  const close = () => writable.close().catch(() => undefined)
  return {
    ...end,
    readable,
    flowFrom: (source) =>
      source.pipeTo(writable, BOTH_STAY).catch((error: unknown) => {
        if (isEnded) return undefined
        // What was read before has its turn first.
        failure = error
        return close()
      }),
    close,
    unread: () => unread,
  }
}
