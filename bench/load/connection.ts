/** One keep-alive connection of the client: sends bytes, hears of the answer's first text and of its end, connects anew if closed. */
import type { Socket } from 'bun'
import { createAnswerReader } from './answer-reader'
import { readStamps, wallClockMs } from './stamps'

/** What happens to the request under way. All times are of performance.now(). */
type ConnectionEvents = {
  /** The answer is complete; so many pieces of a stream were in it. */
  onAnswer(status: number, pieces: number): void
  /** The connection broke or could not be made before the answer was complete. */
  onFailure(reason: string): void
  /** A piece of a stream came, `delayMs` after the upstream sent it (NaN where that can't be told). */
  onChunk(delayMs: number): void
}

export interface Connection {
  /** Sends one request; only after the last one was answered or failed. */
  send(request: Buffer): void
  close(): void
}

/** Opens a connection to a port of this machine. What is sent before it is open waits for that. */
export function openConnection(port: number, events: ConnectionEvents): Connection {
  const reader = createAnswerReader()
  let socket: Socket | undefined
  let unsent: Buffer | undefined
  let isBusy = false
  let pieces = 0
  let isConnecting = false
  let isClosed = false

  function flush(): void {
    if (!socket || !unsent) return
    const written = socket.write(unsent)
    unsent = written < unsent.length ? unsent.subarray(written) : undefined
  }

  function fail(reason: string): void {
    socket = undefined
    isConnecting = false
    unsent = undefined
    if (isClosed || !isBusy) return
    isBusy = false
    events.onFailure(reason)
  }

  function receive(bytes: Buffer): void {
    if (!isBusy) return
    const nowMs = wallClockMs()
    readStamps(bytes, (sentAtMs) => {
      pieces += 1
      events.onChunk(nowMs - sentAtMs)
    })
    if (!reader.push(bytes)) return
    isBusy = false
    events.onAnswer(reader.status(), pieces)
  }

  function connect(): void {
    if (isConnecting) return
    isConnecting = true
    Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: {
        open(opened) {
          socket = opened
          isConnecting = false
          if (isClosed) opened.end()
          else flush()
        },
        data: (_, bytes) => receive(bytes),
        drain: flush,
        close: () => fail('closed'),
        error: (_, error) => fail(error.name),
      },
    }).catch(() => fail('unreachable'))
  }

  connect()
  return {
    send(request) {
      reader.reset()
      pieces = 0
      isBusy = true
      unsent = request
      if (socket) flush()
      else connect()
    },
    close() {
      isClosed = true
      socket?.terminate()
    },
  }
}
