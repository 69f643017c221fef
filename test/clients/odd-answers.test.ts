/**
 * Official clients of chat-completions with unusual answers of compatible providers. Each answer breaks or misleads
 * one of them if it is passed on unchanged.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import type { TestGateway } from '@test/support/gateway'
import { eventStream } from '@test/support/upstream'
import { generateText, jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { modelAt, startTrio } from './trio'

let gateway: TestGateway
let access: { apiKey: string; baseURL: string }

beforeAll(async () => {
  gateway = await startTrio()
  access = { apiKey: (await gateway.customer('100')).key, baseURL: `${gateway.url}/v1` }
})
afterAll(() => gateway.stop())

const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
const model = modelAt('chat-completions')

type Seen = {
  text: string
  calls: { id: string; name: string; arguments: unknown }[]
  role?: string
  tokens: number | undefined
}

async function askOpenai(isStream: boolean): Promise<Seen> {
  const client = new OpenAI({ ...access, maxRetries: 0 })
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: SCHEMA } }]
  const request = { model, messages: [{ role: 'user' as const, content: 'Hi' }], tools }
  const options = { stream_options: { include_usage: true } }
  const completion = isStream
    ? await client.chat.completions.stream({ ...request, ...options }).finalChatCompletion()
    : await client.chat.completions.create(request)
  const { content, role, tool_calls: calls = [] } = completion.choices[0]?.message ?? {}
  return {
    ...(role && { role }),
    text: content ?? '',
    calls: calls.flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) }]
        : [],
    ),
    tokens: completion.usage?.total_tokens,
  }
}

async function askAiSdk(isStream: boolean): Promise<Seen> {
  let failure: unknown
  const request = {
    model: createOpenAI(access).chat(model),
    prompt: 'Hi',
    maxRetries: 0,
    tools: { weather: tool({ inputSchema: jsonSchema(SCHEMA) }) },
    onError({ error }: { error: unknown }) {
      failure = error
    },
  }
  const result = isStream ? streamText(request) : await generateText(request)
  if ('consumeStream' in result) await result.consumeStream()
  if (failure) throw failure
  const calls = await result.toolCalls
  return {
    text: await result.text,
    calls: calls.map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, arguments: input })),
    tokens: (await result.totalUsage).totalTokens,
  }
}

const CLIENTS = [
  ['openai', askOpenai],
  ['@ai-sdk/openai', askAiSdk],
] as const

const HEAD = { id: 'x', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'upstream-model' }
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const chunk = (delta: unknown, finish: unknown = null) => ({
  ...HEAD,
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const OPENING = chunk({ role: 'assistant', content: '' })
const call = (fragment: object) => chunk({ tool_calls: [fragment] })
const OSLO = { name: 'weather', arguments: '{"city":"Oslo"}' }
const OSLO_CALLED = [{ id: expect.stringMatching(/./), name: 'weather', arguments: { city: 'Oslo' } }]
const ENDING = [chunk({}, 'tool_calls'), { ...HEAD, choices: [], usage: USAGE }, '[DONE]']

const STREAMS: [string, unknown[], Partial<Seen>][] = [
  ['a tool call without index', [OPENING, call({ id: 'a', type: 'function', function: OSLO }), ...ENDING], {}],
  [
    'a tool call whose index starts at 1',
    [OPENING, call({ index: 1, id: 'a', type: 'function', function: OSLO }), ...ENDING],
    {},
  ],
  ['an empty tool call id', [OPENING, call({ index: 0, id: '', type: 'function', function: OSLO }), ...ENDING], {}],
  ['a call without id and type', [OPENING, call({ index: 0, function: OSLO }), ...ENDING], {}],
  [
    'arguments as an object',
    [
      OPENING,
      call({ index: 0, id: 'a', type: 'function', function: { ...OSLO, arguments: { city: 'Oslo' } } }),
      ...ENDING,
    ],
    {},
  ],
  [
    'a tool name after the arguments',
    [
      OPENING,
      call({ index: 0, id: 'a', type: 'function', function: { arguments: '{"city":' } }),
      call({ index: 0, function: { name: 'weather', arguments: '"Oslo"}' } }),
      ...ENDING,
    ],
    {},
  ],
  [
    'no arguments at all',
    [OPENING, call({ index: 0, id: 'a', type: 'function', function: { name: 'weather', arguments: '' } }), ...ENDING],
    { calls: [{ id: 'a', name: 'weather', arguments: {} }] },
  ],
  [
    'content in parts',
    [chunk({ role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }), chunk({}, 'stop'), ...ENDING.slice(1)],
    { text: 'Hi', calls: [] },
  ],
  [
    'no role, or an empty one',
    [chunk({ content: 'H' }), chunk({ role: '', content: 'i' }), chunk({}, 'stop'), ...ENDING.slice(1)],
    { text: 'Hi', calls: [] },
  ],
  [
    'no object',
    [{ ...chunk({ role: 'assistant', content: 'Hi' }), object: '' }, chunk({}, 'stop'), ...ENDING.slice(1)],
    { text: 'Hi', calls: [] },
  ],
  [
    'a choice without index',
    [{ ...HEAD, choices: [{ delta: { role: 'assistant', content: 'Hi' } }] }, chunk({}, 'stop'), ...ENDING.slice(1)],
    { text: 'Hi', calls: [] },
  ],
  [
    'no choices',
    [
      { type: 'ping' },
      chunk({ role: 'assistant', content: 'Hi' }),
      {},
      chunk({}, 'stop'),
      { ...HEAD, usage: USAGE },
      '[DONE]',
    ],
    { text: 'Hi', calls: [] },
  ],
  [
    'no finish reason',
    [chunk({ role: 'assistant', content: 'Hi' }, ''), { ...HEAD, choices: [], usage: USAGE }, '[DONE]'],
    { text: 'Hi', calls: [] },
  ],
  [
    'usage in an extension',
    [chunk({ role: 'assistant', content: 'Hi' }), { ...chunk({}, 'stop'), x_groq: { usage: USAGE } }, '[DONE]'],
    { text: 'Hi', calls: [] },
  ],
  [
    'usage that is a list',
    [{ ...chunk({ role: 'assistant', content: 'Hi' }), usage: [] }, chunk({}, 'stop'), ...ENDING.slice(1)],
    { text: 'Hi', calls: [] },
  ],
]

const message = (fields: object, more: object = {}) => ({
  ...HEAD,
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content: null, ...fields }, finish_reason: 'tool_calls', ...more },
  ],
  usage: USAGE,
})
const ANSWERS: [string, unknown, Partial<Seen>][] = [
  ['a call without id and type', message({ tool_calls: [{ function: OSLO }] }), {}],
  [
    'arguments as an object',
    message({ tool_calls: [{ id: 'a', type: 'function', function: { ...OSLO, arguments: { city: 'Oslo' } } }] }),
    {},
  ],
  [
    'no arguments at all',
    message({ tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '' } }] }),
    { calls: [{ id: 'a', name: 'weather', arguments: {} }] },
  ],
  [
    'content in parts',
    message({ content: [{ type: 'text', text: 'Hi' }] }, { finish_reason: 'stop' }),
    { text: 'Hi', calls: [] },
  ],
  [
    'no role and no index',
    message({ role: '', content: 'Hi' }, { index: undefined, finish_reason: '' }),
    { text: 'Hi', calls: [] },
  ],
]

describe.each(CLIENTS)('unusual answers in the library %s', (name, ask) => {
  const usual = { text: '', calls: OSLO_CALLED, tokens: 15, ...(name === 'openai' && { role: 'assistant' }) }

  test.each(STREAMS)('the library reads a stream with %s', async (_name, events, seen) => {
    gateway.upstream.respond(() => eventStream(...events))
    expect(await ask(true)).toEqual({ ...usual, ...seen })
  })

  test.each(ANSWERS)('the library reads an answer with %s', async (_name, answer, seen) => {
    gateway.upstream.respond(() => Response.json(answer))
    expect(await ask(false)).toEqual({ ...usual, ...seen })
  })

  test.each([true, false])(
    'if the provider states no usage, the library gets the charged usage (stream: %p)',
    async (isStream) => {
      const { usage: _, ...silent } = message({ content: 'Hello there' }, { finish_reason: 'stop' })
      gateway.upstream.respond(() =>
        isStream
          ? eventStream(chunk({ role: 'assistant', content: 'Hello there' }), chunk({}, 'stop'), '[DONE]')
          : Response.json(silent),
      )
      const { tokens } = await ask(isStream)
      expect(tokens).toBeGreaterThan(1)
    },
  )
})
