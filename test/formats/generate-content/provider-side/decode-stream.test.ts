/** Recorded generate-content streams as events, and unusual chunks of providers. */
import { describe, expect, test } from 'bun:test'
import { decodeFixture, fold } from '@test/formats/generate-content/support'
import type { ChatEvent } from '@/chat/event'
import { createStreamDecoder } from '@/formats/generate-content/provider-side/decode-stream'
import { type JsonValue, parseJson } from '@/lib/json'

const START = { type: 'start', id: 'r-4kQaZ', model: 'up-flash-001', created: 0 } as const

function decodeChunks(...chunks: JsonValue[]): ChatEvent[] {
  const decoder = createStreamDecoder(() => 'minted')
  const events = chunks.flatMap((chunk) =>
    decoder.push({ event: undefined, data: JSON.stringify(chunk), raw: '' }, chunk),
  )
  return [...events, ...decoder.end()]
}

function answer(parts: JsonValue[], more: object = {}): JsonValue {
  return { candidates: [{ content: { role: 'model', parts }, index: 0, ...more }] }
}

describe('recorded streams', () => {
  test('a recorded stream of text is decoded', () => {
    expect(decodeFixture('text.sse')).toEqual([
      START,
      { type: 'text-start', choice: 0, block: 0 },
      { type: 'text-delta', choice: 0, block: 0, text: 'Hello' },
      { type: 'text-delta', choice: 0, block: 0, text: ' wörld 👋🏽' },
      {
        type: 'usage',
        usage: { uncached: 5, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 3, reasoning: 0 },
      },
      {
        type: 'usage',
        usage: { uncached: 5, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 4, reasoning: 0 },
      },
      { type: 'text-end', choice: 0, block: 0 },
      { type: 'finish', choice: 0, finish: { kind: 'stop', raw: 'STOP' } },
      { type: 'end' },
    ])
  })

  test('a recorded stream of thoughts and two calls of one name is decoded, with its signature on the first call', () => {
    const response = fold(decodeFixture('thinking-tools.sse'))
    expect(response.choices).toEqual([
      {
        index: 0,
        content: [
          { type: 'reasoning', text: '**Planning**\nI need two cities.' },
          {
            type: 'tool-call',
            id: 'call_1',
            name: 'get_weather',
            argumentsText: '{"city":"Seoul","unit":"c"}',
            signature: { format: 'generate-content', value: 'CiQB0e2Kb+/8AQ==' },
          },
          { type: 'tool-call', id: 'call_2', name: 'get_weather', argumentsText: '{"city":"Busan"}' },
        ],
        finish: { kind: 'tool-calls', raw: 'STOP' },
      },
    ])
    expect(response.usage).toEqual({
      uncached: 30,
      cacheRead: 40,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output: 38,
      reasoning: 20,
    })
  })

  test('a recorded stream of two calls in one chunk, without arguments, is decoded', () => {
    expect(fold(decodeFixture('parallel-one-chunk.sse')).choices[0]?.content).toEqual([
      { type: 'text', text: 'Checking.' },
      { type: 'tool-call', id: 'fc-1', name: 'now', argumentsText: '{}' },
      { type: 'tool-call', id: 'fc-2', name: 'now', argumentsText: '{}' },
    ])
  })

  test('a recorded stream whose tool arguments arrive by path is decoded', () => {
    const [call] = fold(decodeFixture('partial-args.sse')).choices[0]?.content ?? []
    expect(call).toMatchObject({ id: 'fc-9', name: 'set_light', signature: { value: 'c2ln' } })
    expect(call?.type === 'tool-call' && parseJson(call.argumentsText)).toEqual({
      brightness: 50,
      colour: 'warm',
      rooms: [{ name: 'hall' }, { on: true }],
      scene: null,
    })
  })

  test.each([
    ['blocked-prompt.sse', { kind: 'content-filter', raw: 'PROHIBITED_CONTENT' }, 8],
    ['length-in-thinking.sse', { kind: 'length', raw: 'MAX_TOKENS' }, 6],
  ] as const)('the recorded stream %s ends normally, without content', (name, finish, uncached) => {
    const events = decodeFixture(name)
    const response = fold(events)
    expect(response.choices).toEqual([{ index: 0, content: [], finish }])
    expect(response.usage?.uncached).toBe(uncached)
    expect(events.at(-1)).toEqual({ type: 'end' })
  })

  test('a recorded stream of two interleaved candidates is decoded', () => {
    const events = decodeFixture('two-candidates.sse')
    expect(fold(events).choices).toMatchObject([
      { index: 0, content: [{ text: 'One.' }] },
      { index: 1, content: [{ text: 'Uno!' }] },
    ])
    expect(events.at(-1)).toEqual({ type: 'end' })
  })

  test('a recorded stream with an image is decoded', () => {
    expect(fold(decodeFixture('image.sse')).choices[0]?.content).toEqual([
      { type: 'text', text: 'Here: ' },
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } },
    ])
  })

  test('recorded signatures on a thought and on a last empty text are decoded', () => {
    expect(fold(decodeFixture('signed-text.sse')).choices[0]?.content).toEqual([
      { type: 'reasoning', text: 'Think', signature: { format: 'generate-content', value: 'dGg=' } },
      { type: 'text', text: 'Fine.', signature: { format: 'generate-content', value: 'dHh0' } },
    ])
  })

  test('recorded code that ran at the provider is decoded as text, and its tokens count as input', () => {
    const response = fold(decodeFixture('code-execution.sse'))
    expect(response.choices[0]?.content).toEqual([
      { type: 'text', text: '\n```python\nprint(2+2)\n```\n\n```\n4\n\n```\nIt is 4.' },
    ])
    expect(response.usage).toMatchObject({ uncached: 27, output: 12 })
  })

  test.each(['usage-after-finish.sse', 'lf-comments-done.sse'])('a recorded stream is decoded: %s', (name) => {
    const events = decodeFixture(name)
    expect(events.at(-1)).toEqual({ type: 'end' })
    expect(fold(events)).toMatchObject({ choices: [{ content: [{ text: 'Yes' }] }], usage: { uncached: 4, output: 1 } })
  })
})

describe('streams with errors', () => {
  test('an error within a stream closes open blocks, without a normal end', () => {
    const events = decodeFixture('error-mid-stream.sse')
    expect(events).toContainEqual({
      type: 'error',
      error: { reason: 'overloaded', kind: 'UNAVAILABLE', message: 'The model is overloaded.', status: 503 },
    })
    expect(events.at(-1)).toEqual({ type: 'text-end', choice: 0, block: 0 })
    fold(events)
  })

  test('an error inside a list of chunks is an error', () => {
    expect(decodeFixture('error-array.sse')).toMatchObject([
      { type: 'error', error: { kind: 'RESOURCE_EXHAUSTED', status: 429 } },
    ])
  })

  test('a cut stream is decoded without a normal end and without its early usage', () => {
    const events = decodeFixture('cut.sse')
    fold(events)
    expect(events.map((event) => event.type)).toEqual(['start', 'text-start', 'text-delta', 'text-delta', 'text-end'])
  })

  test('a cut tool call is reported as incomplete', () => {
    const events = decodeFixture('cut-in-call.sse')
    fold(events)
    expect(events.filter((event) => event.type === 'tool-call-delta')).toEqual([])
    expect(events.at(-1)).toEqual({ type: 'tool-call-end', choice: 0, block: 1, signature: undefined } as never)
  })

  test('an event that is not JSON is an error', () => {
    expect(decodeFixture('malformed-json.sse')).toMatchObject([{}, {}, {}, { type: 'error' }, { type: 'text-end' }])
  })

  test('an empty stream, or one with keep-alives only, is no answer', () => {
    expect(decodeChunks()).toEqual([])
    expect(decodeChunks({}, [], null, 5, 'x')).toEqual([])
  })

  test('an error code that is a text is not used as status', () => {
    expect(decodeChunks({ error: { code: '503', status: 5 } })).toEqual([
      { type: 'error', error: { reason: 'server', status: 502, kind: 'UNKNOWN', message: '' } },
    ])
  })
})

describe('unusual chunks', () => {
  test('a finish reason in every chunk, or before the last one, does not end the stream', () => {
    const events = decodeChunks(
      answer([{ text: 'a' }], { finishReason: 'STOP' }),
      answer([{ text: 'b' }], { finishReason: 'STOP' }),
      answer([{ functionCall: { name: 'f', id: 'c', args: { x: 1 } } }]),
    )
    expect(fold(events).choices).toMatchObject([
      {
        content: [
          { type: 'text', text: 'ab' },
          { name: 'f', argumentsText: '{"x":1}' },
        ],
        finish: { kind: 'tool-calls' },
      },
    ])
    expect(events.at(-1)).toEqual({ type: 'end' })
  })

  test('several chunks in one event are an error, because no client reads them', () => {
    const events = decodeChunks([answer([{ text: 'a' }]), answer([{ text: 'b' }], { finishReason: 'STOP' })])
    expect(events).toMatchObject([{ type: 'error', error: { kind: 'MALFORMED_EVENT' } }])
    expect(fold(decodeChunks([answer([{ text: 'a' }], { finishReason: 'STOP' })])).choices).toMatchObject([
      { content: [{ text: 'a' }] },
    ])
  })

  test('a failure reason is an error without content, a stop with content, and a tool call with a call', () => {
    const finishOf = (parts: JsonValue[]) =>
      fold(decodeChunks(answer(parts, { finishReason: 'MALFORMED_FUNCTION_CALL' }))).choices[0]?.finish.kind
    expect(finishOf([])).toBe('error')
    expect(finishOf([{ text: 'a' }])).toBe('stop')
    expect(finishOf([{ functionCall: { name: 'a' } }])).toBe('tool-calls')
  })

  test('a cut turn with calls stays cut, and an unknown reason does not hide a call', () => {
    const finishOf = (finishReason: string) =>
      fold(decodeChunks(answer([{ functionCall: { name: 'a' } }], { finishReason }))).choices[0]?.finish
    expect(finishOf('MAX_TOKENS')).toEqual({ kind: 'length', raw: 'MAX_TOKENS' })
    expect(finishOf('CONTINUATION')).toEqual({ kind: 'length', raw: 'CONTINUATION' })
    expect(finishOf('SAFETY')).toEqual({ kind: 'content-filter', raw: 'SAFETY' })
    expect(finishOf('BRAND_NEW')).toEqual({ kind: 'tool-calls', raw: 'BRAND_NEW', isUnlisted: true })
  })

  test('absurd indexes of candidates are ignored', () => {
    const events = decodeChunks({
      candidates: [{ index: 1e9, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
    })
    expect(fold(events).choices).toMatchObject([{ index: 0 }])
  })

  test('hostile argument paths create no fields', () => {
    const paths = ['$.__proto__.polluted', '$.constructor.prototype.x']
    const pieces = paths.map((jsonPath) => ({ jsonPath, stringValue: 'x' }))
    const [call] =
      fold(decodeChunks(answer([{ functionCall: { name: 'a', partialArgs: pieces } }], { finishReason: 'STOP' })))
        .choices[0]?.content ?? []
    expect(call?.type === 'tool-call' && call.argumentsText).toBe(
      '{"__proto__":{"polluted":"x"},"constructor":{"prototype":{"x":"x"}}}',
    )
    expect({}).not.toHaveProperty('polluted')
  })

  test.each([
    ['$', { stringValue: 'x' }],
    ['$.', { stringValue: 'x' }],
    ['a', { stringValue: 'x' }],
    ['$[999999]', { stringValue: 'x' }],
    ['$.a[5]', { stringValue: 'x' }],
    [`$${'.a'.repeat(33)}`, { stringValue: 'x' }],
    ['$.a', { structValue: {} }],
  ])('an argument chunk without a valid path (%p, %p) is reported, and the arguments are empty', (jsonPath, value) => {
    const pieces = [
      { jsonPath: '$.b', numberValue: 1 },
      { jsonPath, ...value },
    ]
    const call = { name: 'a', partialArgs: pieces }
    const response = fold(decodeChunks(answer([{ functionCall: call }], { finishReason: 'STOP' })))
    const [told] = response.choices[0]?.content ?? []
    const text = told?.type === 'tool-call' ? told.argumentsText : ''
    expect(text).toEndWith(JSON.stringify(pieces.slice(1)))
    expect(parseJson(text)).toBeUndefined()
  })

  test('an empty argument chunk adds no field', () => {
    const call = { name: 'a', partialArgs: [{ jsonPath: '$.a', willContinue: true }] }
    expect(fold(decodeChunks(answer([{ functionCall: call }], { finishReason: 'STOP' }))).choices).toMatchObject([
      { content: [{ argumentsText: '{}' }] },
    ])
  })

  test('the creation time is in Unix seconds', () => {
    const created = (createTime: JsonValue) => decodeChunks({ responseId: 'r', createTime })[0]
    expect(created('2026-11-21T08:00:00.5Z')).toMatchObject({ created: 1_795_248_000 })
    expect(created('soon')).toMatchObject({ created: 0 })
  })

  test('a tool call without an id gets a unique one', () => {
    const decoder = createStreamDecoder()
    const chunk = answer([{ functionCall: { name: 'a' } }, { functionCall: { name: 'a', id: '' } }])
    const ids = decoder
      .push({ event: undefined, data: 'x', raw: '' }, chunk)
      .flatMap((event) => (event.type === 'tool-call-start' ? [event.id] : []))
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{10,40}$/)
  })
})
