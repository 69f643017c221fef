/** A connection on which a test writes whatever it likes, byte by byte, as no client library would. */
import { connect } from 'node:net'

interface RawConnection {
  write(text: string): void
  /** Everything that has come so far. */
  received(): string
  isClosed(): boolean
  /** Resolves once the other side has closed. */
  closed: Promise<void>
  /** Takes nothing more off the socket. */
  pause(): void
  end(): void
}

/** Connects to a gateway at `url`, from the address `from` of this machine, and writes `text`. */
export function openRaw(url: string, text = '', from = '127.0.0.1'): RawConnection {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const chunks: Buffer[] = []
  let isClosed = false
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: from })
  socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
  // Whether it is closed or reset, it is closed.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    isClosed = true
    resolve()
  })
  if (text !== '') socket.write(text)
  return {
    write: (more) => void socket.write(more),
    received: () => Buffer.concat(chunks).toString(),
    isClosed: () => isClosed,
    closed,
    pause: () => void socket.pause(),
    end: () => socket.destroy(),
  }
}

/** The text of a request with `headers` (and a body of which `body` is sent, whatever length is announced). */
export function rawRequest(line: string, headers: Record<string, string> = {}, body = ''): string {
  const lines = Object.entries({ host: 'gateway.test', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}
