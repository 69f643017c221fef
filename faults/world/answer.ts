/** Writes one HTTP answer byte by byte, with every way of not finishing it. */
import type { Socket } from 'node:net'

/** `chunked` and `length` keep the connection; `close` ends the body by ending the connection. */
type Framing = { kind: 'chunked' } | { kind: 'length'; bytes: number } | { kind: 'close' }

export interface Answer {
  head(status: number, headers?: Record<string, string>, framing?: Framing): void
  /** Writes a piece of the body. Returns when the socket takes more, or is gone. */
  write(text: string | Uint8Array): Promise<void>
  /** Writes bytes as they are, past all framing. */
  raw(text: string): void
  /** Ends the body as the framing wants it. */
  end(): void
  /** Ends the connection: in order (FIN), or at once (RST). */
  close(): void
  reset(): void
  /** Whether the gateway has gone away. */
  isGone(): boolean
  /** Resolves when it has. */
  readonly gone: Promise<void>
  /** Whether the connection cannot carry another request. */
  mustClose(): boolean
}

/** An answer on `socket`. */
export function createAnswer(socket: Socket): Answer {
  let framing: Framing = { kind: 'chunked' }
  let hasEnded = false
  const gone = Promise.withResolvers<void>()
  const leave = () => gone.resolve()
  socket.once('close', leave)
  socket.once('end', leave)
  const isGone = () => socket.destroyed || socket.readableEnded

  async function send(bytes: string | Uint8Array): Promise<void> {
    if (isGone() || socket.write(bytes)) return
    const moved = Promise.withResolvers<void>()
    socket.once('drain', moved.resolve)
    void gone.promise.then(moved.resolve)
    await moved.promise
    socket.off('drain', moved.resolve)
  }

  return {
    head(status, headers = {}, chosen = { kind: 'chunked' }) {
      framing = chosen
      const lines = Object.entries({ ...headers, ...framingHeaders(chosen) }).map(
        ([name, value]) => `${name}: ${value}`,
      )
      void send(`HTTP/1.1 ${status} Scripted\r\n${lines.join('\r\n')}\r\n\r\n`)
    },
    async write(text) {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text
      if (framing.kind !== 'chunked') return send(bytes)
      const size = Buffer.from(`${bytes.length.toString(16)}\r\n`)
      return send(Buffer.concat([size, bytes, Buffer.from('\r\n')]))
    },
    raw: (text) => void send(text),
    end() {
      hasEnded = true
      if (framing.kind === 'chunked') void send('0\r\n\r\n')
      socket.off('close', leave)
      socket.off('end', leave)
    },
    close() {
      socket.end()
    },
    reset() {
      socket.resetAndDestroy()
    },
    isGone,
    gone: gone.promise,
    mustClose: () => !hasEnded || framing.kind === 'close',
  }
}

function framingHeaders(framing: Framing): Record<string, string> {
  switch (framing.kind) {
    case 'chunked':
      return { 'transfer-encoding': 'chunked' }
    case 'length':
      return { 'content-length': String(framing.bytes) }
    case 'close':
      return { connection: 'close' }
  }
}
