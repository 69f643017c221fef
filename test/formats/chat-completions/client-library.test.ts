/** The real client library reads what this format writes: answers, streams, errors, and errors inside streams. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { APIError, AuthenticationError, BadRequestError } from 'openai'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { chatCompletions } from '@/formats/chat-completions/index'
import { assert } from '@/lib/assert'
import { isJsonObject } from '@/lib/json'
import { CONTEXT, usageOf } from './support'

const USAGE = usageOf({ uncached: 3, cacheRead: 2, output: 4, reasoning: 1 })

const EVENTS: Record<string, ChatEvent[]> = {
  text: [
    { type: 'start', id: 'x', model: 'm', created: 1 },
    { type: 'reasoning-start', choice: 0, block: 0 },
    { type: 'reasoning-delta', choice: 0, block: 0, text: 'Hm.' },
    { type: 'reasoning-end', choice: 0, block: 0 },
    { type: 'text-start', choice: 0, block: 1 },
    { type: 'text-delta', choice: 0, block: 1, text: 'Hello ' },
    { type: 'text-delta', choice: 0, block: 1, text: 'wörld 👋' },
    { type: 'text-end', choice: 0, block: 1 },
    { type: 'usage', usage: USAGE },
    { type: 'finish', choice: 0, finish: { kind: 'stop' } },
    { type: 'end' },
  ],
  tools: [
    { type: 'start', id: 'x', model: 'm', created: 1 },
    { type: 'text-start', choice: 0, block: 0 },
    { type: 'text-delta', choice: 0, block: 0, text: 'Looking.' },
    { type: 'text-end', choice: 0, block: 0 },
    { type: 'tool-call-start', choice: 0, block: 1, id: 'call_a', name: 'weather' },
    { type: 'tool-call-start', choice: 0, block: 2, id: 'call_b', name: 'now' },
    { type: 'tool-call-delta', choice: 0, block: 1, argumentsText: '{"city":' },
    { type: 'tool-call-delta', choice: 0, block: 1, argumentsText: '"Oslo"}' },
    { type: 'tool-call-end', choice: 0, block: 1, signature: { format: 'generate-content', value: 'c2ln' } },
    { type: 'tool-call-end', choice: 0, block: 2 },
    { type: 'finish', choice: 0, finish: { kind: 'stop' } },
    { type: 'end' },
  ],
  empty: [
    { type: 'start', id: 'x', model: 'm', created: 1 },
    { type: 'finish', choice: 0, finish: { kind: 'length' } },
    { type: 'end' },
  ],
}

let server: ReturnType<typeof Bun.serve>
let client: OpenAI

beforeAll(() => {
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  client = new OpenAI({ apiKey: 'svc-test', baseURL: `${server.url}v1`, maxRetries: 0 })
})

afterAll(() => server.stop(true))

describe('a stream', () => {
  test('the library reads a stream of text', async () => {
    const completion = await client.chat.completions.stream(request('text')).finalChatCompletion()
    expect(completion.choices[0]?.message.content).toBe('Hello wörld 👋')
    expect(completion.choices[0]?.message).toMatchObject({ role: 'assistant', reasoning_content: 'Hm.' })
    expect(completion).toMatchObject({
      id: CONTEXT.id,
      model: CONTEXT.model,
      usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
    })
    expect(completion.choices[0]?.finish_reason).toBe('stop')
  })

  test('the library reads a stream of parallel calls, one without arguments', async () => {
    const completion = await client.chat.completions.stream(request('tools')).finalChatCompletion()
    const [choice] = completion.choices
    expect(choice?.finish_reason).toBe('tool_calls')
    expect(choice?.message.content).toBe('Looking.')
    const calls = choice?.message.tool_calls?.map(
      (call) => call.type === 'function' && [call.id, call.function.arguments],
    )
    expect(calls).toEqual([
      ['call_a', '{"city":"Oslo"}'],
      ['call_b', '{}'],
    ])
  })

  test('the library reads a stream without content', async () => {
    const completion = await client.chat.completions.stream(request('empty')).finalChatCompletion()
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'length', message: { role: 'assistant' } })
  })

  test('a broken stream throws in the library after its content', async () => {
    const stream = await client.chat.completions.create({ ...request('broken'), stream: true })
    let text = ''
    const read = async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
    }
    const error = await read().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ type: 'server_error', code: null, param: null })
    expect(text).toBe('Hello ')
  })
})

describe('a complete answer', () => {
  test('the library reads a whole answer', async () => {
    const completion = await client.chat.completions.create(request('json'))
    expect(completion.choices[0]?.message.content).toBe('Hi')
    expect(completion.usage?.total_tokens).toBe(9)
  })
})

describe('an error', () => {
  test('a request error has the field and the request id', async () => {
    const error = await failure('invalid')
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({
      status: 400,
      param: 'messages[3].content',
      type: 'invalid_request_error',
      code: null,
      requestID: 'req_1',
    })
  })

  test('a key error is an authentication error', async () => {
    expect(await failure('key')).toBeInstanceOf(AuthenticationError)
  })

  test('a credit error has its amounts', async () => {
    expect(await failure('credit')).toMatchObject({
      status: 402,
      code: 'insufficient_quota',
      error: { needed_usd: 0.5 },
    })
  })
})

function request(model: string) {
  return { model, messages: [{ role: 'user' as const, content: 'hi' }] }
}

async function failure(model: string): Promise<unknown> {
  return client.chat.completions.create(request(model)).catch((error: unknown) => error)
}

const FAILURES: Record<string, GatewayError> = {
  invalid: invalidRequest('messages[3].content is required', 'messages[3].content'),
  key: new GatewayError('invalid_credentials', 'No such key'),
  credit: new GatewayError('insufficient_credit', 'Too little credit', { details: { needed_usd: 0.5 } }),
}

async function answer(incoming: Request): Promise<Response> {
  const body: unknown = await incoming.json()
  assert(isJsonObject(body), 'the client sends an object')
  const { model, stream } = chatCompletions.decodeRequest(body)
  const error = FAILURES[model]
  if (error) {
    const encoded = chatCompletions.encodeError(error, 'req_1')
    return Response.json(encoded.body, { status: encoded.status, headers: encoded.headers })
  }
  if (stream) return streamOf(model)
  const message = { index: 0, content: [{ type: 'text', text: 'Hi' } as const], finish: { kind: 'stop' } as const }
  const response = { id: 'x', created: 1, model: 'm', choices: [message], usage: USAGE }
  return Response.json(chatCompletions.encodeResponse(response, CONTEXT))
}

function streamOf(model: string): Response {
  const encoder = chatCompletions.createStreamEncoder(CONTEXT)
  const frames =
    model === 'broken'
      ? [
          ...(EVENTS.text ?? []).slice(0, 6).flatMap((event) => encoder.push(event)),
          ...encoder.fail(new GatewayError('upstream_failed', 'The provider broke off'), 'req_1'),
        ]
      : [...(EVENTS[model] ?? []).flatMap((event) => encoder.push(event)), ...encoder.end()]
  const { contentType, format, keepAlive } = chatCompletions.framing
  return new Response(keepAlive + frames.map((frame, index) => format(frame, index)).join(keepAlive), {
    headers: { 'content-type': contentType },
  })
}
