/** A provider that writes raw bytes to its sockets, for what no HTTP server would do, and calls to it. */
import { providerOf, targetOf } from '@test/routing/world'
import type { Socket } from 'bun'
import type { Provider } from '@/catalog/types'
import type { FormatName } from '@/chat/format-name'
import { FORMATS } from '@/formats/index'
import type { callUpstream } from '@/upstream/client'

export interface RawProvider {
  readonly url: string
  /** What has come in whole, head and body, one text for each request. */
  readonly requests: string[]
  /** Connections that were made, and those of them that are gone. */
  readonly opened: () => number
  readonly closed: () => number
  stop(): void
}

/** Starts it on a free port; `respond` is called once the head and body of a request are there. */
export function startRawProvider(respond: (socket: Socket<unknown>, index: number) => void): RawProvider {
  const requests: string[] = []
  let [opened, closed] = [0, 0]
  const parts = new WeakMap<Socket<unknown>, string>()
  const server = Bun.listen<unknown>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open() {
        opened++
      },
      data(socket, bytes) {
        const text = (parts.get(socket) ?? '') + bytes.toString('latin1')
        parts.set(socket, text)
        if (!isWhole(text)) return
        parts.delete(socket)
        requests.push(text)
        respond(socket, requests.length - 1)
      },
      close() {
        closed++
      },
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    opened: () => opened,
    closed: () => closed,
    stop: () => server.stop(true),
  }
}

function isWhole(text: string): boolean {
  const [head = '', ...body] = text.split('\r\n\r\n')
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0)
  return text.includes('\r\n\r\n') && body.join('\r\n\r\n').length >= length
}

/** The head of an answer; without a length the body comes in chunks. */
export function head(status: number, headers: Record<string, string> = {}): string {
  const all = { 'content-type': 'application/json', ...headers }
  const framing = 'content-length' in all ? {} : { 'transfer-encoding': 'chunked' }
  const lines = Object.entries({ ...all, ...framing }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`
}

/** One chunk of a body. */
export function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

/** What ends a body that came in chunks. */
export const LAST_CHUNK = '0\r\n\r\n'

export type UpstreamCall = Parameters<typeof callUpstream>[0]
export type CallChanges = Partial<UpstreamCall> & { provider?: Partial<Provider>; formatName?: FormatName }

/** A call to the provider at `baseUrl`, whose limits no test reaches unless it lowers them. */
export function callOf(
  baseUrl: string,
  { provider: more = {}, formatName, ...changes }: CallChanges = {},
): UpstreamCall {
  const timeouts = { connectMs: 5_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000, ...more.timeouts }
  const name = formatName ?? 'chat-completions'
  const provider = providerOf('provider', { baseUrl, format: name, ...more, timeouts })
  const format = FORMATS.get(name)
  const [key] = provider.keys
  if (!format || !key) throw new Error('a format and a key')
  return {
    target: targetOf(provider, 'upstream-model'),
    key,
    format,
    stream: false,
    bodyText: '{"model":"upstream-model"}',
    signal: new AbortController().signal,
    ...changes,
  }
}
