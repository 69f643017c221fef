/** Bytes that are no request, or half of one, and clients that take their time. */
import { openRaw } from '@test/support/raw-connection'
import { faultsOf } from './judge'
import type { Random } from './random'
import type { World } from './world'

/** How long the gateway may take to answer or close what can't be a request. */
const ANSWER_MS = 4_000
const POLL_MS = 20

const HOST = 'Host: a.test\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'

/** Complete texts. Each has to be answered or closed. */
function malformed(random: Random): string[] {
  const post = 'POST /v1/chat/completions HTTP/1.1\r\n'
  const junk = Array.from({ length: 200 }, () => String.fromCharCode(random.below(256))).join('')
  return [
    '\r\n\r\n\r\n',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n${HOST}\r\n`,
    `GET / HTTP/1.1\r\n${HOST}X-A: ${'b'.repeat(200_000)}\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}${Array.from({ length: 2_000 }, (_, index) => `X-${index}: 1\r\n`).join('')}\r\n`,
    `GET / HTTP/1.1\r\n${HOST}Host: b.test\r\n\r\n`,
    'GET / HTTP/1.1\r\n\r\n',
    `GET http://127.0.0.1:22/ HTTP/1.1\r\n${HOST}\r\n`,
    'GET / HTTP/1.1\r\nHost: @@@[::\r\n\r\n',
    `GET /%ff%fe%00 HTTP/1.1\r\n${HOST}\r\n`,
    `GET /../../etc/passwd HTTP/1.1\r\n${HOST}\r\n`,
    `TRACE / HTTP/1.1\r\n${HOST}\r\n`,
    `CONNECT a.test:443 HTTP/1.1\r\n${HOST}\r\n`,
    `FROBNICATE / HTTP/1.1\r\n${HOST}\r\n`,
    `GET / HTTP/1.1\r\n${HOST}__proto__: 1\r\nconstructor: 2\r\n\r\n`,
    `${post}${HOST}Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}{}x`,
    `${post}${HOST}Content-Length: -1\r\n\r\n{}`,
    `${post}${HOST}Content-Length: 99999999999999999999\r\n\r\n{}`,
    `${post}${HOST}${JSON_TYPE}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${post}${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nZZZ\r\n{}\r\n0\r\n\r\n`,
    `${post}${HOST}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}`,
    `${post}${HOST}${JSON_TYPE}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    `${post}${HOST}Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\n{}`,
    `${post}${HOST}Expect: 100-continue\r\nContent-Length: 0\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    `${junk}\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST}X-\0: \r\n\r\n`,
    `GET / HTTP/1.1\r\n${HOST} folded: yes\r\n\r\n`,
  ]
}

/** Sends each text on a connection of its own. Returns what is wrong. */
export async function abuseSockets(world: World, random: Random): Promise<string[]> {
  const found = await Promise.all(malformed(random).map((text) => abuse(world, text)))
  return found.flat()
}

async function abuse(world: World, text: string): Promise<string[]> {
  const connection = openRaw(world.url, text)
  const untilMs = performance.now() + ANSWER_MS
  while (!connection.isClosed() && !/\r\n\r\n/.test(connection.received()) && performance.now() < untilMs) {
    await Bun.sleep(POLL_MS)
  }
  const answer = connection.received()
  connection.end()
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  const observed = { status, headers: new Headers(), text: status >= 400 ? '' : body }
  // Versions of the protocol that the server itself does not speak are its to refuse.
  if (status === 505) return []
  const faults = faultsOf(observed, { path: '/', forbidden: world.secrets, mayBeTaken: true })
  // What the server itself refuses has no body of ours: only what is in it is judged.
  if (/\n\s+at |\/src\//.test(answer)) faults.push('a stack')
  return faults.map((fault) => `${JSON.stringify(text.slice(0, 60))}: ${fault}`)
}

const SLOW_CLIENTS = 40

/** Opens connections that send a byte now and then, or read nothing. Returns how to end them. */
export function openSlowClients(world: World): () => void {
  const key = world.users[0]?.key ?? ''
  const head = `POST /v1/chat/completions HTTP/1.1\r\n${HOST}${JSON_TYPE}Authorization: Bearer ${key}\r\n`
  const connections = Array.from({ length: SLOW_CLIENTS }, (_, index) =>
    openRaw(
      world.url,
      index % 2 === 0 ? 'POST /v1/messages HTTP/1.1\r\nHost' : `${head}Content-Length: 100000\r\n\r\n{`,
    ),
  )
  const dribble = setInterval(() => {
    for (const connection of connections) if (!connection.isClosed()) connection.write(' ')
  }, 200)
  return () => {
    clearInterval(dribble)
    for (const connection of connections) connection.end()
  }
}
