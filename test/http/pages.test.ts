/** Pages of other origins may call the API with a key, like any program, but never the dashboard. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { dashboardRoutesOf, fillPath, nameOf } from '@test/console/http/routes'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'

const ORIGIN = 'https://app.example'
const CHAT = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }
const CONTENTS = { contents: [{ parts: [{ text: 'Hi' }] }] }

let gateway: TestGateway
let customer: Customer
let admin: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  customer = await gateway.customer('1')
  admin = await signUpPerson(gateway, { role: 'admin' })
})
afterAll(() => gateway.stop())

const allowed = (response: Response) => [
  response.headers.get('access-control-allow-origin'),
  response.headers.get('access-control-allow-credentials'),
]

describe('a page of another origin', () => {
  const CALLS = [
    ['/v1/chat/completions', CHAT],
    ['/v1/chat/completions', { ...CHAT, stream: true }],
    ['/chat/completions', CHAT],
    ['/v1/messages', { ...CHAT, max_tokens: 9 }],
    ['/v1/messages/count_tokens', CHAT],
    ['/v1beta/models/svc/alpha:generateContent', CONTENTS],
    ['/v1/models/svc/alpha:streamGenerateContent', CONTENTS],
    ['/v1/route', CHAT],
    ['/v1/nowhere', {}],
  ] as const

  test.each(CALLS)('a page of another origin may call %s, and read answers and errors', async (path, body) => {
    const headers = { origin: ORIGIN, 'content-type': 'application/json' }
    for (const key of [customer.key, 'svc-nobody']) {
      const init = { method: 'POST', headers: { ...headers, 'x-api-key': key }, body: JSON.stringify(body) }
      const response = await fetch(gateway.url + path, init)
      await response.text()
      expect([response.status, allowed(response)]).toEqual([response.status, ['*', null]])
      expect(response.headers.get('access-control-expose-headers')).toBe('*')
    }
  })

  test.each([
    ...new Set([...CALLS.map(([path]) => path), '/v1/models', '/v1beta/models', '/models/svc/alpha', '/messages']),
  ])('a preflight request to %s is allowed', async (path) => {
    const headers = {
      origin: ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-os',
    }
    const response = await fetch(gateway.url + path, { method: 'OPTIONS', headers })
    expect([response.status, allowed(response)]).toEqual([204, ['*', null]])
    expect(response.headers.get('access-control-allow-headers')).toMatch(/^authorization, \*$/)
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
  })

  test.each(['/v1/models', '/v1/models/svc/alpha', '/v1beta/models', '/models'])(
    'a page of another origin can read %s',
    async (path) => {
      expect(allowed(await fetch(gateway.url + path))).toEqual(['*', null])
    },
  )

  test('no dashboard route allows a page of another origin', async () => {
    const headers = { origin: ORIGIN, cookie: admin.cookie, 'content-type': 'application/json' }
    for (const route of dashboardRoutesOf(gateway)) {
      if (route.path.endsWith('/events')) continue
      const path = gateway.url + fillPath(route.path, {})
      const first = await fetch(path, {
        method: 'OPTIONS',
        headers: { ...headers, 'access-control-request-method': route.method },
      })
      const init = { method: route.method, headers, ...(route.method !== 'GET' && { body: '{}' }) }
      const answers = [
        first,
        await fetch(path, init),
        await fetch(path, { ...init, headers: { ...headers, origin: gateway.url } }),
      ]
      for (const answer of answers) {
        await answer.text()
        expect([nameOf(route), allowed(answer)]).toEqual([nameOf(route), [null, null]])
      }
    }
    for (const path of ['/dashboard', '/docs', '/metrics', '/webhooks/deposits/sandbox']) {
      expect(allowed(await fetch(gateway.url + path, { headers }))).toEqual([null, null])
    }
  })
})

test('a client that sends no origin gets no CORS headers', async () => {
  const init = {
    method: 'POST',
    headers: { 'x-api-key': customer.key, 'content-type': 'application/json' },
    body: JSON.stringify(CHAT),
  }
  const response = await fetch(`${gateway.url}/v1/chat/completions`, init)
  expect([response.status, allowed(response)]).toEqual([200, [null, null]])
})
