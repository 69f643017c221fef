/**
 * The mock upstream process: answers in three formats from prepared bytes, straight on the socket, so that it costs a fraction
 * of what is measured. A model `json` is answered at once, `stream-100-10` by 100 pieces 10 ms apart. Prints its port.
 */

import { stampText, wallClockMs } from '@bench/load/stamps'
import type { Socket } from 'bun'
import { ANSWERS, type StreamParts } from './answers'
import { createPace } from './pace'
import { createRequestReader, type RequestReader } from './request-reader'

type State = { reader: RequestReader; unsent: Buffer | undefined; isClosed: boolean }

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

function stream(socket: Socket<State>, parts: StreamParts, pieces: number, intervalMs: number): void {
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
    write(socket, parts.closing)
    return false
  })
}

const server = Bun.listen<State>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open(socket) {
      socket.data = { reader: createRequestReader(), unsent: undefined, isClosed: false }
    },
    data(socket, bytes) {
      const asked = socket.data.reader.push(bytes)
      if (!asked) return
      const answers = ANSWERS[asked.format]
      if (!asked.stream) return write(socket, answers.json)
      const [, pieces = '10', intervalMs = '10'] = asked.model.split('-')
      stream(socket, answers.stream, Number(pieces), Number(intervalMs))
    },
    drain(socket) {
      const { unsent } = socket.data
      socket.data.unsent = undefined
      if (unsent) write(socket, unsent)
    },
    close(socket) {
      socket.data.isClosed = true
    },
  },
})
process.stdout.write(`${server.port}\n`)
