/** Every refusal of a request: status, type, code, the faulty field, and no internal data. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    environment: { MAX_BODY_BYTES: '100000', MAX_JSON_DEPTH: '32' },
    catalog: (file) => {
      file.providers.silent = {
        ...(file.providers.provider1 as Record<string, unknown>),
        timeouts: { connectMs: 500, firstByteMs: 500, idleMs: 500, totalMs: 60_000 },
      }
      file.providers.dead = {
        format: 'chat-completions',
        baseUrl: 'http://127.0.0.1:9/v1',
        keys: ['sk-dead-canary-key'],
      }
      const [alpha] = file.models
      file.models.push({ ...alpha, id: 'svc/dead', targets: [{ provider: 'dead', model: 'dead-upstream' }] })
      file.models.push({ ...alpha, id: 'svc/silent', targets: [{ provider: 'silent', model: 'silent-upstream' }] })
    },
  })
  customer = await gateway.customer('10')
})
afterAll(() => gateway.stop())

const GOOD = { model: 'svc/alpha', messages: [{ role: 'user', content: 'Hi' }] }
type ErrorBody = {
  error: { message: string; type: string; param: string | null; code: string | null } & Record<string, unknown>
}

async function send(body: unknown, headers: Record<string, string> = {}, path = '/v1/chat/completions') {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { response, status: response.status, body: (await response.json()) as ErrorBody }
}

describe('errors of the request', () => {
  const nested = `${'['.repeat(40)}${']'.repeat(40)}`
  const cases: [name: string, body: unknown, status: number, param: string | null, words: RegExp][] = [
    ['broken JSON', '{"model":', 400, null, /not valid JSON/],
    ['an empty body', '', 400, null, /empty/],
    ['no object', '[]', 400, null, /object/],
    ['too deep', `{"model":"svc/alpha","messages":${nested}}`, 400, null, /32 levels/],
    ['S9: far too deep', `{"a":${'['.repeat(40_000)}`, 400, null, /32 levels/],
    ['too large', { ...GOOD, padding: 'x'.repeat(100_001) }, 413, null, /100000 bytes/],
    ['no model', { messages: GOOD.messages }, 400, 'model', /model/],
    ['no messages', { model: 'svc/alpha' }, 400, 'messages', /messages/],
    ['empty messages', { ...GOOD, messages: [] }, 400, 'messages', /1/],
    ['101 messages', { ...GOOD, messages: Array(101).fill(GOOD.messages[0]) }, 400, 'messages', /100/],
    ['a wrong role', { ...GOOD, messages: [{ role: 'wizard', content: 'x' }] }, 400, 'messages[0].role', /role/],
    ['temperature 2.1', { ...GOOD, temperature: 2.1 }, 400, 'temperature', /2/],
    ['temperature -1', { ...GOOD, temperature: -1 }, 400, 'temperature', /0/],
    ['S11: temperature as text', { ...GOOD, temperature: '1' }, 400, 'temperature', /number/],
    ['max_tokens 128001', { ...GOOD, max_tokens: 128_001 }, 400, 'max_tokens', /128,?000/],
    ['max_tokens 0', { ...GOOD, max_tokens: 0 }, 400, 'max_tokens', /1/],
    ['S11: max_tokens 1.5', { ...GOOD, max_tokens: 1.5 }, 400, 'max_tokens', /integer/],
    ['n beyond reason', { ...GOOD, n: 1.8e19 }, 400, 'n', /n/],
    ['stream as text', { ...GOOD, stream: 'true' }, 400, 'stream', /true or false/],
    ['fallback no list', { ...GOOD, fallback: 'svc/alpha' }, 400, 'fallback', /fallback/],
  ]
  test.each(cases)('a faulty request is refused: %s', async (_name, body, status, param, words) => {
    const answer = await send(body)
    expect(answer.status).toBe(status)
    expect(answer.body.error.type).toBe('invalid_request_error')
    expect(answer.body.error.param).toBe(param)
    expect(answer.body.error.message).toMatch(words)
    expect(Object.keys(answer.body.error)).toEqual(expect.arrayContaining(['message', 'type', 'param', 'code']))
    expect(answer.response.headers.get('x-request-id')).toMatch(/^req_/)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'the content type %p is refused',
    async (type) => {
      expect((await send(GOOD, { 'content-type': type })).status).toBe(415)
    },
  )

  test('unknown models in the fields model and fallback are a 404', async () => {
    const unknown = await send({ ...GOOD, model: 'svc/unknown' })
    expect(unknown.status).toBe(404)
    expect(unknown.body.error).toMatchObject({ type: 'invalid_request_error', code: 'model_not_found', param: 'model' })
    const fallback = await send({ ...GOOD, fallback: ['svc/alpha', 'svc/unknown'] })
    expect(fallback.status).toBe(404)
    expect(fallback.body.error.param).toBe('fallback[1]')
    for (const model of ['constructor', '__proto__', 'toString'])
      expect((await send({ ...GOOD, model })).status).toBe(404)
  })

  test('unknown paths are a 404 in the format of the path', async () => {
    const chat = await fetch(`${gateway.url}/v1/nothing`)
    expect(chat.status).toBe(404)
    expect(((await chat.json()) as ErrorBody).error.message).toContain('/v1/nothing')
    const messages = await fetch(`${gateway.url}/v1/messages/nothing`)
    expect(await messages.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
    const gemini = await fetch(`${gateway.url}/v1beta/nothing`)
    expect(await gemini.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } })
  })
})

describe('missing credit and rate limits', () => {
  test('a request that costs more than the account has is a 402 that says not to retry', async () => {
    const poor = await gateway.customer('0.0000001')
    const { status, body, response } = await send(GOOD, { authorization: `Bearer ${poor.key}` })
    expect(status).toBe(402)
    expect(body.error).toMatchObject({ type: 'insufficient_quota', code: 'insufficient_quota', transient: false })
    expect(body.error.availableUsd).toBe(0.0000001)
    expect(body.error.neededUsd).toBeGreaterThan(0.0000001)
    expect(response.headers.get('retry-after')).toBeNull()
  })

  test('any request of an empty account is a 402', async () => {
    const empty = await gateway.customer('0')
    expect((await send(GOOD, { authorization: `Bearer ${empty.key}` })).status).toBe(402)
  })

  test('with a small balance the output limit is lowered, and the answer’s header has it', async () => {
    const small = await gateway.customer('0.002')
    gateway.upstream.calls.length = 0
    const { response } = await send(GOOD, { authorization: `Bearer ${small.key}` })
    expect(response.status).toBe(200)
    const cap = Number(response.headers.get('x-svc-max-output-tokens'))
    expect(cap).toBeGreaterThanOrEqual(256)
    expect(cap).toBeLessThan(1_000)
    expect(gateway.upstream.calls[0]?.body.max_completion_tokens).toBe(cap)
  })

  test('requests per minute and open requests are limited by 429, with retry-after', async () => {
    const limited = await gateway.customer('1', { requestsPerMinute: 2 })
    const headers = { authorization: `Bearer ${limited.key}` }
    expect((await send(GOOD, headers)).status).toBe(200)
    expect((await send(GOOD, headers)).status).toBe(200)
    const third = await send(GOOD, headers)
    expect(third.status).toBe(429)
    expect(third.body.error).toMatchObject({ code: 'rate_limit_exceeded', scope: 'requests', limit: 2 })
    expect(Number(third.response.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(third.response.headers.get('x-ratelimit-limit-requests')).toBe('2')
  })

  test('tokens per minute are limited by 429', async () => {
    const limited = await gateway.customer('1', { tokensPerMinute: 60 })
    const headers = { authorization: `Bearer ${limited.key}` }
    const body = { ...GOOD, max_tokens: 50 }
    expect((await send(body, headers)).status).toBe(200)
    const refused = await send({ ...body, messages: [{ role: 'user', content: 'x '.repeat(100) }] }, headers)
    expect(refused.status).toBe(429)
    expect(refused.body.error).toMatchObject({ scope: 'tokens' })
  })
})

describe('errors of the provider', () => {
  const CANARY = 'sk-provider1-secret-canary org-AbCdEfGh1234'
  const cases: [upstream: number, status: number, type: string][] = [
    // Its own words, at an endpoint of its own format.
    [400, 400, 'x'],
    [401, 502, 'server_error'],
    [403, 502, 'server_error'],
    [404, 502, 'server_error'],
    [422, 422, 'x'],
    [429, 503, 'server_error'],
    [500, 502, 'server_error'],
    [502, 502, 'server_error'],
    [503, 503, 'server_error'],
    [504, 504, 'server_error'],
    [529, 503, 'server_error'],
  ]
  test.each(cases)('the provider’s status %d becomes status %d', async (upstream, status, type) => {
    const before = await gateway.balance(customer.accountId)
    gateway.upstream.respond(() =>
      Response.json(
        { error: { message: `secret ${CANARY} ${gateway.upstream.url}/v1`, type: 'x', param: null, code: null } },
        { status: upstream },
      ),
    )
    const answer = await send(GOOD)
    expect(answer.status).toBe(status)
    expect(answer.body.error.type).toBe(type)
    for (const secret of [...CANARY.split(' '), gateway.upstream.url])
      expect(JSON.stringify(answer.body)).not.toContain(secret)
    if (status === 503) expect(answer.response.headers.get('retry-after')).not.toBeNull()
    const after = await gateway.balance(customer.accountId)
    expect([after.spent, after.held]).toEqual([before.spent, 0 as never])
  })

  const broken: [name: string, respond: () => Response, status: number][] = [
    ['HTML', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 502],
    ['an empty body', () => new Response(''), 502],
    ['another shape', () => Response.json({ hello: 1 }), 502],
    ['an error in a 200', () => Response.json({ error: { message: CANARY } }), 502],
    ['a redirect', () => Response.redirect('http://127.0.0.1:9/steal', 307), 502],
  ]
  test.each(broken)('the provider fails and the client gets an error: %s', async (_name, respond, status) => {
    gateway.upstream.respond(respond)
    const answer = await send(GOOD)
    expect(answer.status).toBe(status)
    expect(JSON.stringify(answer.body)).not.toContain('canary')
  })

  test('an unreachable provider is a 502, a silent one a 504', async () => {
    expect((await send({ ...GOOD, model: 'svc/dead' })).status).toBe(502)
    gateway.upstream.respond(() => new Promise(() => {}))
    expect((await send({ ...GOOD, model: 'svc/silent' })).status).toBe(504)
  })
})

test('S6: no answer and no log line contains a provider’s key, a customer’s key or a prompt', () => {
  const everything = gateway.logLines.join('')
  expect(everything.length).toBeGreaterThan(1_000)
  for (const secret of ['provider1-secret-canary', 'dead-canary', customer.key])
    expect(everything).not.toContain(secret)
  expect(everything).not.toContain('"Hi"')
})
