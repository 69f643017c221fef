/**
 * The mock upstream process: answers in three formats from prepared bytes, straight on the socket, so that it costs a fraction
 * of what is measured. A model `json` is answered at once, `stream-100-10` by 100 pieces 10 ms apart, others wrongly on purpose.
 * Prints its port.
 */

import { stampText, wallClockMs } from '@bench/load/stamps'
import type { Socket } from 'bun'
import { ANSWERS, type StreamParts } from './answers'
import { playFault } from './faults'
import { createPace } from './pace'
import { createRequestReader, type RequestReader } from './request-reader'

type State = {
  reader: RequestReader
  unsent: Buffer | undefined
  isClosed: boolean
  /** Gives what is to be written when all before it has gone. */
  more: (() => Buffer | undefined) | undefined
}

const pace = createPace()

/** Writes what the kernel takes now and keeps the rest, copied: prepared bytes are used again. */
function write(socket: Socket<State>, bytes: Buffer): void {
  const { data } = socket
  if (data.isClosed) return
  if (data.unsent !== undefined) {
    data.unsent = Buffer.concat([data.unsent, bytes])
    return
  }
  const written = Math.max(0, socket.write(bytes))
  if (written < bytes.length) data.unsent = Buffer.from(bytes.subarray(written))
}

function writePiece(socket: Socket<State>, { piece, stampAt }: StreamParts): void {
  piece.write(stampText(wallClockMs()), stampAt, 'latin1')
  write(socket, piece)
}

/** Writes on until the kernel takes no more. */
function fill(socket: Socket<State>): void {
  const { data } = socket
  while (data.more !== undefined && data.unsent === undefined && !data.isClosed) {
    const bytes = data.more()
    if (bytes === undefined) data.more = undefined
    else write(socket, bytes)
  }
}

type Asked = { pieces: number; intervalMs: number; onEnd(): void }

function stream(socket: Socket<State>, parts: StreamParts, { pieces, intervalMs, onEnd }: Asked): void {
  write(socket, parts.opening)
  writePiece(socket, parts)
  let left = pieces - 1
  pace.every(intervalMs, () => {
    if (socket.data.isClosed) return false
    if (left > 0) {
      writePiece(socket, parts)
      left -= 1
      return true
    }
    onEnd()
    return false
  })
}

/** What a fault may do to the connection. */
function lineOf(socket: Socket<State>, parts: StreamParts): Parameters<typeof playFault>[2] {
  return {
    write: (bytes) => write(socket, bytes),
    fill(more) {
      socket.data.more = more
      fill(socket)
    },
    reset: () => socket.terminate(),
    stream: (pieces, intervalMs, onEnd) => stream(socket, parts, { pieces, intervalMs, onEnd }),
  }
}

const server = Bun.listen<State>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { reader: createRequestReader(), unsent: undefined, isClosed: false, more: undefined }
    },
    data(socket, bytes) {
      const asked = socket.data.reader.push(bytes)
      if (!asked) return
      const answers = ANSWERS[asked.format]
      if (playFault(asked.model, asked.format, lineOf(socket, answers.stream))) return
      if (!asked.stream) return write(socket, answers.json)
      const [, pieces = '10', intervalMs = '10'] = asked.model.split('-')
      const onEnd = () => write(socket, answers.stream.closing)
      stream(socket, answers.stream, { pieces: Number(pieces), intervalMs: Number(intervalMs), onEnd })
    },
    drain(socket) {
      const { unsent } = socket.data
      socket.data.unsent = undefined
      if (unsent) write(socket, unsent)
      fill(socket)
    },
    close(socket) {
      socket.data.isClosed = true
    },
  },
})
process.stdout.write(`${server.port}\n`)
