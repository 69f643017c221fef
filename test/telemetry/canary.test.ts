/**
 * Content in telemetry: with content export off, no marked word of prompt, tools, answer, headers or key reaches a
 * collector; with it on, only content does.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answerAs, sellAllFormats } from '@test/stored-responses/providers'
import type { UpstreamCall } from '@test/support/upstream'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { startTracedGateway, type TracedGateway } from './traced-gateway'

const CANARY = 'canaryword'
const WORDS = ['system', 'user', 'call', 'result', 'tool', 'stop', 'thought', 'said', 'argument'].map(wordOf)
const HEADER_WORDS = ['header', 'session', 'state', 'baggage'].map(wordOf)
const BOTH = [false, true]
const PAIRS = FORMAT_NAMES.flatMap((client) =>
  FORMAT_NAMES.flatMap((provider) => BOTH.map((stream) => [client, provider, stream] as const)),
)

function wordOf(place: string): string {
  return `${CANARY}-${place}-x`
}

const say = (place: string) => `please ${wordOf(place)} now`

function respond(call: UpstreamCall): Response {
  return answerAs(call, ({ signature }) => [
    { type: 'reasoning', text: say('thought'), signature },
    { type: 'text', text: say('said') },
    { type: 'tool-call', id: 'call_1', name: 'add', argumentsText: `{"what":"${say('argument')}"}`, signature },
  ])
}

/** A conversation with a tool in it, in each format. */
function requestIn(format: FormatName, model: string, stream: boolean): [path: string, body: object] {
  // A provider of that format takes none.
  const stop = model === 'svc/responses' ? undefined : [say('stop')]
  const parameters = { type: 'object', properties: { what: { type: 'string', description: say('tool') } } }
  const args = { what: say('call') }
  const add = { name: 'add', description: say('tool'), parameters }
  switch (format) {
    case 'chat-completions': {
      const call = { id: 'call_0', type: 'function', function: { name: 'add', arguments: JSON.stringify(args) } }
      const messages = [
        { role: 'system', content: say('system') },
        { role: 'user', content: say('user') },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_0', content: say('result') },
      ]
      const tools = [{ type: 'function', function: add }]
      return ['/v1/chat/completions', { model, messages, stream, tools, stop, max_tokens: 100 }]
    }
    case 'messages': {
      const messages = [
        { role: 'user', content: say('user') },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'add', input: args }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: say('result') }] },
      ]
      const tools = [{ name: 'add', description: say('tool'), input_schema: parameters }]
      const sampling = { stop_sequences: stop, max_tokens: 100 }
      return ['/v1/messages', { model, messages, stream, tools, system: say('system'), ...sampling }]
    }
    case 'responses': {
      const input = [
        { role: 'user', content: say('user') },
        { type: 'function_call', call_id: 'call_0', name: 'add', arguments: JSON.stringify(args) },
        { type: 'function_call_output', call_id: 'call_0', output: say('result') },
      ]
      return [
        '/v1/responses',
        { model, input, stream, tools: [{ type: 'function', ...add }], instructions: say('system') },
      ]
    }
    case 'generate-content': {
      const contents = [
        { role: 'user', parts: [{ text: say('user') }] },
        { role: 'model', parts: [{ functionCall: { name: 'add', args } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'add', response: { result: say('result') } } }] },
      ]
      const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      const systemInstruction = { parts: [{ text: say('system') }] }
      const body = { contents, systemInstruction, tools: [{ functionDeclarations: [add] }] }
      return [`/v1beta/models/${encodeURIComponent(model)}:${verb}`, body]
    }
  }
}

async function converse(world: TracedGateway, client: FormatName, provider: FormatName, stream: boolean) {
  world.forget()
  const [path, body] = requestIn(client, `svc/${provider}`, stream)
  const response = await world.post(path, body, {
    'x-custom': wordOf('header'),
    'x-svc-session': wordOf('session'),
    baggage: `who=${wordOf('baggage')}`,
    tracestate: `vendor=${wordOf('state')}`,
  })
  const text = await response.text()
  expect({ status: response.status, text }).toMatchObject({
    status: 200,
    text: expect.stringContaining(wordOf('said')),
  })
  return world.spansOf(response.headers.get('x-request-id') ?? '')
}

/** All that has left for the collector. */
const sentBy = ({ receiver }: TracedGateway) =>
  receiver.seen.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n')

/** What belongs to nobody but the gateway, its customer or its provider. */
const secretsOf = ({ customer }: TracedGateway) => [customer.key, 'sk-provider1-secret-canary', ...HEADER_WORDS]

/** What a span may hold doesn't depend on the protocol: the second one has each format once, whole and streamed. */
const SENT_BY = { 'http/protobuf': PAIRS, 'http/json': PAIRS.filter(([client, provider]) => client === provider) }

for (const [protocol, pairs] of Object.entries(SENT_BY))
  describe(`content export off, over ${protocol}`, () => {
    let world: TracedGateway
    beforeAll(async () => {
      const environment = { OTEL_EXPORTER_OTLP_PROTOCOL: protocol }
      world = await startTracedGateway({ respond, catalog: sellAllFormats, environment })
    })
    afterAll(() => world.stop())

    test.each(pairs)(
      'no content of the conversation is exported: %s client, %s provider, streaming %p',
      async (client, provider, stream) => {
        const { calls } = await converse(world, client, provider, stream)
        expect(calls[0]?.attributes['gen_ai.usage.output_tokens']).toBeNumber()
        const sent = sentBy(world)
        for (const secret of [CANARY, ...secretsOf(world)]) expect(sent).not.toContain(secret)
      },
    )

    test('a provider’s refusal, which quotes the request, is not exported', async () => {
      world.forget()
      const error = { error: { message: `cannot ${say('user')}`, type: CANARY, code: CANARY } }
      world.gateway.upstream.respond(() => Response.json(error, { status: 400 }))
      const [path, body] = requestIn('chat-completions', 'svc/chat-completions', false)
      const response = await world.post(path, body)
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(CANARY)])
      await world.spansOf(response.headers.get('x-request-id') ?? '')
      expect(sentBy(world)).not.toContain(CANARY)
      world.gateway.upstream.respond(respond)
    })
  })

describe('content export on', () => {
  let world: TracedGateway
  beforeAll(async () => {
    const environment = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' }
    world = await startTracedGateway({ respond, catalog: sellAllFormats, environment })
  })
  afterAll(() => world.stop())

  test.each(PAIRS)(
    'all content of the conversation is exported, and nothing else: %s client, %s provider, streaming %p',
    async (client, provider, stream) => {
      const { calls } = await converse(world, client, provider, stream)
      const { attributes = {} } = calls[0] ?? {}
      const content = JSON.stringify(attributes)
      const isStopped = provider !== 'responses' && (client === 'chat-completions' || client === 'messages')
      const wanted = WORDS.filter((word) => isStopped || word !== wordOf('stop'))
      // Not every format shows what was thought.
      expect(wanted.filter((word) => !content.includes(word) && word !== wordOf('thought'))).toEqual([])
      const sent = sentBy(world)
      for (const secret of secretsOf(world)) expect(sent).not.toContain(secret)
      const [input, output] = ['gen_ai.input.messages', 'gen_ai.output.messages'].map((name) =>
        JSON.parse(String(attributes[name])),
      )
      expect(input.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool'])
      expect(input[1].parts[0]).toMatchObject({ type: 'tool_call', name: 'add', arguments: { what: say('call') } })
      expect(input[2].parts[0]).toMatchObject({ type: 'tool_call_response' })
      expect(output).toMatchObject([{ role: 'assistant', finish_reason: 'tool_call' }])
      expect(output[0].parts).toContainEqual({ type: 'text', content: say('said') })
      expect(JSON.parse(String(attributes['gen_ai.system_instructions']))).toEqual([
        { type: 'text', content: say('system') },
      ])
      expect(JSON.parse(String(attributes['gen_ai.tool.definitions']))).toMatchObject([
        { type: 'function', name: 'add' },
      ])
    },
  )

  test('only the newest messages of a very long conversation are exported', async () => {
    world.forget()
    const turns = Array.from({ length: 90 }, (_, index) => ({
      role: index % 2 ? 'assistant' : 'user',
      content: `${index} ${'x'.repeat(10_000)}`,
    }))
    const messages = [...turns, { role: 'user', content: 'the last' }]
    const response = await world.post('/v1/chat/completions', {
      model: 'svc/chat-completions',
      messages,
      max_tokens: 9,
    })
    expect(response.status).toBe(200)
    const { calls } = await world.spansOf(response.headers.get('x-request-id') ?? '')
    const text = String(calls[0]?.attributes['gen_ai.input.messages'])
    expect(text.length).toBeLessThanOrEqual(65_536)
    const told = JSON.parse(text)
    expect(told.length).toBeGreaterThan(5)
    expect(told.at(-1)).toEqual({ role: 'user', parts: [{ type: 'text', content: 'the last' }] })
  })
})
