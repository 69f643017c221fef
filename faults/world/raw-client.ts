/** A client on a bare socket, for ways of going away and of not reading that no HTTP library has. */
import { connect, type Socket } from 'node:net'
import type { Sighting } from './client'
import { requestOf, type Wish } from './request'

export interface RawClient {
  /** Bytes that arrived; stands still while the client does not read. */
  received(): string
  /** Goes away in order (FIN), at once (RST), or only says that it will send no more. */
  leave(how: 'close' | 'reset' | 'half-close'): void
  /** Stops taking bytes off the socket, or starts again. */
  read(isReading: boolean): void
  /** What this client saw, as any other. */
  sighting(): Sighting
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>
}

/** Sends `wish` to the gateway at `url` and keeps what comes back. */
export async function openRawClient(url: string, wish: Wish): Promise<RawClient> {
  const { hostname, port, host } = new URL(url)
  const socket: Socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const connected = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  let text = ''
  socket.on('connect', connected.resolve)
  socket.on('error', () => connected.resolve())
  socket.on('close', () => closed.resolve())
  socket.on('end', () => socket.end())
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1')
  })
  await connected.promise
  const { path, headers, body } = requestOf(wish)
  const content = JSON.stringify(body)
  const startedAtMs = Date.now()
  const lines = Object.entries({ host, 'content-type': 'application/json', ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`POST ${path} HTTP/1.1\r\n${head}content-length: ${Buffer.byteLength(content)}\r\n\r\n${content}`)
  return {
    received: () => text,
    leave(how) {
      if (how === 'reset') socket.resetAndDestroy()
      else if (how === 'close') socket.destroy()
      else socket.end()
    },
    read: (isReading) => void (isReading ? socket.resume() : socket.pause()),
    sighting: () => sightingOf(wish, text, startedAtMs),
    closed: closed.promise,
  }
}

function sightingOf(wish: Wish, raw: string, startedAtMs: number): Sighting {
  const { customer, format = 'chat-completions', stream = false, words = 5, marker = '' } = wish
  const said = [...raw.matchAll(/"content":"([^"]+)"/g)].map(([, word = '']) => word)
  return {
    ...{ marker, accountId: customer.accountId, format, stream, words, ending: 'hung-up', code: undefined, raw },
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(raw)?.[1] ?? 0),
    requestId: /^x-request-id: (\S+)/im.exec(raw)?.[1],
    retryAfter: null,
    text: said.join(''),
    ...{ startedAtMs, durationMs: Date.now() - startedAtMs },
  }
}
