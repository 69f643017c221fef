/** The public endpoints other than inference: models, usage, health, documentation. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { isDeepStrictEqual } from 'node:util'
import { test } from '@test/ledger/accounts/within-day'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))) })
})
afterAll(() => gateway.stop())

test('GET /v1/models lists every model and tier without a credential', async () => {
  const response = await fetch(`${gateway.url}/v1/models`)
  expect(response.status).toBe(200)
  const list = (await response.json()) as { object: string; data: Record<string, unknown>[] }
  expect(list.object).toBe('list')
  expect(list.data).toEqual([
    expect.objectContaining({
      id: 'svc/alpha',
      object: 'model',
      created: 1_760_000_000,
      owned_by: 'provider1',
      name: 'Alpha',
      provider: 'provider1',
      pricing: expect.objectContaining({ input_per_1m_tokens: 1, output_per_1m_tokens: 2, currency: 'USD' }),
      context_length: 256_000,
    }),
    expect.objectContaining({
      id: 'auto-smart',
      object: 'model',
      provider: 'svc',
      pricing: null,
      context_length: 128_000,
    }),
  ])
})

test.each(['/v1/models/svc/alpha', '/v1/models/svc%2Falpha', '/v1/models/svc/alpha/', '/v1/models/auto-smart'])(
  'GET %s without a key is answered',
  async (path) => {
    const response = await fetch(gateway.url + path)
    expect(response.status).toBe(200)
    expect(((await response.json()) as { id: string }).id).toBe(path.includes('alpha') ? 'svc/alpha' : 'auto-smart')
  },
)

test('an unknown model in the path of the model list is a 404', async () => {
  const response = await fetch(`${gateway.url}/v1/models/svc/none`)
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ error: { code: 'model_not_found' } })
})

test('GET /v1/usage includes the last settled request', async () => {
  const { key } = await gateway.customer('2.5')
  const usage = async () =>
    (await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } })).json()
  expect(await usage()).toEqual({
    credits_remaining: 2.5,
    credits_used: 0,
    usage_this_month: 0,
    customer: { name: 'Test Customer', credits: 2.5 },
    recentUsage: [],
  })
  for (let count = 1; count <= 3; count++) {
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'auto-smart', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    const summary = (await usage()) as { credits_used: number; recentUsage: Record<string, unknown>[] }
    expect(summary).toMatchObject({ credits_remaining: 2.5 - count * 0.00002, usage_this_month: summary.credits_used })
    expect(summary.recentUsage).toHaveLength(count)
    expect(summary.recentUsage[0]).toEqual({
      model: 'svc/alpha',
      inputTokens: 10,
      outputTokens: 5,
      credits: 0.00002,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  }
})

test('/healthz and /readyz answer with 200', async () => {
  expect(await (await fetch(`${gateway.url}/healthz`)).json()).toEqual({ status: 'ok' })
  const isReady = async () => {
    const ready = await fetch(`${gateway.url}/readyz`)
    return ready.status === 200 && isDeepStrictEqual(await ready.json(), { status: 'ready' })
  }
  await until(isReady, 'the gateway to be ready and nothing else')
})

test('the OpenAPI document has every public route', async () => {
  const document = (await (await fetch(`${gateway.url}/docs/json`)).json()) as { paths: Record<string, object> }
  for (const path of [
    '/v1/chat/completions',
    '/v1/messages',
    '/v1beta/models/{model}:generateContent',
    '/v1beta/models/{model}:streamGenerateContent',
    '/v1/embeddings',
    '/v1beta/models/{model}:embedContent',
    '/v1beta/models/{model}:batchEmbedContents',
    '/v1/models',
    '/v1/models/{model}',
    '/v1/route',
    '/v1/usage',
    '/v1/feedback',
    '/healthz',
    '/readyz',
  ]) {
    expect(Object.keys(document.paths)).toContain(path)
  }
})
