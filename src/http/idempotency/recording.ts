/** Copies a stream on its way to its client, so that it can be given again; and reads it to its end where the client has gone. */

export interface Recording {
  /** What the client gets. */
  readonly stream: ReadableStream<Uint8Array>
  /** The rest is all there: reads it at once, and tells it when it is kept. */
  hurry(): void
  /** The client has gone: reads on for the copy, unless that has become too long. */
  leave(): void
  /** Reads no further: what is there is no whole answer. */
  giveUp(): void
}

type RecordingOptions = {
  /** A longer stream is not copied. */
  maxBytes: number
  /** The client hung up. */
  onLeave(): void
  /** The stream has ended, as a text or as something that is no whole answer. The client's own end waits for it. */
  onEnd(text: string | undefined): Promise<void>
}

/** Copies `source`. While its client is there, it is read as fast as the client takes it. */
export function recordStream(source: ReadableStream<Uint8Array>, options: RecordingOptions): Recording {
  const reader = source.getReader()
  const heldBack: Uint8Array[] = []
  let pieces: Uint8Array[] | undefined = []
  let size = 0
  let client: ReadableStreamDefaultController<Uint8Array> | undefined
  let state: 'told' | 'hurried' | 'unseen' = 'told'
  let hasEnded = false
  /** Reads wait for each other here. */
  let turn = Promise.resolve()

  function copy(piece: Uint8Array): void {
    size += piece.length
    if (size > options.maxBytes) pieces = undefined
    pieces?.push(piece)
    if (!pieces && state === 'unseen') giveUp()
  }

  async function step(): Promise<void> {
    if (hasEnded) return
    const { done, value } = await reader.read().catch(giveUp)
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
    await options.onEnd(pieces && Buffer.concat(pieces).toString())
    for (const piece of heldBack) tell(piece)
    if (state !== 'unseen') client?.close()
  }

  function tell(piece: Uint8Array): void {
    if (state !== 'unseen') client?.enqueue(piece)
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
