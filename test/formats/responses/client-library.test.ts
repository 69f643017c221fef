/** The real client library reads answers, streams and errors in the responses format. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CONTEXT, contextFor, usageOf } from '@test/formats/responses/client-side/answers'
import OpenAI, { APIError, AuthenticationError, BadRequestError } from 'openai'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import { responses } from '@/formats/responses/index'
import { assert } from '@/lib/assert'
import { isJsonObject } from '@/lib/json'

const USAGE = usageOf({ uncached: 3, cacheRead: 2, output: 4, reasoning: 1 })
const TOOLS = [
  { type: 'function', name: 'now', parameters: null, strict: false },
  { type: 'custom', name: 'patch' },
] as const
const TOOL_CONTEXT = { ...contextFor({ tools: TOOLS.map((tool) => ({ ...tool })) }), wantsReasoning: true }

const EVENTS: Record<string, ChatEvent[]> = {
  text: [
    { type: 'start', id: 'x', model: 'm', created: 1 },
    { type: 'reasoning-start', choice: 0, block: 0 },
    { type: 'reasoning-delta', choice: 0, block: 0, text: 'Hm.' },
    { type: 'reasoning-end', choice: 0, block: 0, signature: { format: 'messages', value: 'sig' } },
    { type: 'text-start', choice: 0, block: 1 },
    { type: 'text-delta', choice: 0, block: 1, text: 'Hello ' },
    { type: 'text-delta', choice: 0, block: 1, text: 'wörld 👋' },
    { type: 'text-end', choice: 0, block: 1 },
    { type: 'finish', choice: 0, finish: { kind: 'stop' } },
    { type: 'usage', usage: USAGE },
    { type: 'end' },
  ],
  tools: [
    { type: 'start', id: 'x', model: 'm', created: 1 },
    { type: 'tool-call-start', choice: 0, block: 0, id: 'call_a', name: 'patch' },
    { type: 'tool-call-start', choice: 0, block: 1, id: 'call_b', name: 'now' },
    { type: 'tool-call-delta', choice: 0, block: 0, argumentsText: '{"input":' },
    { type: 'tool-call-delta', choice: 0, block: 0, argumentsText: '"*** End"}' },
    { type: 'tool-call-end', choice: 0, block: 0 },
    { type: 'tool-call-end', choice: 0, block: 1 },
    { type: 'finish', choice: 0, finish: { kind: 'tool-calls' } },
    { type: 'end' },
  ],
  refusal: [
    { type: 'refusal-start', choice: 0, block: 0 },
    { type: 'refusal-delta', choice: 0, block: 0, text: 'No.' },
    { type: 'refusal-end', choice: 0, block: 0 },
    { type: 'finish', choice: 0, finish: { kind: 'content-filter' } },
  ],
  empty: [
    { type: 'start', id: 'x', model: 'm', created: 1 },
    { type: 'finish', choice: 0, finish: { kind: 'length' } },
  ],
}

let server: ReturnType<typeof Bun.serve>
let client: OpenAI

beforeAll(() => {
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer })
  client = new OpenAI({ apiKey: 'svc-test', baseURL: `${server.url}v1`, maxRetries: 0 })
})
afterAll(() => server.stop(true))

describe.each(['streamed', 'complete'])('an answer of responses, %s', (kind) => {
  const read = (model: string) =>
    kind === 'streamed'
      ? client.responses.stream({ model, input: 'Hi', tools: [...TOOLS] }).finalResponse()
      : client.responses.create({ model, input: 'Hi', tools: [...TOOLS] })

  test('the library reads an answer of text and reasoning', async () => {
    const response = await read('text')
    expect(response.output_text).toBe('Hello wörld 👋')
    expect(response.output[0]).toMatchObject({
      type: 'reasoning',
      summary: [{ text: 'Hm.' }],
      encrypted_content: 'svc1.messages.sig',
    })
    expect(response).toMatchObject({ status: 'completed', model: CONTEXT.model, usage: { total_tokens: 9 } })
  })

  test('the library reads calls, one of a custom tool and one without arguments', async () => {
    const { output } = await read('tools')
    expect(output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_a', name: 'patch', input: '*** End', status: 'completed' },
      { type: 'function_call', call_id: 'call_b', name: 'now', arguments: '{}', status: 'completed' },
    ])
  })

  test('the library reads a refusal and an empty answer', async () => {
    expect((await read('refusal')).output).toMatchObject([{ content: [{ type: 'refusal', refusal: 'No.' }] }])
    expect(await read('empty')).toMatchObject({ status: 'incomplete', output: [] })
  })
})

test('a broken stream throws in the library after its content', async () => {
  const stream = await client.responses.create({ model: 'broken', input: 'Hi', stream: true })
  let text = ''
  const read = async () => {
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta
  }
  const error = await read().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(APIError)
  expect(error).toMatchObject({ type: 'server_error', code: null, param: null })
  expect(text).toBe('Hello ')
})

describe('an error', () => {
  test('a request error has the faulty field and the request id', async () => {
    const error = await failure('invalid')
    expect(error).toBeInstanceOf(BadRequestError)
    expect(error).toMatchObject({ status: 400, param: 'input[3].content', code: null, requestID: 'req_1' })
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

async function failure(model: string): Promise<unknown> {
  return client.responses.create({ model, input: 'Hi' }).catch((error: unknown) => error)
}

const FAILURES: Record<string, GatewayError> = {
  invalid: invalidRequest('input[3].content is required', 'input[3].content'),
  key: new GatewayError('invalid_credentials', 'No such key'),
  credit: new GatewayError('insufficient_credit', 'Too little credit', { details: { needed_usd: 0.5 } }),
}

async function answer(incoming: Request): Promise<Response> {
  const body: unknown = await incoming.json()
  assert(isJsonObject(body), 'the client sends an object')
  const { model, stream } = responses.decodeRequest(body)
  const error = FAILURES[model]
  if (error) {
    const encoded = responses.encodeError(error, 'req_1')
    return Response.json(encoded.body, { status: encoded.status, headers: encoded.headers })
  }
  if (stream) return streamOf(model)
  const folder = createFolder()
  for (const event of EVENTS[model] ?? []) folder.push(event)
  return Response.json(responses.encodeResponse(folder.response(), TOOL_CONTEXT))
}

function streamOf(model: string): Response {
  const encoder = responses.createStreamEncoder(TOOL_CONTEXT)
  const frames =
    model === 'broken'
      ? [
          ...(EVENTS.text ?? []).slice(0, 6).flatMap((event) => encoder.push(event)),
          ...encoder.fail(new GatewayError('upstream_failed', 'The provider broke off'), 'req_1'),
        ]
      : [...(EVENTS[model] ?? []).flatMap((event) => encoder.push(event)), ...encoder.end()]
  const { contentType, format, keepAlive } = responses.framing
  return new Response(keepAlive + frames.map(format).join(keepAlive), { headers: { 'content-type': contentType } })
}
