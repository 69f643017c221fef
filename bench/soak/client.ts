/** One request of the soak on a bare socket, and what its client does with the answer: reads it, leaves, dawdles, or stops reading. */
import { connect, type Socket } from 'node:net'
import { createAnswerReader } from '@bench/load/answer-reader'

export type Manner =
  | { kind: 'read' }
  /** Goes away after so long, whatever has come by then. */
  | { kind: 'leave'; afterMs: number; how: 'close' | 'reset' | 'half-close' }
  /** Rests after each piece that came. */
  | { kind: 'dawdle'; restMs: number }
  /** Takes nothing off the socket for so long, then reads the rest or goes away. */
  | { kind: 'stop'; restMs: number; how: 'read' | 'reset' }
  /** Sends only the beginning of the request and waits. */
  | { kind: 'unfinished'; bytes: number; restMs: number }

/** What became of it: a status, whether the answer had its end, or how it came to none. */
type Ending = { status: number; how: 'whole' | 'no end' | 'left' | 'closed' | 'unreachable' | 'timeout' }

export interface SoakClient {
  send(request: Buffer, manner: Manner): Promise<Ending>
  /** Closes the connections that wait for another request. */
  close(): void
}

const TIMEOUT_MS = 90_000
/** Of the connections that could be used again, so many are: the others are closed, and their clients connect anew. */
const REUSED_SHARE = 0.8
const MAX_IDLE = 64
const TAIL_BYTES = 512
/** How a stream ends in each format. */
const STREAM_END = /\[DONE\]|message_stop|"finishReason"/

/** Creates a client with an empty pool. */
export function createSoakClient(port: number): SoakClient {
  const idle: Socket[] = []

  function forget(socket: Socket): void {
    const index = idle.indexOf(socket)
    if (index !== -1) idle.splice(index, 1)
  }

  function open(): Socket {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
    // Who waits for a request hears of nothing else.
    socket.on('error', () => undefined)
    socket.on('close', () => forget(socket))
    socket.on('end', () => socket.destroy())
    return socket
  }

  return {
    async send(request, manner) {
      const socket = (manner.kind === 'read' ? idle.pop() : undefined) ?? open()
      const ending = await exchange(socket, request, manner)
      const isReusable = manner.kind === 'read' && ending.how === 'whole' && !socket.destroyed
      if (isReusable && idle.length < MAX_IDLE && Math.random() < REUSED_SHARE) idle.push(socket)
      else socket.destroy()
      return ending
    },
    close() {
      for (const socket of [...idle]) socket.destroy()
    },
  }
}

function exchange(socket: Socket, request: Buffer, manner: Manner): Promise<Ending> {
  const reader = createAnswerReader()
  const ended = Promise.withResolvers<Ending>()
  const timers: Timer[] = []
  let tail = ''

  function end(how: Ending['how']): void {
    for (const timer of timers) clearTimeout(timer)
    socket.off('data', onData)
    socket.off('close', onClose)
    ended.resolve({ status: reader.status(), how })
  }
  function later(milliseconds: number, act: () => void): void {
    timers.push(setTimeout(act, milliseconds))
  }
  function onClose(): void {
    end(reader.status() === 0 ? 'unreachable' : 'closed')
  }
  function onData(bytes: Buffer): void {
    tail = (tail + bytes.toString('latin1', Math.max(0, bytes.length - TAIL_BYTES))).slice(-TAIL_BYTES)
    if (reader.push(bytes)) end(isWhole(tail) ? 'whole' : 'no end')
    else if (manner.kind === 'dawdle') {
      socket.pause()
      later(manner.restMs, () => socket.resume())
    }
  }

  socket.on('data', onData)
  socket.on('close', onClose)
  later(TIMEOUT_MS, () => end('timeout'))
  socket.write(manner.kind === 'unfinished' ? request.subarray(0, manner.bytes) : request)
  plan(socket, manner, later, end)
  return ended.promise
}

/** Sets the timers of a client that doesn't just read. */
function plan(
  socket: Socket,
  manner: Manner,
  later: (milliseconds: number, act: () => void) => void,
  end: (how: Ending['how']) => void,
): void {
  const leave = (how: 'close' | 'reset') => {
    end('left')
    if (how === 'reset') socket.resetAndDestroy()
    else socket.destroy()
  }
  switch (manner.kind) {
    case 'leave': {
      const { how, afterMs } = manner
      later(afterMs, () => (how === 'half-close' ? socket.end() : leave(how)))
      break
    }
    case 'stop':
      socket.pause()
      later(manner.restMs, () => (manner.how === 'reset' ? leave('reset') : socket.resume()))
      break
    case 'unfinished':
      later(manner.restMs, () => leave('close'))
      break
    default:
  }
}

/** Whether the last bytes of an answer are those of a finished one. A stream has an event at its end, JSON has none. */
function isWhole(tail: string): boolean {
  const isStream = tail.includes('data: ')
  return !isStream || STREAM_END.test(tail)
}
