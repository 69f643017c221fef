/** A thousand idle connections: they are closed, and other clients are served meanwhile. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { memoryLogger } from '@test/ledger/harness'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { until } from '@test/support/until'
import {
  chatChunk,
  chatCompletion,
  chatStream,
  type LiveStream,
  liveStream,
  startUpstream,
} from '@test/support/upstream'
import { capConnections } from '@/boot/connection-caps'
import type { OpenSocket } from '@/boot/open-sockets'
import { addressOf, demoKeyOf, type GatewayProcess, spawnGateway } from './process'

const DESCRIPTORS = 700
const PER_ADDRESS = 100
/** More than the gateway has file descriptors. */
const ATTACKERS = 1_000

const upstream = startUpstream(() => Response.json(chatCompletion('Hello')))
let gateway: GatewayProcess
let url: string
let key: string

beforeAll(async () => {
  gateway = spawnGateway(
    {
      REDIS_URL: await redisUrl(),
      DATABASE_URL: await freshDatabase(),
      PORT: '0',
      PROVIDER1_API_KEY: 'k-provider-one',
      PROVIDER1_BASE_URL: `${upstream.url}/v1`,
      DEMO_ACCOUNT: 'on',
      CONNECTIONS_PER_ADDRESS: String(PER_ADDRESS),
    },
    DESCRIPTORS,
  )
  url = await addressOf(gateway).then((address) => address.replace('localhost', '127.0.0.1'))
  key = demoKeyOf(gateway)
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.exited()
  upstream.stop()
})

function chatAsStream(): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'svc/alpha',
      stream: true,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
    // One that is kept idle may be ended like any other.
    keepalive: false,
  })
}

/**
 * Health and an answer, each over a connection of its own, from an address that none of those that are too many come from: among
 * hundreds of its own that came in the same moment, a connection may be ended before its first byte is there.
 */
async function isServed(): Promise<void> {
  const body = JSON.stringify({ model: 'svc/alpha', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' }
  const length = { 'content-length': String(body.length) }
  const health = openRaw(url, rawRequest('GET /healthz', { connection: 'close' }), '127.0.0.4')
  await health.closed
  expect(health.received()).toStartWith('HTTP/1.1 200')
  const answer = openRaw(url, rawRequest('POST /v1/chat/completions', { ...headers, ...length }, body), '127.0.0.4')
  await answer.closed
  expect(answer.received()).toStartWith('HTTP/1.1 200')
  expect(answer.received()).toContain('Hello')
}

/** Opens a thousand that write `text` and nothing more, and sees that others are served all along. */
async function hold(text: string, addressOfNext: (index: number) => string): Promise<ReturnType<typeof openRaw>[]> {
  const held: ReturnType<typeof openRaw>[] = []
  for (let index = 0; index < ATTACKERS; index++) {
    held.push(openRaw(url, text, addressOfNext(index)))
    if (index % 250 === 0) await isServed()
  }
  return held
}

const BEGINNINGS = [
  ['say nothing at all', ''],
  ['send half a head', 'GET /healthz HTTP/1.1\r\nhost: x\r\n'],
  ['send one byte of an announced body', rawRequest('POST /nope', { 'content-length': '1000' }, '{')],
] as const

test.each(BEGINNINGS)('a thousand connections from one address that %s are limited', async (_, text) => {
  const held = await hold(text, () => '127.0.0.2')
  await until(() => held.filter((one) => !one.isClosed()).length <= PER_ADDRESS, 'all but so many to be ended')
  await isServed()
  // Who comes from the same place and asks for something has it before being the oldest.
  const neighbour = openRaw(url, rawRequest('GET /healthz'), '127.0.0.2')
  await until(() => neighbour.received().startsWith('HTTP/1.1 200'), 'the neighbour to be served')
  for (const one of [...held, neighbour]) one.end()
  expect(gateway.output()).toContain('connections_ended')
})

test('a thousand connections from hundreds of addresses leave file descriptors for other clients', async () => {
  const held = await hold('GET / HTTP/1.1\r\n', (index) => `127.0.3.${1 + (index % 250)}`)
  await isServed()
  await until(() => held.filter((one) => !one.isClosed()).length < DESCRIPTORS, 'most to be ended')
  for (const one of held) one.end()
  expect(gateway.hasExited()).toBe(false)
})

test('the connection limit never closes a connection with an open request', async () => {
  const streams = Array.from({ length: 20 }, () => liveStream())
  const write = (one: LiveStream, ...events: unknown[]) => {
    for (const event of events) one.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
  }
  const waiting = [...streams]
  upstream.respond(() => waiting.shift()?.response ?? Response.json(chatCompletion('Hello')))
  for (const one of streams) write(one, chatChunk({ content: 'first ' }))
  const readers = await Promise.all(streams.map(async () => (await chatAsStream()).body?.getReader()))
  const held = await hold('', () => '127.0.0.1')
  await until(() => held.filter((one) => !one.isClosed()).length <= PER_ADDRESS, 'the rest to be ended')
  for (const one of streams) {
    write(one, ...chatStream([' last']))
    one.close()
  }
  for (const reader of readers) {
    let text = ''
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += new TextDecoder().decode(part.value)
    }
    expect(text).toEndWith('data: [DONE]\n\n')
  }
  for (const one of held) one.end()
})

describe('connections above the limits', () => {
  const from = (address: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({ address, port: index }))

  /** Who is ended, by address, where these are open, with so many descriptors to have. */
  async function ended(
    open: { address: string; port: number }[],
    perAddress: number,
    limit = 1_000,
    known: number[] = [],
  ) {
    const sockets = open.map((one, descriptor) => ({ ...one, descriptor }))
    const victims = new Map<number, OpenSocket>()
    let told = 0
    let checks = 0
    const count = () => {
      checks++
      return sockets.length - victims.size
    }
    const list = () => sockets.filter(({ descriptor }) => !victims.has(descriptor))
    const stop = capConnections({
      sockets: { limit, count, list, end: (one) => void victims.set(one.descriptor, one) },
      localPort: 1,
      perAddress,
      knownPorts: () => new Set(known),
      knownCount: () => known.length,
      onEnded(count) {
        told += count
      },
      logger: memoryLogger(),
    })
    await until(() => checks >= 4, 'some looks')
    stop()
    expect(told).toBe(victims.size)
    return [...victims.values()]
  }
  const tally = (victims: OpenSocket[]) =>
    Object.fromEntries(
      [...Map.groupBy(victims, ({ address }) => address)].map(([address, all]) => [address, all.length]),
    )

  test('an address above its limit loses its oldest connections', async () => {
    const victims = await ended([...from('a', 5), ...from('b', 2)], 3)
    expect(victims.map(({ address, descriptor }) => [address, descriptor])).toEqual([
      ['a', 0],
      ['a', 1],
    ])
  })

  test('addresses with the most connections lose connections until a quarter of the file descriptors is free', async () => {
    const open = [...from('a', 50), ...from('b', 30), ...from('c', 4)]
    expect(tally(await ended(open, 60, 32))).toEqual({ a: 40, b: 20 })
    expect(await ended([...from('a', 5), ...from('b', 5)], 60, 14)).toEqual([])
  })

  test('the connection limit spares connections with an open request of a known client', async () => {
    const victims = await ended(from('a', 40), 10, 1_000, [0, 1, 2])
    expect(victims.map(({ port }) => port)).toEqual(Array.from({ length: 27 }, (_, index) => index + 3))
  })

  test('the connection limit spares connections whose answer has just ended, even if many end together', async () => {
    const sockets = from('a', 205).map((one, descriptor) => ({ ...one, descriptor }))
    const looks: number[][] = []
    let known = [0, 1, 2, 3, 4]
    let open = 105
    const stop = capConnections({
      sockets: {
        ...{ limit: 1_000, count: () => open },
        list() {
          looks.push([])
          return sockets.slice(0, open)
        },
        end: ({ port }) => void looks.at(-1)?.push(port),
      },
      ...{ localPort: 1, perAddress: 100, knownPorts: () => new Set(known), knownCount: () => known.length },
      ...{ onEnded: () => undefined, logger: memoryLogger() },
    })
    expect(looks).toEqual([])
    known = []
    open = 205
    await until(() => looks.length >= 2, 'two looks')
    stop()
    // All of them are seen for the first time at the first.
    expect(looks[0]).toEqual([])
    expect(looks[1]).toHaveLength(105)
  })

  test('the connection limit spares connections whose answer ended after the last check', async () => {
    const sockets = from('a', 200).map((one, descriptor) => ({ ...one, descriptor }))
    const looks: number[][] = []
    let known = [0, 1, 2, 3, 4]
    const stop = capConnections({
      sockets: {
        ...{ limit: 1_000, count: () => sockets.length },
        list() {
          looks.push([])
          return sockets
        },
        end: ({ port }) => void looks.at(-1)?.push(port),
      },
      ...{ localPort: 1, perAddress: 100, knownPorts: () => new Set(known), knownCount: () => known.length },
      ...{ onEnded: () => undefined, logger: memoryLogger() },
    })
    known = []
    await until(() => looks.length >= 2, 'two looks')
    stop()
    expect(looks[1]).toEqual(Array.from({ length: 100 }, (_, index) => index + 5))
  })

  test('all addresses of a /64 count as one address', async () => {
    const many = Array.from({ length: 9 }, (_, index) => from(`2001:db8:0:0:${index}:0:0:1`, 1)).flat()
    expect(await ended(many, 4)).toHaveLength(5)
    expect(await ended([...from('10.0.0.1', 1), ...from('10.0.0.2', 1)], 1)).toEqual([])
  })
})
