/**
 * Idle limits of connections: short for unknown clients, longer for known ones, none during an answer. Heads and
 * bodies need a minimum speed.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { dashboardRoutesOf, fillPath, nameOf } from '@test/console/http/routes'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import { serve } from '@/boot/serve'
import { loadConfig } from '@/config/config'
import { KNOWN_IDLE_SECONDS, rememberHost } from '@/http/silence'
import { assert } from '@/lib/assert'

const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }
const IDLE_SECONDS = 1

let gateway: TestGateway
let customer: Customer
let admin: Person
/** Of the addresses from which refused bodies come: beyond so many bytes a minute, an address has its connections reset. */
let addressCount = 0

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  customer = await gateway.customer('1')
  admin = await signUpPerson(gateway, { role: 'admin' })
})
afterAll(() => gateway.stop())

test('a silent connection is closed, but a slow answer still arrives', async () => {
  const loaded = loadConfig({ HOST: '127.0.0.1', PORT: '0' })
  assert(loaded.kind === 'loaded', 'the configuration is sound')
  const server = serve(loaded.config, gateway.gateway.app, { idleSeconds: IDLE_SECONDS })
  const provider = Promise.withResolvers<Response>()
  gateway.upstream.respond(() => provider.promise)
  const asked = gateway.upstream.calls.length
  const answer = fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, chatBy(`Bearer ${customer.key}`))
  await until(() => gateway.upstream.calls.length > asked, 'the provider to be asked')
  // From here on both are silent for the same time; the stranger has announced a body and does not send it.
  const stranger = openRaw(`http://127.0.0.1:${server.port}`, rawRequest('POST /nope', { 'content-length': '9' }, '{'))
  await stranger.closed
  provider.resolve(Response.json(chatCompletion('At last')))
  expect(await (await answer).text()).toContain('At last')
  await server.stop(true)
})

describe.each([
  ['/v1/chat/completions', 'x-request-id', { error: { type: 'invalid_request_error', code: null } }],
  ['/v1/messages', 'request-id', { type: 'error', error: { type: 'request_too_large' } }],
  ['/v1beta/models/svc%2Falpha:generateContent', 'x-request-id', { error: { code: 413, status: 'INVALID_ARGUMENT' } }],
])('a body far above the limit, sent to %s', (path, idHeader, told) => {
  const bytes = 200 * 1024 * 1024
  // Of what is read for a refusal, each account has so much a minute.
  let sender: Customer
  beforeAll(async () => {
    sender = await gateway.customer('1')
  })
  const head = (more: Record<string, string>) =>
    rawRequest(`POST ${path}`, {
      authorization: `Bearer ${sender.key}`,
      'content-type': 'application/json',
      ...more,
    })

  /** Sends on as a client does that looks for an answer only when it has said everything, until there is one. */
  async function answerTo(headers: Record<string, string>, piece: string): Promise<string> {
    const connection = openRaw(gateway.url, head(headers), `127.0.1.${++addressCount}`)
    for (let sent = 0; sent < bytes && !connection.received().includes('\r\n\r\n{'); sent += piece.length) {
      connection.write(piece)
      await Bun.sleep(0)
    }
    await until(() => /\r\n\r\n\{.*\}$/s.test(connection.received()), 'the answer')
    connection.end()
    return connection.received()
  }

  test.each([
    ['announced', { 'content-length': String(bytes) }, ' '.repeat(65_536)],
    ['sent in chunks', { 'transfer-encoding': 'chunked' }, `10000\r\n${' '.repeat(65_536)}\r\n`],
  ])('a too large body is refused in the path’s own format, %s', async (_name, headers, piece) => {
    const text = await answerTo(headers, piece)
    expect(text).toStartWith('HTTP/1.1 413 ')
    expect(text.toLowerCase()).toMatch(new RegExp(`\r\n${idHeader}: req_\\w+`))
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject(told)
  })
})

function chatBy(authorization: string, body: object = CHAT): RequestInit {
  const headers = { authorization, 'content-type': 'application/json', cookie: admin.cookie, origin: gateway.url }
  return { method: 'POST', headers, body: JSON.stringify(body) }
}

/** What the application does to the limits of this request's connection, in order, and what it answers. */
async function ask(path: string, init: RequestInit): Promise<{ status: number; limits: number[] }> {
  const limits: number[] = []
  const request = new Request(`${gateway.url}${path}`, init)
  rememberHost(request, { timeout: (_, seconds) => limits.push(seconds) })
  const response = await gateway.gateway.app.handle(request)
  await response.text()
  return { status: response.status, limits }
}

describe('connections that never end', () => {
  const PAID = [
    ['/v1/chat/completions', CHAT],
    ['/v1/chat/completions', { ...CHAT, stream: true }],
    ['/v1/messages', { ...CHAT, max_tokens: 9 }],
    ['/v1beta/models/svc/alpha:streamGenerateContent', { contents: [{ parts: [{ text: 'Hi' }] }] }],
  ] as const

  test.each(PAID)(
    'at %s the idle limit is lifted once key and body are accepted, and applies again after the answer',
    async (path, body) => {
      gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
      const known = await ask(path, chatBy(`Bearer ${customer.key}`, body))
      expect(known).toEqual({ status: 200, limits: [KNOWN_IDLE_SECONDS, 0, KNOWN_IDLE_SECONDS] })
      expect(await ask(path, chatBy('Bearer svc-nobody', body))).toEqual({ status: 401, limits: [] })
    },
  )

  test('after a body that breaks off or stalls, the connection’s idle limit applies', async () => {
    const headers = { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' }
    const broken = await ask('/v1/chat/completions', { method: 'POST', headers, body: '{"model"' })
    expect(broken).toEqual({ status: 400, limits: [KNOWN_IDLE_SECONDS] })
  })

  test('after a failed answer, the connection’s idle limit applies again', async () => {
    gateway.upstream.respond(() => new Response('{}', { status: 400 }))
    const { limits } = await ask('/v1/chat/completions', chatBy(`Bearer ${customer.key}`))
    expect(limits).toEqual([KNOWN_IDLE_SECONDS, 0, KNOWN_IDLE_SECONDS])
  })

  test.each([
    ['/v1/messages/count_tokens', CHAT],
    ['/v1/route', CHAT],
  ])('at %s, which calls no provider, the idle limit of a known client is only longer', async (path, body) => {
    const { status, limits } = await ask(path, chatBy(`Bearer ${customer.key}`, body))
    expect({ status, limits }).toEqual({ status: 200, limits: [KNOWN_IDLE_SECONDS] })
    expect((await ask(path, chatBy('Bearer svc-nobody', body))).limits).toEqual([])
  })

  test('the playground lifts the idle limit only during an answer', async () => {
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
    const { limits } = await ask(`/dashboard/api/a/${admin.viewer.accountId}/playground/chat`, chatBy('Bearer none'))
    expect([limits.includes(0), limits.at(-1)]).toEqual([true, KNOWN_IDLE_SECONDS])
  })

  test('no dashboard page lifts the idle limit for unauthenticated clients', async () => {
    const pages = dashboardRoutesOf(gateway).filter(({ method }) => method === 'GET')
    expect(pages.map(nameOf)).toContain('GET /dashboard/api/a/:accountId/events')
    for (const page of pages) {
      if (page.path.endsWith('/events')) continue
      const path = fillPath(page.path, { accountId: admin.viewer.accountId })
      const [stranger, known] = [await ask(path, {}), await ask(path, { headers: { cookie: admin.cookie } })]
      const isOpenToAll = stranger.status !== 401
      expect([nameOf(page), stranger.limits, known.limits.includes(0)]).toEqual([nameOf(page), [], !isOpenToAll])
    }
  })

  describe('slow uploads on real sockets', () => {
    let server: ReturnType<typeof serve>
    beforeAll(() => {
      const loaded = loadConfig({ HOST: '127.0.0.1', PORT: '0' })
      assert(loaded.kind === 'loaded', 'the configuration is sound')
      server = serve(loaded.config, gateway.gateway.app, { idleSeconds: IDLE_SECONDS })
    })
    afterAll(() => server.stop(true))
    const open = (text: string) => openRaw(`http://127.0.0.1:${server.port}`, text)

    test('S7: a request head that arrives byte by byte is cut off', async () => {
      const slow = open('GET /healthz HTTP/1.1\r\nhost: x\r\n')
      const drip = setInterval(() => slow.write('a: b\r\n'), 100)
      await slow.closed
      clearInterval(drip)
    })

    test('a slow body is cut off for unknown and known clients', async () => {
      const headers = { 'content-type': 'application/json', 'content-length': '1000000' }
      const stranger = open(rawRequest('POST /v1/chat/completions', headers, '{'))
      const pages = open(rawRequest('POST /dashboard/api/session/sign-in', { ...headers, origin: 'http://x' }, '{'))
      const drip = setInterval(() => {
        stranger.write(' ')
        pages.write(' ')
      }, 100)
      await Promise.all([stranger.closed, pages.closed])
      clearInterval(drip)
    })

    test('a slow upload above the minimum rate is read completely', async () => {
      gateway.upstream.respond(() => Response.json(chatCompletion('Read')))
      const body = JSON.stringify({ ...CHAT, messages: [{ role: 'user', content: 'x'.repeat(400_000) }] })
      const slow = open(
        rawRequest('POST /v1/chat/completions', {
          authorization: `Bearer ${customer.key}`,
          'content-type': 'application/json',
          'content-length': String(body.length),
        }),
      )
      const pieces = Array.from({ length: 40 }, (_, index) => body.slice(index * 10_011, (index + 1) * 10_011))
      const drip = setInterval(() => slow.write(pieces.shift() ?? ''), 100)
      await until(() => slow.received().includes('Read'), 'the answer')
      clearInterval(drip)
      slow.end()
    })
  })
})
