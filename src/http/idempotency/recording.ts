export interface Recording {
  /** The client's stream. */
  readonly stream: ReadableStream<Uint8Array>
  /** Called when the whole stream has arrived: reads the remaining bytes at once, and sends them after the copy was stored. */
  hurry(): void
  /** Called when the client has disconnected: reads the stream to its end for the copy, unless it is too long. */
  leave(): void
  /** Stops reading: the copy is incomplete. */
  giveUp(): void
}

type RecordingOptions = {
  /** A longer stream is not copied. */
  maxBytes: number
  /** The encoding of the copy as a text. */
  encoding: 'utf8' | 'base64'
  onLeave(): void
  /** Called at the stream's end with its text; undefined if it is incomplete. The client's stream ends when the promise resolves. */
  onEnd(text: string | undefined): Promise<void>
}

/** Copies a stream as fast as the client reads, so that it can be sent again. If the client disconnects, reads the stream to its end. */
export function recordStream(source: ReadableStream<Uint8Array>, options: RecordingOptions): Recording {
  const reader = source.getReader()
  const heldBack: Uint8Array[] = []
  let pieces: Uint8Array[] | undefined = []
  let size = 0
  let client: ReadableStreamDefaultController<Uint8Array> | undefined
  let state: 'told' | 'hurried' | 'unseen' = 'told'
  let hasEnded = false
  let failure: Error | undefined
  /** The last read; the next one waits for it. */
  let turn = Promise.resolve()

  function copy(piece: Uint8Array): void {
    size += piece.length
    if (size > options.maxBytes) pieces = undefined
    pieces?.push(piece)
    if (!pieces && state === 'unseen') giveUp()
  }

  async function step(): Promise<void> {
    if (hasEnded) return
    const { done, value } = await reader.read().catch(breakOff)
    if (done) return end()
    copy(value)
    if (state === 'hurried') heldBack.push(value)
    else tell(value)
  }

  async function readAll(): Promise<void> {
    while (!hasEnded) await step()
  }

  async function end(): Promise<void> {
    hasEnded = true
    await options.onEnd(pieces && Buffer.concat(pieces).toString(options.encoding))
    for (const piece of heldBack) tell(piece)
    if (state === 'unseen') return
    if (failure) client?.error(failure)
    else client?.close()
  }

  function tell(piece: Uint8Array): void {
    if (state !== 'unseen') client?.enqueue(piece)
  }

  /** Ends the client's stream with an error, since a broken stream must not look complete. */
  function breakOff(error: Error): { done: true; value: undefined } {
    failure = error
    return giveUp()
  }

  function giveUp(): { done: true; value: undefined } {
    pieces = undefined
    void reader.cancel().catch(() => undefined)
    return { done: true, value: undefined }
  }

  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      client = controller
    },
    pull() {
      turn = turn.then(step)
      return turn
    },
    cancel: () => options.onLeave(),
  })
  return {
    stream,
    hurry() {
      if (state === 'told') state = 'hurried'
      turn = turn.then(readAll)
    },
    leave() {
      state = 'unseen'
      if (!pieces) giveUp()
      turn = turn.then(readAll)
    },
    giveUp: () => void giveUp(),
  }
}
