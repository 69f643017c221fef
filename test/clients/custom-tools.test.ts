/** Custom tools of chat-completions at providers of other formats, through the official client: text arguments over several turns. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { TestGateway } from '@test/support/gateway'
import { chatCompletion, type UpstreamCall } from '@test/support/upstream'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { FormatName } from '@/chat/format-name'
import { modelAt, startTrio } from './trio'

let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  gateway = await startTrio()
  client = new OpenAI({ apiKey: (await gateway.customer('100')).key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
})
afterAll(() => gateway.stop())

const PATCH = '*** Begin "Patch"\n+ näh 👋\\n\n*** End'
const TEXT = JSON.stringify({ input: PATCH })
const GRAMMAR = { syntax: 'lark' as const, definition: 'start: "x"' }
const TOOLS = [
  {
    type: 'custom' as const,
    custom: { name: 'patch', description: 'Edits.', format: { type: 'grammar' as const, grammar: GRAMMAR } },
  },
  { type: 'custom' as const, custom: { name: 'say.anything' } },
  { type: 'function' as const, function: { name: 'now' } },
]

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
const ITEM = { id: 'ctc_1', type: 'custom_tool_call', status: 'completed', call_id: 'call_1', name: 'patch' }
const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', created_at: 1_760_000_000, status: 'completed', model: 'x' },
  ...{ error: null, incomplete_details: null, output: [{ ...ITEM, input: PATCH }], usage: USAGE },
}

/** A stream whose text comes in pieces of one character. */
function responsesStream(): Response {
  const at = { item_id: ITEM.id, output_index: 0 }
  const events: { type: string; [field: string]: unknown }[] = [
    { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...ITEM, status: 'in_progress', input: '' } },
    ...[...PATCH].map((delta) => ({ type: 'response.custom_tool_call_input.delta', ...at, delta })),
    { type: 'response.custom_tool_call_input.done', ...at, input: PATCH },
    { type: 'response.output_item.done', output_index: 0, item: { ...ITEM, input: PATCH } },
    { type: 'response.completed', response: RESPONSE },
  ]
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

const ANSWERS: Record<Exclude<FormatName, 'chat-completions'>, (isStream: boolean) => Response> = {
  responses: (isStream) => (isStream ? responsesStream() : Response.json(RESPONSE)),
  messages: () =>
    Response.json({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'x', stop_reason: 'tool_use', stop_sequence: null },
      content: [{ type: 'tool_use', id: 'call_1', name: 'patch', input: { input: PATCH } }],
      usage: USAGE,
    }),
  'generate-content': () =>
    Response.json({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [{ functionCall: { id: 'call_1', name: 'patch', args: { input: PATCH } } }],
          },
          ...{ index: 0, finishReason: 'STOP' },
        },
      ],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    }),
}

const CALLED = [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: PATCH } }]
const HISTORY: ChatCompletionMessageParam[] = [
  { role: 'user', content: 'Hi' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: PATCH } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'done' },
]

describe.each(['responses', 'messages', 'generate-content'] as const)('custom tools at a provider of %s', (format) => {
  const request = { model: modelAt(format), messages: HISTORY, tools: TOOLS }
  let received: UpstreamCall['body'] = {}

  function answer(isStream: boolean): void {
    gateway.upstream.respond(({ body }) => {
      received = body
      return ANSWERS[format](isStream)
    })
  }

  test('a custom tool call arrives with its text', async () => {
    answer(false)
    const { choices } = await client.chat.completions.create(request)
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null, tool_calls: CALLED } })
  })

  test('custom tools work in streams', async () => {
    answer(format === 'responses')
    const { choices } = await client.chat.completions.stream(request).finalChatCompletion()
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: CALLED } })
  })

  test('the provider gets the custom tool and the earlier tool calls', async () => {
    answer(false)
    await client.chat.completions.create({ ...request, tool_choice: { type: 'custom', custom: { name: 'patch' } } })
    if (format !== 'responses') {
      expect(JSON.stringify(received)).toContain('The input must match this lark grammar')
      expect(JSON.stringify(received)).toContain(TEXT)
      return
    }
    expect(received.tools).toEqual([
      { type: 'custom', name: 'patch', description: 'Edits.', format: { type: 'grammar', ...GRAMMAR } },
      { type: 'custom', name: expect.stringMatching(/^say_anything_[0-9a-f]{8}$/) },
      { type: 'function', name: 'now', parameters: { type: 'object', properties: {} }, strict: false },
    ])
    expect(received.tool_choice).toEqual({ type: 'custom', name: 'patch' })
    expect(received.input).toEqual([
      { role: 'user', content: 'Hi' },
      { type: 'custom_tool_call', call_id: 'call_1', name: 'patch', input: PATCH },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
    ])
  })
})

test('a provider of the client’s format gets custom tools unchanged', async () => {
  let received: UpstreamCall['body'] = {}
  gateway.upstream.respond(({ body }) => {
    received = body
    return Response.json(chatCompletion('Hello'))
  })
  await client.chat.completions.create({ model: modelAt('chat-completions'), messages: HISTORY, tools: TOOLS })
  expect(received).toMatchObject({ tools: TOOLS, messages: HISTORY })
})
