/** The real client library against what the encoder writes: its iterator, its stream helper, its errors. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic, { APIError, PaymentRequiredError } from '@anthropic-ai/sdk'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { ChatResponse } from '@/chat/response'
import { unfold } from '@/chat/unfold'
import { messages } from '@/formats/messages/index'
import { context, encodeEvents, toSse } from './support'

const usage = { uncached: 10, cacheRead: 4, cacheWrite5m: 2, cacheWrite1h: 1, output: 8, reasoning: 3 }
const signature = { format: 'generate-content', value: 'AbC=' } as const
const answer: ChatResponse = {
  id: 'x',
  created: 0,
  model: 'u',
  choices: [
    {
      index: 0,
      content: [
        { type: 'reasoning', text: 'Two calls.' },
        { type: 'text', text: 'I look, wörld 🦊' },
        { type: 'tool-call', id: 'a|b', name: 'get_weather', argumentsText: '{"city":"Oslo"}', signature },
        { type: 'tool-call', id: 'c', name: 'get_weather', argumentsText: '{"city":"Budapest"}' },
        { type: 'tool-call', id: 'd', name: 'get_time', argumentsText: '' },
      ],
      finish: { kind: 'stop' },
    },
  ],
  usage,
}
const request = { model: 'svc/alpha', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }
const empty: ChatEvent[] = [
  { type: 'start', id: 'x', model: 'u', created: 0 },
  { type: 'finish', choice: 0, finish: { kind: 'length' } },
  { type: 'usage', usage },
]

let reply: () => Response = () => new Response()
let server: ReturnType<typeof Bun.serve>
let client: Anthropic

beforeAll(() => {
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => reply() })
  client = new Anthropic({ apiKey: 'test', baseURL: `http://127.0.0.1:${server.port}`, maxRetries: 0 })
})
afterAll(() => server.stop(true))

function replyStream(text: string): void {
  reply = () => new Response(text, { headers: { 'content-type': messages.framing.contentType } })
}

const expectedContent = [
  { type: 'thinking', thinking: 'Two calls.', signature: 'svc.unsigned' },
  { type: 'text', text: 'I look, wörld 🦊' },
  { type: 'thinking', thinking: '', signature: 'svc.generate-content.call.AbC=' },
  { type: 'tool_use', id: expect.stringMatching(/^a_b_[0-9a-f]{8}$/), name: 'get_weather', input: { city: 'Oslo' } },
  { type: 'tool_use', id: 'c', name: 'get_weather', input: { city: 'Budapest' } },
  { type: 'tool_use', id: 'd', name: 'get_time', input: {} },
]

describe('a complete answer', () => {
  test('the library reads a whole answer', async () => {
    reply = () => Response.json(messages.encodeResponse(answer, context))
    const message = await client.messages.create(request)
    expect(message).toMatchObject({ id: 'msg_public', model: 'svc/alpha', role: 'assistant', stop_reason: 'tool_use' })
    expect(message.content).toEqual(expectedContent as never)
    expect(message.usage).toMatchObject({ input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 8 })
  })
})

describe('a stream', () => {
  test('the library’s helper gathers a stream', async () => {
    const frames = toSse(encodeEvents(unfold(answer)))
    replyStream(
      frames.replaceAll('event: content_block_stop', `${messages.framing.keepAlive}event: content_block_stop`),
    )
    const helper = client.messages.stream(request)
    const heard: string[] = []
    helper.on('text', (delta) => heard.push(delta))
    const message = await helper.finalMessage()
    expect(message.content).toEqual(expectedContent as never)
    expect(message).toMatchObject({ stop_reason: 'tool_use', usage: { input_tokens: 10, output_tokens: 8 } })
    expect(heard.join('')).toBe('I look, wörld 🦊')
  })

  test('the library iterates a stream event by event', async () => {
    replyStream(toSse(encodeEvents(unfold(answer))))
    const stream = await client.messages.create({ ...request, stream: true })
    const seen: string[] = []
    for await (const event of stream) seen.push(event.type)
    expect(seen[0]).toBe('message_start')
    expect(seen.slice(-2)).toEqual(['message_delta', 'message_stop'])
    expect(seen.filter((type) => type === 'content_block_start')).toHaveLength(6)
  })

  test('the library reads an empty stream', async () => {
    replyStream(toSse(encodeEvents(empty)))
    const message = await client.messages.stream(request).finalMessage()
    expect(message).toMatchObject({ content: [], stop_reason: 'max_tokens' })
  })

  test('a broken stream throws an error of its kind', async () => {
    const encoder = messages.createStreamEncoder(context)
    const frames = unfold(answer)
      .slice(0, 4)
      .flatMap((event) => encoder.push(event))
    frames.push(...encoder.fail(new GatewayError('overloaded', 'Try later'), 'req_1'), ...encoder.end())
    replyStream(toSse(frames))
    const broken = await client.messages
      .stream(request)
      .finalMessage()
      .catch((error: unknown) => error)
    expect(broken).toBeInstanceOf(APIError)
    expect(broken).toMatchObject({ type: 'overloaded_error', error: { error: { message: 'Try later' } } })
  })
})

describe('an error', () => {
  test('an error has its class, code and request id', async () => {
    const error = new GatewayError('insufficient_credit', 'Top up', { code: 'no_credit', details: { needed: 1 } })
    const { status, body, headers } = messages.encodeError(error, 'req_1')
    reply = () => Response.json(body, { status, headers })
    const caught = (await client.messages.create(request).catch((thrown: unknown) => thrown)) as PaymentRequiredError
    expect(caught).toBeInstanceOf(PaymentRequiredError)
    expect(caught).toMatchObject({ status: 402, type: 'billing_error', errorCode: 'no_credit', requestID: 'req_1' })
  })

  test('an overload is an error that the library retries', async () => {
    const { status, body, headers } = messages.encodeError(
      new GatewayError('overloaded', 'x', { retryAfterSeconds: 0 }),
      'r',
    )
    let calls = 0
    reply = () => {
      calls++
      return calls === 1
        ? Response.json(body, { status, headers })
        : Response.json(messages.encodeResponse(answer, context))
    }
    await client.messages.create(request, { maxRetries: 1 })
    expect(calls).toBe(2)
  })
})

describe('requests of the library', () => {
  test('a request of the library is decoded completely', async () => {
    let sent: unknown
    server.reload({
      fetch: async (incoming) => {
        sent = await incoming.json()
        return Response.json(messages.encodeResponse(answer, context))
      },
    })
    await client.messages.create({
      ...request,
      system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 2048 },
      output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
    })
    server.reload({ fetch: () => reply() })
    expect(messages.decodeRequest(sent as never)).toMatchObject({
      system: [{ text: 'Be kind.', cache: { ttl: '5m' } }],
      tools: [{ name: 'f' }],
      toolChoice: { type: 'auto' },
      parallelToolCalls: false,
      reasoning: { budgetTokens: 2048, effort: 'high' },
      output: { type: 'json-schema' },
    })
  })
})
