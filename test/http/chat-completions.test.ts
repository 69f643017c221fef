/** The real `openai` client with the whole gateway: what it gets, and what it is charged. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatChunk, chatCompletion, chatStream, eventStream, liveStream, usageOf } from '@test/support/upstream'
import OpenAI from 'openai'

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

const MESSAGES = [{ role: 'user' as const, content: 'Say hello' }]

describe('complete answers', () => {
  test('a complete answer has the public model id, is otherwise unchanged, and is charged exactly', async () => {
    const before = await gateway.balance(customer.accountId)
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello', usageOf(1_000, 500))))
    const { data, response } = await client.chat.completions
      .create({ model: 'svc/alpha', messages: MESSAGES })
      .withResponse()
    expect(data as unknown).toEqual({ ...chatCompletion('Hello', usageOf(1_000, 500)), model: 'svc/alpha' })
    expect(response.headers.get('x-svc-model')).toBe('svc/alpha')
    expect(response.headers.get('x-svc-provider')).toBe('provider1')
    expect(response.headers.get('x-svc-attempts')).toBe('1')
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/)
    // The prompt is far below 1,000 tokens: what the provider claims beyond the possible is not believed.
    expect(response.headers.get('x-svc-cost-usd')).not.toBe('0')
    const after = await gateway.balance(customer.accountId)
    expect(before.available - after.available).toBe(after.spent - before.spent)
    expect(after.held as number).toBe(0)
  })

  test('a complete answer costs its usage', async () => {
    const before = await gateway.balance(customer.accountId)
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello', usageOf(10, 5))))
    const { response } = await client.chat.completions.create({ model: 'svc/alpha', messages: MESSAGES }).withResponse()
    expect(response.headers.get('x-svc-cost-usd')).toBe('0.00002')
    const after = await gateway.balance(customer.accountId)
    expect(after.spent - before.spent).toBe(10 * 1_000 + 5 * 2_000)
  })

  test('a complete answer without usage is counted and flagged', async () => {
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello world, how are you?', null)))
    const before = await gateway.balance(customer.accountId)
    await client.chat.completions.create({ model: 'svc/alpha', messages: MESSAGES })
    const after = await gateway.balance(customer.accountId)
    expect(after.spent).toBeGreaterThan(before.spent)
    expect(gateway.logLines.filter((line) => line.includes('"event":"chat"')).at(-1)).toContain('"rule":"counted"')
  })

  test('the upstream gets the caller’s body with its own model name, and our key', async () => {
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
    const body = {
      model: 'svc/alpha',
      messages: [
        { role: 'system' as const, content: 'Be brief' },
        {
          role: 'user' as const,
          content: [
            { type: 'text' as const, text: 'What is this?' },
            { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
      ],
      tools: [
        { type: 'function' as const, function: { name: 'look', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: 'auto' as const,
      response_format: { type: 'json_object' as const },
      stop: ['END'],
      seed: 7,
      metadata: { trace: 'x' },
    }
    const unlisted = { an_unknown_field: { kept: false } }
    const { response } = await client.chat.completions.create({ ...body, ...unlisted }).withResponse()
    expect(response.headers.get('x-svc-left-out')).toBe('an_unknown_field')
    const [call] = gateway.upstream.calls
    expect(call?.path).toBe('/v1/chat/completions')
    expect(call?.body).toEqual({ ...body, model: 'alpha-upstream' })
    expect(call?.headers.get('authorization')).toBe('Bearer sk-provider1-secret-canary')
    expect(JSON.stringify([...(call?.headers ?? [])])).not.toContain(customer.key)
    expect(call?.headers.get('x-stainless-lang')).toBeNull()
  })

  test('an output limit above the model’s is lowered to the paid one', async () => {
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
    await client.chat.completions.create({ model: 'svc/alpha', messages: MESSAGES, max_tokens: 128_000 })
    expect(gateway.upstream.calls[0]?.body.max_tokens).toBe(32_768)
  })
})

describe('streams', () => {
  test('a chat stream arrives chunk by chunk with the public model id and ends in [DONE]', async () => {
    gateway.upstream.respond(() => eventStream(...chatStream(['Hel', 'lo'])))
    const before = await gateway.balance(customer.accountId)
    const response = await post({ model: 'svc/alpha', messages: MESSAGES, stream: true })
    const text = await response.text()
    const expected = chatStream(['Hel', 'lo'])
      .filter((event) => typeof event === 'string' || (event as { choices: unknown[] }).choices.length > 0)
      .map((event) =>
        typeof event === 'string' ? event : JSON.stringify({ ...(event as object), model: 'svc/alpha' }),
      )
      .map((data) => `data: ${data}\n\n`)
      .join('')
    expect(text).toBe(expected)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const after = await gateway.balance(customer.accountId)
    expect(after.spent - before.spent).toBe(20_000)
    expect(after.held as number).toBe(0)
  })

  test('the provider is always asked for usage; only a client that requested usage gets its chunk', async () => {
    gateway.upstream.respond(() => eventStream(...chatStream(['Hi'])))
    const plain = await collect({ stream: true })
    expect(plain.some((chunk) => chunk.usage)).toBe(false)
    expect(gateway.upstream.calls[0]?.body.stream_options).toEqual({ include_usage: true })
    const asked = await collect({ stream: true, stream_options: { include_usage: true } })
    expect(asked.at(-1)?.usage?.total_tokens).toBe(15)
    expect(asked.at(-1)?.choices).toEqual([])
    expect(asked.every((chunk) => chunk.model === 'svc/alpha')).toBe(true)
  })

  test('chunks arrive as they are written, not at the end', async () => {
    const live = liveStream()
    gateway.upstream.respond(() => live.response)
    const [role, ...rest] = chatStream(['first', 'second'])
    live.write(`data: ${JSON.stringify(role)}\n\ndata: ${JSON.stringify(rest[0])}\n\n`)
    const stream = await client.chat.completions.create({ model: 'svc/alpha', messages: MESSAGES, stream: true })
    const seen: string[] = []
    for await (const chunk of stream) {
      const content = chunk.choices[0]?.delta.content
      if (content) seen.push(content)
      if (content === 'first') {
        for (const event of rest.slice(1))
          live.write(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
        live.close()
      }
    }
    expect(seen).toEqual(['first', 'second'])
  })

  test('an aborted stream cancels the call, and the relayed part is charged', async () => {
    const before = await gateway.balance(customer.accountId)
    const live = liveStream()
    gateway.upstream.respond(() => live.response)
    live.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'one two three' }))}\n\n`)
    const stream = await client.chat.completions.create({ model: 'svc/alpha', messages: MESSAGES, stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) stream.controller.abort()
    await until(() => gateway.upstream.calls[0]?.isAborted, 'the provider to be stopped')
    const after = await until(async () => {
      const balance = await gateway.balance(customer.accountId)
      return balance.held === 0 && balance.spent > before.spent && balance
    }, 'the charge')
    expect(after.spent - before.spent).toBeLessThan(50_000)
  })
})

describe('streams that break', () => {
  const first = `data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'partial answer' }))}\n\n`

  test('a stream that breaks before content is an error status without charge', async () => {
    const before = await gateway.balance(customer.accountId)
    gateway.upstream.respond(() =>
      eventStream(chatChunk({ role: 'assistant', content: '' }), {
        error: { message: 'overloaded', type: 'server_error' },
      }),
    )
    const error = await client.chat.completions
      .create({ model: 'svc/alpha', messages: MESSAGES, stream: true })
      .catch((caught) => caught)
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error.status).toBeGreaterThanOrEqual(500)
    expect((await gateway.balance(customer.accountId)).spent).toBe(before.spent)
  })

  test.each(['close', 'error'] as const)(
    'a stream that breaks after content by %s ends in an error without [DONE]; the relayed part is charged',
    async (how) => {
      const before = await gateway.balance(customer.accountId)
      const live = liveStream()
      gateway.upstream.respond(() => live.response)
      live.write(first)
      const response = await post({ model: 'svc/alpha', messages: MESSAGES, stream: true })
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      let text = new TextDecoder().decode((await reader.read()).value)
      live[how]()
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
        text += new TextDecoder().decode(chunk.value)
      expect(text).toContain('partial answer')
      expect(text).toContain('"error":{')
      expect(text).not.toContain('[DONE]')
      const after = await until(async () => {
        const balance = await gateway.balance(customer.accountId)
        return balance.held === 0 && balance.spent > before.spent && balance
      }, 'the broken stream to be charged')
      expect(after.spent - before.spent).toBeLessThan(200_000)
    },
  )
})

function post(body: object): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function collect(options: { stream: true; stream_options?: { include_usage: boolean } }) {
  const chunks: OpenAI.ChatCompletionChunk[] = []
  const stream = await client.chat.completions.create({ model: 'svc/alpha', messages: MESSAGES, ...options })
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
