/** The gateway seen from outside: content types, access to metrics, and one meaning of host and path for all checks. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { openRaw, rawRequest } from '@test/support/raw-connection'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'

const TOKEN = 'metrics-token-canary-0123'
const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }

let gateway: TestGateway
let production: TestGateway
let customer: Customer
let admin: Person

beforeAll(async () => {
  const respond = () => Response.json(chatCompletion('Hello'))
  const https = { PUBLIC_URL: 'https://gateway.example.test', TRUSTED_PROXY_HOPS: '0' }
  ;[gateway, production] = await Promise.all([
    startGateway({ respond, environment: { METRICS_TOKEN: TOKEN } }),
    startGateway({ respond, environment: { ...https, NODE_ENV: 'production', AUTH_SECRET: 'x'.repeat(32) } }),
  ])
  customer = await gateway.customer('1')
  admin = await signUpPerson(gateway, { role: 'admin' })
})
afterAll(() => Promise.all([gateway.stop(), production.stop()]))

function chat(body: object = CHAT, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

describe('metrics', () => {
  const scrape = (target: TestGateway, authorization?: string) =>
    fetch(`${target.url}/metrics`, authorization === undefined ? {} : { headers: { authorization } })

  test('if a metrics token is set, only requests with that token get the metrics', async () => {
    expect((await scrape(gateway, `Bearer ${TOKEN}`)).status).toBe(200)
    for (const wrong of [
      undefined,
      '',
      'Bearer ',
      `Bearer ${TOKEN}0`,
      `Bearer ${TOKEN.slice(1)}`,
      `Bearer ${customer.key}`,
    ]) {
      const response = await scrape(gateway, wrong)
      expect([response.status, await response.text()]).toEqual([401, expect.not.stringContaining(TOKEN)])
    }
  })

  test('in production without a metrics token, nobody gets the metrics', async () => {
    expect((await scrape(production)).status).toBe(404)
    expect((await scrape(production, 'Bearer ')).status).toBe(404)
  })
})

describe('nosniff', () => {
  const nosniff = (response: Response) => response.headers.get('x-content-type-options')

  test('the header nosniff is set on every page, document and list', async () => {
    const paths = gateway.gateway.app.routes
      .filter(({ method, path }) => method === 'GET' && !path.endsWith('/events/') && !path.endsWith('/events'))
      .map(({ path }) => path.replace(/:\w+|\*/g, 'x'))
    expect(paths.length).toBeGreaterThan(40)
    for (const path of [...paths, '/nowhere', '/dashboard/api/nowhere']) {
      const response = await fetch(gateway.url + path, { headers: { cookie: admin.cookie } })
      await response.body?.cancel()
      expect([path, response.status, nosniff(response)]).toEqual([path, response.status, 'nosniff'])
    }
  })

  test.each([
    ['/v1/chat/completions', CHAT],
    ['/v1/chat/completions', { ...CHAT, stream: true }],
    ['/v1/chat/completions', {}],
    ['/v1/messages', { ...CHAT, max_tokens: 9 }],
    ['/v1/messages/count_tokens', CHAT],
    ['/v1/route', CHAT],
  ])('the header nosniff is on the answer of %s with %j', async (path, body) => {
    expect(nosniff(await fetch(gateway.url + path, chat(body)))).toBe('nosniff')
  })
})

test("an unauthenticated request's body is not read, and a malformed form is the caller's fault", async () => {
  const { app } = gateway.gateway
  const routes = app.routes.filter(({ method }) => method !== 'GET' && method !== 'HEAD')
  expect(routes.length).toBeGreaterThan(60)
  for (const { method, path } of routes) {
    const request = new Request(gateway.url + path.replace(/:\w+|\*/g, 'x'), {
      method: method === 'ALL' ? 'POST' : method,
      headers: { 'content-type': 'multipart/form-data', origin: gateway.url },
      body: '{"a":',
    })
    const { status } = await app.handle(request)
    expect([method, path, status, status < 500]).toEqual([method, path, status, true])
    // Before anybody knows who asks only the forms of pages are read, within their limits.
    if (!/^\/(dashboard|sandbox)\//.test(path)) expect([method, path, request.bodyUsed]).toEqual([method, path, false])
  }
})

test('under https, browsers get an HSTS header', async () => {
  for (const path of ['/docs', '/docs/json', '/dashboard/api/session/options', '/dashboard']) {
    const response = await fetch(production.url + path)
    expect([path, response.headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000'])
    expect((await fetch(gateway.url + path)).headers.has('strict-transport-security')).toBe(false)
  }
})

describe('a request', () => {
  async function answerTo(text: string): Promise<string> {
    const connection = openRaw(gateway.url, text)
    const answer = await until(() => connection.received(), 'an answer')
    connection.end()
    return answer
  }
  const hosts = (...names: string[]) => names.map((name) => `host: ${name}\r\n`).join('')

  test.each([
    ['two hosts', hosts('one', 'two')],
    ['the same host twice', hosts('one', 'one')],
    ['a list of hosts', hosts('one, two')],
    ['no host', ''],
    ['a host that is a path', hosts('one/x?')],
    ['a host with user information', hosts('a@b')],
  ])('a request with %s is refused at every path', async (_, headers) => {
    for (const line of ['GET /v1/models', 'GET /dashboard/api/session/options', 'GET /healthz']) {
      expect(await answerTo(`${line} HTTP/1.1\r\n${headers}\r\n`)).toStartWith('HTTP/1.1 400')
    }
  })

  test('a request with an invalid Host header is refused, whatever its path', async () => {
    const request = rawRequest('POST /dashboard/api/session/sign-in', { host: 'one:99999', 'content-length': '0' })
    expect(await answerTo(request)).toStartWith('HTTP/1.1 400')
  })

  test('a request in absolute form is routed by its path, passes every check, and its host is not trusted', async () => {
    const page = await answerTo(rawRequest('GET http://127.0.0.1:1/dashboard/api/a/:accountId/keys'))
    expect(page).toStartWith('HTTP/1.1 401')
    expect(await answerTo(rawRequest('GET http://evil.example/v1/usage'))).toStartWith('HTTP/1.1 401')
    expect(gateway.logLines.filter((line) => line.includes('unexpected_error'))).toEqual([])
  })

  test.each(['TRACE /healthz', 'CONNECT one:80', 'FOO /healthz', 'DELETE /v1/models'])(
    'the request %s is refused',
    async (line) => {
      const connection = openRaw(gateway.url, rawRequest(line))
      await until(() => connection.isClosed() || connection.received() !== '', 'an answer or an end')
      expect(connection.received()).toMatch(/^(HTTP\/1\.1 4\d\d|$)/)
      connection.end()
    },
  )
})
