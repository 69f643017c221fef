/** Credentials of requests: every form on every endpoint, typos refused without a look-up, and changes that apply at once. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'

let gateway: TestGateway
let customer: Customer
let other: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  customer = await gateway.customer('1')
  other = await gateway.customer('1')
})
afterAll(() => gateway.stop())

const CHAT = {
  method: 'POST',
  body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }),
}
const ENDPOINTS: [path: string, init: RequestInit][] = [
  ['/v1/chat/completions', CHAT],
  ['/v1/usage', {}],
]

function call(path: string, init: RequestInit, headers: Record<string, string>, query = ''): Promise<Response> {
  return fetch(gateway.url + path + query, { ...init, headers: { 'content-type': 'application/json', ...headers } })
}

describe.each(ENDPOINTS)('%s', (path, init) => {
  test('a key is accepted in every header that libraries use', async () => {
    const forms: [headers: Record<string, string>, query?: string][] = [
      [{ authorization: `Bearer ${customer.key}` }],
      [{ authorization: `bearer ${customer.key}` }],
      [{ 'x-api-key': customer.key }],
      [{ 'x-provider3-api-key': customer.key }],
      [{ 'x-goog-api-key': customer.key }],
      [{}, `?key=${customer.key}`],
      [{}, `?alt=sse&key=${encodeURIComponent(customer.key)}`],
      [{ authorization: `Bearer ${customer.key}`, 'x-api-key': customer.key }],
    ]
    for (const [headers, query] of forms) expect((await call(path, init, headers, query)).status).toBe(200)
  })

  test('S6: a request with two different keys is a 400', async () => {
    const conflicting = { authorization: `Bearer ${customer.key}`, 'x-api-key': other.key }
    expect((await call(path, init, conflicting)).status).toBe(400)
    expect((await call(path, init, { 'x-api-key': customer.key }, `?key=${other.key}`)).status).toBe(400)
  })

  test('missing, malformed, mistyped and unknown keys are a 401', async () => {
    const mistyped = customer.key.slice(0, -1) + (customer.key.endsWith('a') ? 'b' : 'a')
    const attempts: Record<string, string>[] = [
      {},
      { authorization: 'Bearer' },
      { authorization: `Basic ${btoa(`x:${customer.key}`)}` },
      { authorization: 'Bearer sk-something-else' },
      { authorization: `Bearer ${mistyped}` },
      { 'x-api-key': 'x'.repeat(5_000) },
      { 'x-api-key': "' OR 1=1 --" },
    ]
    for (const headers of attempts) {
      const response = await call(path, init, headers)
      expect(response.status).toBe(401)
      const text = await response.text()
      expect(JSON.parse(text)).toMatchObject({ error: { type: 'invalid_request_error', code: 'invalid_api_key' } })
      expect(text).not.toContain(mistyped)
    }
  })
})

test('a deactivated key is refused at once by every gateway, an activated key works again, a deleted one never', async () => {
  const twin = await gateway.twin()
  const { key, keyId } = await gateway.customer('1')
  const statuses = async () =>
    Promise.all(
      [gateway, twin].flatMap(({ url }) =>
        ENDPOINTS.map(async ([path, init]) => {
          const response = await fetch(url + path, {
            ...init,
            headers: { 'content-type': 'application/json', 'x-api-key': key },
          })
          return response.status
        }),
      ),
    )
  expect(await statuses()).toEqual([200, 200, 200, 200])
  await gateway.apiKeys.deactivate(keyId)
  expect(await statuses()).toEqual([401, 401, 401, 401])
  await gateway.apiKeys.activate(keyId)
  expect(await statuses()).toEqual([200, 200, 200, 200])
  await gateway.apiKeys.delete(keyId)
  expect(await statuses()).toEqual([401, 401, 401, 401])
})
