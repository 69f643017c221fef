/** The real `openai` client with the responses interface of the whole gateway, and a chat-completions provider. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { judgeOrder } from '@test/formats/responses/stream-order'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatChunk, chatCompletion, chatStream, eventStream, usageOf } from '@test/support/upstream'
import OpenAI from 'openai'
import { isJsonObject, type JsonObject } from '@/lib/json'

let gateway: TestGateway
let customer: Customer
let client: OpenAI

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
  customer = await gateway.customer('10')
  client = new OpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
afterAll(() => gateway.stop())
beforeEach(() => {
  gateway.upstream.calls.length = 0
})

const REQUEST = { model: 'svc/alpha', input: 'Say hello' }

function post(path: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' }
  return fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

describe('a complete answer', () => {
  test('a complete answer repeats the request’s settings and has its cost', async () => {
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello', usageOf(10, 5))))
    const before = await gateway.balance(customer.accountId)
    const { data, response } = await client.responses
      .create({ ...REQUEST, instructions: 'Be brief', metadata: { a: 'b' }, max_output_tokens: 50 })
      .withResponse()
    expect(data.output_text).toBe('Hello')
    expect(data).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'svc/alpha',
      instructions: 'Be brief',
      metadata: { a: 'b' },
      max_output_tokens: 50,
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    })
    expect(data.id).toMatch(/^resp_[0-9A-Za-z]{22}$/)
    expect(response.headers.get('x-svc-model')).toBe('svc/alpha')
    expect(gateway.upstream.calls[0]?.body).toMatchObject({
      model: 'alpha-upstream',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Say hello' },
      ],
    })
    const after = await gateway.balance(customer.accountId)
    expect(after.spent - before.spent).toBe(10 * 1_000 + 5 * 2_000)
  })

  test('a complete answer is parsed as the requested object', async () => {
    gateway.upstream.respond(() => Response.json(chatCompletion('{"city":"Oslo"}')))
    const format = { type: 'json_schema', name: 'place', schema: { type: 'object' }, strict: true } as const
    const parsed = await client.responses.parse({ ...REQUEST, text: { format } })
    expect(parsed.output_parsed as unknown).toEqual({ city: 'Oslo' })
  })
})

describe('a stream of responses', () => {
  test('a stream has every event in order, and ends in the whole response', async () => {
    gateway.upstream.respond(() => eventStream(...chatStream(['Hel', 'lo'])))
    const response = await post('/v1/responses', { ...REQUEST, stream: true })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const told = eventsIn(await response.text())
    expect(judgeOrder(told)).toMatchObject({ status: 'completed', usage: { input_tokens: 10, output_tokens: 5 } })
  })

  test('a broken stream throws in the library, and ends in a failed response for others', async () => {
    const [first] = chatStream(['Hel', 'lo'])
    gateway.upstream.respond(() => eventStream(first, chatChunk({ content: 'Hel' })))
    const text = await (await post('/v1/responses', { ...REQUEST, stream: true })).text()
    expect(judgeOrder(eventsIn(text))).toMatchObject({ status: 'failed', error: { code: 'server_error' } })
    await expect(client.responses.stream(REQUEST).finalResponse()).rejects.toThrow()
  })
})

describe('tools of Codex', () => {
  test('Codex’s tools reach any provider under valid names, and calls return under their own', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'agents__spawn', arguments: '{"task":"x"}' } }
    const answer = chatCompletion('')
    const [choice] = answer.choices
    gateway.upstream.respond(() =>
      Response.json({
        ...answer,
        choices: [
          { ...choice, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
        ],
      }),
    )
    const response = await post('/v1/responses', {
      ...REQUEST,
      store: false,
      tools: [
        { type: 'function', name: 'exec', strict: false, parameters: { type: 'object', properties: {} } },
        { type: 'namespace', name: 'agents', description: 'Others', tools: [{ type: 'function', name: 'spawn' }] },
        { type: 'web_search', external_web_access: false },
      ],
      tool_choice: 'auto',
    })
    expect(response.headers.get('x-svc-left-out')).toBe('web_search')
    const body: unknown = await response.json()
    expect(isJsonObject(body) && body.output).toMatchObject([
      { type: 'function_call', name: 'spawn', namespace: 'agents', call_id: 'call_1', arguments: '{"task":"x"}' },
    ])
    expect(gateway.upstream.calls[0]?.body).toMatchObject({
      tools: [{ function: { name: 'exec', strict: false } }, { function: { name: 'agents__spawn' } }],
    })
  })

  test('a request is refused if the provider supports none of Codex’s tools', async () => {
    const response = await post('/v1/responses', { ...REQUEST, tools: [{ type: 'web_search' }] })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'tools[0]' } })
    expect(gateway.upstream.calls).toEqual([])
  })
})

describe('the other endpoints', () => {
  test('input tokens are counted for free', async () => {
    const count = await client.responses.inputTokens.count({ model: 'svc/alpha', input: 'Say hello to everybody' })
    expect(count).toMatchObject({ object: 'response.input_tokens' })
    expect(count.input_tokens).toBeGreaterThan(3)
    expect(gateway.upstream.calls).toEqual([])
  })

  test('a WebSocket request is refused with the advice to use POST', async () => {
    const response = await fetch(`${gateway.url}/v1/responses`, {
      headers: { authorization: `Bearer ${customer.key}`, upgrade: 'websocket', connection: 'Upgrade' },
    })
    expect([response.status, response.headers.get('connection')]).toEqual([426, 'close'])
    expect(await response.json()).toMatchObject({ error: { code: 'websocket_not_supported' } })
  })

  test('a plain GET is a 404 in the format of responses', async () => {
    const response = await fetch(`${gateway.url}/v1/responses`)
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', code: null } })
  })

  test('compaction requests are refused', async () => {
    expect((await post('/v1/responses/compact', REQUEST)).status).toBe(400)
  })

  test.each(['/responses', '/v1/responses/', '/v1/v1/responses'])(
    'POST %s is answered in the format of responses',
    async (path) => {
      gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
      expect(await (await post(path, REQUEST)).json()).toMatchObject({ object: 'response', status: 'completed' })
    },
  )
})

test('an error has the format’s shape, before and inside a stream', async () => {
  const wrong = await post('/v1/responses', { ...REQUEST, temperature: 3 })
  expect([wrong.status, await wrong.json()]).toEqual([
    400,
    {
      error: {
        message: 'temperature must be at most 2',
        type: 'invalid_request_error',
        param: 'temperature',
        code: null,
      },
    },
  ])
})

function eventsIn(text: string): JsonObject[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as JsonObject)
}
