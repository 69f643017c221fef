/** The money of embeddings: reserved before any call, charged by usage, and free if a part is missing. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { countTextTokens } from '@/catalog/estimate'
import { nano } from '@/lib/money'
import { answerEither, compatibleAnswer, geminiAnswer, sellEmbeddings } from './providers'

const NANO_PER_TOKEN = 1_000
let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: answerEither, catalog: sellEmbeddings })
  // A charge waits two seconds for a count at most, and the first one of all for the vocabulary too.
  await countTextTokens(['warm'])
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  customer = await gateway.customer('1')
  gateway.upstream.calls.length = 0
})
afterEach(() => gateway.upstream.respond(answerEither))

function embed(body: object, { key }: { key: string } = customer, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...init,
  })
}

async function spent(): Promise<number> {
  const { spent: cost, held } = await gateway.balance(customer.accountId)
  expect(held).toBe(nano(0))
  return cost
}

/** The record that the books keep of the customer's only request. */
async function bookedRecord(): Promise<Record<string, unknown>> {
  let found: Record<string, unknown> | undefined
  await until(async () => {
    const answer = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization: `Bearer ${customer.key}` } })
    found = ((await answer.json()) as { recentUsage: Record<string, unknown>[] }).recentUsage[0]
    return found !== undefined
  })
  return found ?? {}
}

describe('the charge of embeddings', () => {
  test('embeddings are booked with the request’s tags, app and end user', async () => {
    const headers = { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' }
    const said = { ...headers, 'x-svc-tags': 'team=search,none', 'x-title': 'My App' }
    const answer = await embed({ model: 'svc/embed', input: ['one'], user: 'ada' }, customer, { headers: said })
    expect([answer.status, answer.headers.get('x-svc-tags-ignored')]).toEqual([200, 'none'])
    await bookedRecord()
    let rows: readonly unknown[] = []
    await until(async () => {
      rows = await gateway.gateway.database.sql`
        SELECT array_to_json(tags) AS tags, app, length(end_user) AS chars FROM usage_records WHERE account_id = ${customer.accountId}`
      return rows.length > 0
    })
    expect([...rows]).toEqual([{ tags: ['team=search'], app: 'My App', chars: 32 }])
  })

  test('embeddings are charged by the usage that the provider reports, in the headers and in the ledger', async () => {
    const answer = await embed({ model: 'svc/embed', input: ['one', 'three'] })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-svc-cost-usd')).toBe('0.000007')
    expect(answer.headers.get('x-svc-model')).toBe('svc/embed')
    expect(answer.headers.get('x-svc-provider')).toBe('provider1')
    expect(answer.headers.get('x-svc-attempts')).toBe('1')
    expect(answer.headers.get('x-svc-route-reason')).toBe('requested')
    expect(answer.headers.get('x-ratelimit-remaining-requests')).not.toBeNull()
    expect(await answer.json()).toMatchObject({ model: 'svc/embed', usage: { prompt_tokens: 7, total_tokens: 7 } })
    expect(await spent()).toBe(7 * NANO_PER_TOKEN)
    expect(await bookedRecord()).toMatchObject({
      model: 'svc/embed',
      inputTokens: 7,
      outputTokens: 0,
      credits: 0.000007,
    })
  })

  test('embeddings without usage cost our count, marked as estimated', async () => {
    gateway.upstream.respond((call) => geminiAnswer(call))
    const text = 'The quick brown fox jumps over the lazy dog'
    const answer = await embed({ model: 'svc/embed-gemini', input: [text, text] })
    expect(await answer.json()).toMatchObject({ usage: { prompt_tokens: 18, total_tokens: 18 } })
    expect(await spent()).toBe(18 * NANO_PER_TOKEN)
    const line = gateway.logLines.find((one) => one.includes(answer.headers.get('x-request-id') ?? '?'))
    expect(JSON.parse(line ?? '{}')).toMatchObject({ rule: 'counted', flags: ['estimated'] })
  })

  test.each([{ prompt_tokens: 0, total_tokens: 0 }, { prompt_tokens: -5 }, { prompt_tokens: 'NaN' }, {}])(
    'embeddings cost our count if the provider states the usage %p',
    async (usage) => {
      gateway.upstream.respond((call) => compatibleAnswer(call, { usage }))
      await embed({ model: 'svc/embed', input: 'hello world' })
      expect(await spent()).toBe(2 * NANO_PER_TOKEN)
    },
  )

  test('embeddings of token ids cost at most the number of ids, even if the provider reports more', async () => {
    gateway.upstream.respond((call) => compatibleAnswer(call, { usage: { prompt_tokens: 999, total_tokens: 999 } }))
    await embed({ model: 'svc/embed', input: [[1, 2, 3], [4]] })
    expect(await spent()).toBe(4 * NANO_PER_TOKEN)
  })

  test('embeddings in several calls cost the sum of the calls', async () => {
    const answer = await embed({ model: 'svc/embed-gemini', input: Array.from({ length: 250 }, (_, n) => `text ${n}`) })
    expect(answer.status).toBe(200)
    expect(gateway.upstream.calls.map(({ body }) => (body.requests as unknown[]).length)).toEqual([100, 100, 50])
    expect(await spent()).toBe(15 * NANO_PER_TOKEN)
  })

  test('embeddings cost nothing if the client disconnects before any answer', async () => {
    const controller = new AbortController()
    const release = Promise.withResolvers<void>()
    gateway.upstream.respond(async (call) => {
      controller.abort()
      await release.promise
      return compatibleAnswer(call)
    })
    await embed({ model: 'svc/embed', input: 'x' }, customer, { signal: controller.signal }).catch(() => undefined)
    await until(async () => (await gateway.balance(customer.accountId)).held === 0)
    release.resolve()
    expect(await spent()).toBe(0)
  })

  test('embeddings cost the calls made so far if the client disconnects between two calls', async () => {
    const controller = new AbortController()
    const release = Promise.withResolvers<void>()
    gateway.upstream.respond(async (call) => {
      if ((call.body.requests as unknown[]).length === 100) return geminiAnswer(call, 100)
      controller.abort()
      await release.promise
      return geminiAnswer(call, 100)
    })
    const input = Array.from({ length: 150 }, () => 'text')
    await embed({ model: 'svc/embed-gemini', input }, customer, { signal: controller.signal }).catch(() => undefined)
    await until(async () => (await gateway.balance(customer.accountId)).held === 0)
    release.resolve()
    expect(await spent()).toBe(100 * NANO_PER_TOKEN)
  })
})

describe('embeddings without a charge', () => {
  test('embeddings cost nothing if one of several calls fails', async () => {
    gateway.upstream.respond((call, index) =>
      index === 0 ? geminiAnswer(call, 5) : Response.json({ error: { code: 400, message: 'no' } }, { status: 400 }),
    )
    const answer = await embed({ model: 'svc/embed-gemini', input: Array.from({ length: 150 }, () => 'text') })
    expect(answer.status).toBe(400)
    expect(await spent()).toBe(0)
  })

  test.each([
    ['too few vectors', () => Response.json({ object: 'list', data: [], usage: { prompt_tokens: 3 } })],
    ['no JSON', () => new Response('<html>')],
    ['an error in a 200', () => Response.json({ error: { message: 'overloaded' } })],
    [
      'values that are no numbers',
      () => new Response('{"data":[{"index":0,"embedding":[NaN]}],"usage":{"prompt_tokens":3}}'),
    ],
    ['an empty vector', () => Response.json({ data: [{ index: 0, embedding: '' }], usage: { prompt_tokens: 3 } })],
  ])('embeddings cost nothing if the provider answers with %s', async (_, respond) => {
    gateway.upstream.respond(respond)
    const answer = await embed({ model: 'svc/embed', input: 'text', encoding_format: 'base64' })
    expect(answer.status).toBe(502)
    expect(await spent()).toBe(0)
  })
})

describe('a second attempt for embeddings', () => {
  test('a retry uses another target of the same model, and only the successful call is charged', async () => {
    gateway.upstream.respond((call) =>
      call.body.model === 'provider1-embedder' ? new Response('down', { status: 500 }) : compatibleAnswer(call),
    )
    const answer = await embed({ model: 'svc/embed-two', input: 'text' })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-svc-provider')).toBe('spare')
    expect(Number(answer.headers.get('x-svc-attempts'))).toBeGreaterThan(1)
    expect(await spent()).toBe(7 * NANO_PER_TOKEN)
  })

  test('a retry does not repeat embedding calls that the same target has answered', async () => {
    gateway.upstream.respond((call, index) =>
      index === 1 ? new Response('busy', { status: 503 }) : geminiAnswer(call, 5),
    )
    const input = Array.from({ length: 150 }, (_, n) => 'x'.repeat(n + 1))
    const answer = await embed({ model: 'svc/embed-gemini', input })
    const { data } = (await answer.json()) as { data: { index: number; embedding: number[] }[] }
    expect(data.map(({ embedding }) => embedding[0])).toEqual(input.map((text) => text.length))
    expect(data.map(({ index }) => index)).toEqual([...input.keys()])
    expect(gateway.upstream.calls.map(({ body }) => (body.requests as unknown[]).length)).toEqual([100, 50, 50])
    expect(await spent()).toBe(10 * NANO_PER_TOKEN)
  })

  test('a retry never uses another model, and a fallback list is refused', async () => {
    const answer = await embed({ model: 'svc/embed', input: 'text', fallback: ['svc/embed-two'] })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param: 'fallback' } })
    expect(gateway.upstream.calls).toHaveLength(0)
  })
})

describe('a request with an idempotency key', () => {
  test('two embeddings requests with one idempotency key are both answered, and charged once', async () => {
    const headers = {
      authorization: `Bearer ${customer.key}`,
      'content-type': 'application/json',
      'idempotency-key': 'one',
    }
    const body = { model: 'svc/embed', input: ['one', 'three'], encoding_format: 'base64' }
    const first = await embed(body, customer, { headers })
    const second = await embed(body, customer, { headers })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(await second.text()).toBe(await first.text())
    expect(gateway.upstream.calls).toHaveLength(1)
    expect(await spent()).toBe(7 * NANO_PER_TOKEN)
  })
})

test('texts of an embeddings request are counted exactly before a refusal for credit', async () => {
  const text = 'the same words again and again '.repeat(20)
  const poor = await gateway.customer('0.0002')
  gateway.upstream.respond((call) => compatibleAnswer(call, { usage: { prompt_tokens: 121, total_tokens: 121 } }))
  const answer = await embed({ model: 'svc/embed', input: text }, poor)
  expect(answer.status).toBe(200)
  expect((await gateway.balance(poor.accountId)).spent).toBe(nano(121_000))
})

test('embeddings are refused beyond the key’s tokens per minute', async () => {
  const key = await gateway.customer('1', { tokensPerMinute: 10 })
  const ask = () => embed({ model: 'svc/embed', input: [Array.from({ length: 9 }, () => 1)] }, key)
  expect((await ask()).status).toBe(200)
  expect((await ask()).status).toBe(429)
})
