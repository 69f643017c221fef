/** The real client library reads what the generate-content encoders write, over a real connection. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { ApiError, type Content, GoogleGenAI } from '@google/genai'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { ContentBlock } from '@/chat/request'
import { generateContent } from '@/formats/generate-content/index'
import type { JsonValue } from '@/lib/json'
import { type Script, startScriptedServer } from './scripted-server'

const script: Script = { answers: [], hasKeepAlives: false, seen: [] }
const { seen } = script
const server = startScriptedServer(script)
const client = new GoogleGenAI({ apiKey: 'svc-test', httpOptions: { baseUrl: server.url } })

beforeEach(() => {
  seen.length = 0
  script.hasKeepAlives = false
  delete script.failure
})
afterAll(() => server.stop())

const start: ChatEvent = { type: 'start', id: 'msg_1', model: 'upstream', created: 0 }
const usage: ChatEvent = {
  type: 'usage',
  usage: { uncached: 10, cacheRead: 4, cacheWrite5m: 0, cacheWrite1h: 0, output: 9, reasoning: 3 },
}

function answerOf(kind: 'stop' | 'tool-calls' | 'length', ...blocks: ChatEvent[][]): ChatEvent[] {
  return [start, ...blocks.flat(), { type: 'finish', choice: 0, finish: { kind } }, usage, { type: 'end' }]
}

function text(block: number, ...deltas: string[]): ChatEvent[] {
  const at = { choice: 0, block }
  return [
    { type: 'text-start', ...at },
    ...deltas.map((delta): ChatEvent => ({ type: 'text-delta', ...at, text: delta })),
    { type: 'text-end', ...at },
  ]
}

function thought(block: number, value: string): ChatEvent[] {
  const at = { choice: 0, block }
  return [
    { type: 'reasoning-start', ...at },
    { type: 'reasoning-delta', ...at, text: value },
    { type: 'reasoning-end', ...at, signature: { format: 'messages', value: 'ErUBCkYIBRgC+/==' } },
  ]
}

function call(block: number, id: string, ...fragments: string[]): ChatEvent[] {
  const at = { choice: 0, block }
  return [
    { type: 'tool-call-start', ...at, id, name: 'get_weather' },
    ...fragments.map((argumentsText): ChatEvent => ({ type: 'tool-call-delta', ...at, argumentsText })),
    { type: 'tool-call-end', ...at },
  ]
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

describe('generateContent', () => {
  test('generateContent reads text, usage and the public name', async () => {
    script.answers = [answerOf('stop', text(0, 'Hello ', '👋🏽'))]
    const response = await client.models.generateContent({
      model: 'svc/foo',
      contents: 'Hi',
      config: { systemInstruction: 'Be brief.', temperature: 0.2, maxOutputTokens: 50, stopSequences: ['END'] },
    })
    expect(response.text).toBe('Hello 👋🏽')
    expect(response.modelVersion).toBe('svc/alpha')
    expect(response.candidates?.[0]?.finishReason).toBe('STOP' as never)
    expect(response.usageMetadata).toMatchObject({
      promptTokenCount: 14,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 6,
      thoughtsTokenCount: 3,
      totalTokenCount: 23,
    })
    expect(seen[0]).toMatchObject({
      path: '/v1/models/svc/foo:generateContent',
      request: {
        model: 'svc/foo',
        system: [{ type: 'text', text: 'Be brief.' }],
        turns: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        sampling: { temperature: 0.2, stop: ['END'] },
        maxOutputTokens: 50,
      },
    })
  })

  test('generateContent reads two calls of one function, and one without arguments', async () => {
    script.answers = [answerOf('tool-calls', call(0, 'toolu_1', '{"city":', '"Seoul"}'), call(1, 'toolu_2'))]
    const response = await client.models.generateContent({ model: 'svc/foo', contents: 'Hi' })
    expect(response.functionCalls).toEqual([
      { id: 'toolu_1', name: 'get_weather', args: { city: 'Seoul' } },
      { id: 'toolu_2', name: 'get_weather', args: {} },
    ])
  })

  test('generateContent reads an empty answer as empty text', async () => {
    script.answers = [answerOf('length')]
    const response = await client.models.generateContent({ model: 'svc/foo', contents: 'Hi' })
    expect(response.text).toBe('')
    expect(response.candidates?.[0]?.finishReason).toBe('MAX_TOKENS' as never)
  })

  test.each([
    ['insufficient_credit', 402],
    ['rate_limited', 429],
    ['invalid_credentials', 401],
  ] as const)('the error %s has its status', async (kind, status) => {
    const error = new GatewayError(kind, 'Not now.', { retryAfterSeconds: 2 })
    script.answers = [error]
    for (const ask of [
      () => client.models.generateContent({ model: 'svc/foo', contents: 'Hi' }),
      () => client.models.generateContentStream({ model: 'svc/foo', contents: 'Hi' }),
    ]) {
      const thrown: unknown = await ask().then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect(thrown).toBeInstanceOf(ApiError)
      expect(thrown).toMatchObject({ status })
      expect((thrown as ApiError).message).toContain(error.message)
    }
  })
})

describe('generateContentStream', () => {
  test.each([false, true])(
    'generateContentStream reads texts, thoughts, calls and final usage; keep-alives: %p',
    async (isKept) => {
      script.hasKeepAlives = isKept
      script.answers = [
        answerOf(
          'tool-calls',
          thought(0, 'hm'),
          text(1, 'Hel', 'lo ', '👋🏽'),
          call(2, 'toolu_1', '{"city":', '"Seoul"}'),
        ),
      ]
      const stream = await client.models.generateContentStream({
        model: 'svc/foo',
        contents: 'Hi',
        config: { thinkingConfig: { includeThoughts: true } },
      })
      const chunks = await collect(stream)
      expect(seen[0]).toMatchObject({ path: '/v1/models/svc/foo:streamGenerateContent', query: '?alt=sse' })
      expect(chunks.map((chunk) => chunk.text ?? '').join('')).toBe('Hello 👋🏽')
      expect(chunks.flatMap((chunk) => chunk.functionCalls ?? [])).toEqual([
        { id: 'toolu_1', name: 'get_weather', args: { city: 'Seoul' } },
      ])
      const thoughts = chunks
        .flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
        .filter((part) => part.thought)
      expect(thoughts.map((part) => part.text).join('')).toBe('hm')
      expect(chunks.filter((chunk) => chunk.candidates?.[0]?.finishReason)).toHaveLength(1)
      expect(chunks.at(-1)).toMatchObject({
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { totalTokenCount: 23 },
      })
    },
  )

  test('generateContentStream throws an error with its status, after the content', async () => {
    script.failure = new GatewayError('overloaded', 'Try again.')
    script.answers = [[start, ...text(0, 'Half')]]
    const said: string[] = []
    const reading = (async () => {
      for await (const chunk of await client.models.generateContentStream({ model: 'svc/foo', contents: 'Hi' }))
        said.push(chunk.text ?? '')
    })()
    const thrown: unknown = await reading.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(thrown).toBeInstanceOf(ApiError)
    expect(thrown).toMatchObject({ status: 503 })
    expect(said).toEqual(['Half'])
  })
})

describe('chats', () => {
  test('a chat keeps its streamed history, and signed thoughts return unchanged', async () => {
    const chat = client.chats.create({ model: 'svc/foo', config: { thinkingConfig: { includeThoughts: true } } })
    script.answers = [answerOf('stop', thought(0, 'I think'), text(1, 'Hel', 'lo')), answerOf('stop', text(0, 'Bye'))]
    await collect(await chat.sendMessageStream({ message: 'Hi' }))
    await collect(await chat.sendMessageStream({ message: 'And?' }))
    expect(seen[1]?.request.turns).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'I think', signature: { format: 'messages', value: 'ErUBCkYIBRgC+/==' } },
          { type: 'text', text: 'Hello' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
    ])
  })

  test('a chat pairs calls with their results', async () => {
    const declarations = [
      { name: 'get_weather', parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } } },
    ]
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'Weather?' }] }]
    script.answers = [
      answerOf('tool-calls', call(0, 'toolu_1', '{"city":"Seoul"}'), call(1, 'toolu_2', '{"city":"Busan"}')),
    ]
    const first = await client.models.generateContent({
      model: 'svc/foo',
      contents,
      config: { tools: [{ functionDeclarations: declarations }] },
    })
    const made = first.candidates?.[0]?.content
    if (made) contents.push(made)
    const parts = (first.functionCalls ?? []).map(({ id, name, args }) => ({
      functionResponse: { ...(id && { id }), ...(name && { name }), response: { output: `sunny in ${args?.city}` } },
    }))
    contents.push({ role: 'user', parts: parts.reverse() })
    script.answers = [answerOf('stop', text(0, 'Sunny.'))]
    await client.models.generateContent({ model: 'svc/foo', contents })
    const blocks = seen[1]?.request.turns.flatMap((turn): ContentBlock[] => turn.content) ?? []
    expect(blocks.slice(1)).toMatchObject([
      { type: 'tool-call', id: 'toolu_1', argumentsText: '{"city":"Seoul"}' },
      { type: 'tool-call', id: 'toolu_2', argumentsText: '{"city":"Busan"}' },
      { type: 'tool-result', callId: 'toolu_2', content: [{ text: 'sunny in Busan' }] },
      { type: 'tool-result', callId: 'toolu_1', content: [{ text: 'sunny in Seoul' }] },
    ])
    expect(seen[0]?.request.tools).toMatchObject([{ name: 'get_weather' }])
  })
})

test('a stream without alt=sse is one JSON array', async () => {
  script.hasKeepAlives = true
  script.answers = [answerOf('stop', text(0, 'a', 'b'))]
  const url = `${server.url}/v1beta/models/svc%2Ffoo:streamGenerateContent`
  const chunks = (await (await fetch(url, { method: 'POST', body: '{"contents":"Hi"}' })).json()) as JsonValue[]
  expect(chunks).toHaveLength(3)
  expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
})

test('countTokens and models.list work', async () => {
  expect(
    await client.models.countTokens({ model: 'svc/foo', contents: [{ role: 'user', parts: [{ text: 'a' }] }] }),
  ).toMatchObject({ totalTokens: 1 })
  const alpha = { id: 'svc/alpha', name: 'Alpha', contextLength: 256_000, maxOutputTokens: 32_768 }
  script.listed = { models: [generateContent.modelListing.encodeModel(alpha)] }
  const pages = await collect(await client.models.list())
  expect(pages).toMatchObject([
    { name: 'models/svc/alpha', displayName: 'Alpha', inputTokenLimit: 256_000, outputTokenLimit: 32_768 },
  ])
  script.listed = generateContent.modelListing.encodeModel(alpha)
  expect(await client.models.get({ model: 'svc/alpha' })).toMatchObject({
    name: 'models/svc/alpha',
    supportedActions: ['generateContent', 'streamGenerateContent', 'countTokens'],
  })
})
