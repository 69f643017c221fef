/** Request bodies that are answered unread: after a limit per address, its connections are closed. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { manualClock } from '@test/routing/world'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { createUnreadBodies, hasLargeBody } from '@/boot/unread-bodies'
import { loadConfig } from '@/config/config'
import { rememberPeer } from '@/http/client-address'
import { assert } from '@/lib/assert'
import { SHARED } from '@/limits/shared-resources'

const MIB = 1024 * 1024
const MOST = SHARED.unreadBytes.perAccount
/** Requests enough to use up what a minute allows, however slowly they are sent. */
const MANY = 12
const SIZE = 16 * MIB

describe('the count of unread bytes', () => {
  const clock = manualClock()
  const loaded = loadConfig({})
  assert(loaded.kind === 'loaded', 'the configuration is sound')
  const { isTooMuch } = createUnreadBodies(loaded.config, clock)
  const told = (status = 402) => new Response(null, { status })

  function requestFrom(peer: string, bytes: number, headers: Record<string, string> = {}): Request {
    const all = { 'content-length': String(bytes), ...headers }
    const request = new Request('http://gateway.test/v1/messages', { method: 'POST', headers: all, body: 'x' })
    rememberPeer(request, peer)
    return request
  }

  test('unread bytes count per address and expire within a minute; bodies beyond the limit are not counted', () => {
    const ask = (peer: string) => isTooMuch(requestFrom(peer, MOST / 2), told())
    expect([ask('192.0.2.1'), ask('192.0.2.1'), ask('192.0.2.1'), ask('192.0.2.1')]).toEqual([false, false, true, true])
    expect(ask('192.0.2.2')).toBe(false)
    clock.advance(60_000)
    expect(ask('192.0.2.1')).toBe(false)
  })

  test('only bodies that were too large to be read are counted', async () => {
    const read = requestFrom('192.0.2.3', MOST)
    await read.text()
    expect(isTooMuch(read, told(200))).toBe(false)
    expect(isTooMuch(requestFrom('192.0.2.3', MIB), told())).toBe(false)
    const cut = requestFrom('192.0.2.4', MOST)
    await cut.text()
    expect([isTooMuch(cut, told(413)), isTooMuch(cut, told(413))]).toEqual([false, true])
  })

  test.each<[Record<string, string>, boolean]>([
    [{ 'content-length': String(256 * 1024) }, false],
    [{ 'content-length': String(256 * 1024 + 1) }, true],
    [{ 'transfer-encoding': 'chunked' }, true],
    [{}, false],
  ])('a request with %j has a large body that may stay unread: %p', (headers, isLarge) => {
    expect(hasLargeBody(new Request('http://gateway.test/', { headers }))).toBe(isLarge)
  })
})

describe('a gateway', () => {
  let gateway: TestGateway
  let neighbour: Customer
  beforeAll(async () => {
    gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
    neighbour = await gateway.customer('1')
  })
  afterAll(() => gateway.stop())

  /** The heads of answers to large bodies of which nothing is sent, and whether the server has closed the connection. */
  async function announce(from: string, line: string, headers: Record<string, string>) {
    const answers: { head: string; isClosed: boolean }[] = []
    for (let index = 0; index < MANY; index++) {
      const all = { 'content-type': 'application/json', 'content-length': String(SIZE), ...headers }
      const connection = openRaw(gateway.url, rawRequest(line, all), from)
      await until(() => connection.received().includes('\r\n\r\n'), 'the answer')
      const [head = ''] = connection.received().toLowerCase().split('\r\n\r\n')
      const isLast = head.includes('connection: close')
      if (isLast) await connection.closed
      answers.push({ head, isClosed: isLast })
      connection.end()
    }
    return answers
  }

  test.each([
    ['to an unknown key', '127.0.0.2', 'POST /v1/messages', { authorization: 'Bearer svc-nobody' }],
    ['without a key', '127.0.0.3', 'POST /v1/chat/completions', {}],
    ['to an unknown path', '127.0.0.4', 'POST /nowhere', {}],
    ['to a page', '127.0.0.5', 'POST /dashboard/api/nowhere', {}],
    ['to a route without a body', '127.0.0.6', 'GET /healthz', {}],
    ['above the limit', '127.0.0.7', 'POST /v1/messages', { 'content-length': String(64 * MIB) }],
  ])(
    'an address that sends too much %s loses its connections before the body is complete',
    async (_, from, line, headers) => {
      const answers = await announce(from, line, headers)
      expect(answers[0]?.isClosed).toBe(false)
      expect(answers.at(-1)?.isClosed).toBe(true)
      expect(answers.every(({ head }) => /^http\/1\.1 [2-4]\d\d /.test(head))).toBe(true)
    },
  )

  test('too many unread bytes of an account without credit close its connections, not those of another address', async () => {
    const poor = await gateway.customer('0')
    const answers = await announce('127.0.0.8', 'POST /v1/messages', { authorization: `Bearer ${poor.key}` })
    expect(answers.at(-1)).toMatchObject({ isClosed: true, head: expect.stringMatching(/^http\/1\.1 4(02|29) /) })
    const body = JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'x'.repeat(MIB) }] })
    const headers = { authorization: `Bearer ${neighbour.key}`, 'content-type': 'application/json' }
    for (let index = 0; index < 3; index++) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })
      expect([answer.status, answer.headers.get('connection')]).toEqual([200, null])
      await answer.text()
    }
  })
})
