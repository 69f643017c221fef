/** Streams in the generate-content format, from providers of any format. */
import { describe, expect, test } from 'bun:test'
import {
  context,
  decodeFixture,
  decodePieces,
  encodedChunks,
  encodeStream,
  fold,
  partsOf,
} from '@test/formats/generate-content/support'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { generateContent, jsonArrayFraming } from '@/formats/generate-content/index'
import { parseJson } from '@/lib/json'

const start: ChatEvent = { type: 'start', id: 'msg_1', model: 'upstream', created: 5 }
const usage: ChatEvent = {
  type: 'usage',
  usage: { uncached: 10, cacheRead: 5, cacheWrite5m: 2, cacheWrite1h: 1, output: 30, reasoning: 12 },
}
const end: ChatEvent = { type: 'end' }

function text(value: string, block = 0, choice = 0): ChatEvent[] {
  return [
    { type: 'text-start', choice, block },
    { type: 'text-delta', choice, block, text: value },
    { type: 'text-end', choice, block },
  ]
}

function call(block: number, id: string, fragments: string[], more: object = {}): ChatEvent[] {
  return [
    { type: 'tool-call-start', choice: 0, block, id, name: 'get_weather' },
    ...fragments.map((argumentsText): ChatEvent => ({ type: 'tool-call-delta', choice: 0, block, argumentsText })),
    { type: 'tool-call-end', choice: 0, block, ...more },
  ]
}

describe('stream chunks', () => {
  test('text is sent at once; the last chunk has reason and usage', () => {
    const events: ChatEvent[] = [
      start,
      ...text('Hel'),
      { type: 'finish', choice: 0, finish: { kind: 'stop' } },
      usage,
      end,
    ]
    expect(encodedChunks(events)).toEqual([
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hel' }] }, index: 0 }],
        modelVersion: 'svc/alpha',
        responseId: 'answer-1',
      },
      {
        candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: {
          promptTokenCount: 18,
          cachedContentTokenCount: 5,
          candidatesTokenCount: 18,
          thoughtsTokenCount: 12,
          totalTokenCount: 48,
        },
        modelVersion: 'svc/alpha',
        responseId: 'answer-1',
      },
    ])
  })

  test('each tool call is sent whole with its id, in the order in which the calls ended', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'tool-call-start', choice: 0, block: 0, id: 'a', name: 'get_weather' },
      { type: 'tool-call-start', choice: 0, block: 1, id: 'b', name: 'get_weather' },
      { type: 'tool-call-delta', choice: 0, block: 0, argumentsText: '{"city":' },
      { type: 'tool-call-delta', choice: 0, block: 1, argumentsText: '' },
      { type: 'tool-call-delta', choice: 0, block: 0, argumentsText: '"Seoul"}' },
      { type: 'tool-call-end', choice: 0, block: 0 },
      { type: 'tool-call-end', choice: 0, block: 1 },
      { type: 'finish', choice: 0, finish: { kind: 'tool-calls', raw: 'tool_use' } },
      end,
    ]
    const chunks = encodedChunks(events)
    expect(partsOf(chunks)).toEqual([
      { functionCall: { id: 'a', name: 'get_weather', args: { city: 'Seoul' } } },
      { functionCall: { id: 'b', name: 'get_weather', args: {} } },
      { text: '' },
    ])
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] })
  })

  test('an incomplete tool call is not sent; earlier calls are', () => {
    const broken = [start, ...call(0, 'a', ['{}']), ...call(1, 'b', ['{"city":"S'])]
    expect(partsOf(encodedChunks(broken))).toEqual([{ functionCall: { id: 'a', name: 'get_weather', args: {} } }])
  })

  test('text after a tool call is sent after the call', () => {
    const events: ChatEvent[] = [
      start,
      ...call(0, 'a', ['{}']),
      ...text('done', 1),
      { type: 'finish', choice: 0, finish: { kind: 'stop' } },
      end,
    ]
    expect(partsOf(encodedChunks(events))).toMatchObject([
      { functionCall: { id: 'a' } },
      { text: 'done' },
      { text: '' },
    ])
  })

  test('several choices get their finish reasons in one last chunk', () => {
    const events: ChatEvent[] = [
      start,
      ...text('one', 0, 0),
      ...text('two', 1, 1),
      { type: 'finish', choice: 1, finish: { kind: 'length' } },
      { type: 'finish', choice: 0, finish: { kind: 'content-filter' } },
      end,
    ]
    expect(encodedChunks(events).at(-1)).toMatchObject({
      candidates: [
        { index: 0, finishReason: 'SAFETY' },
        { index: 1, finishReason: 'MAX_TOKENS' },
      ],
    })
  })

  test('refusals are sent as text, images as bytes', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'refusal-start', choice: 0, block: 0 },
      { type: 'refusal-delta', choice: 0, block: 0, text: 'No.' },
      { type: 'refusal-end', choice: 0, block: 0 },
      { type: 'image', choice: 0, block: 1, mediaType: 'image/png', data: 'AA==' },
    ]
    expect(partsOf(encodedChunks(events))).toEqual([
      { text: 'No.' },
      { inlineData: { mimeType: 'image/png', data: 'AA==' } },
    ])
  })
})

describe('reasoning', () => {
  const proof = { format: 'messages', value: 'ErUBCkYI' } as const
  const marked = Buffer.from('svc.messages.ErUBCkYI').toString('base64')
  const thought = (value: string): ChatEvent[] => [
    start,
    { type: 'reasoning-start', choice: 0, block: 0 },
    { type: 'reasoning-delta', choice: 0, block: 0, text: value },
    { type: 'reasoning-end', choice: 0, block: 0, signature: proof },
  ]

  test('thoughts are sent to clients that requested them, and another provider’s signature is marked as such', () => {
    expect(partsOf(encodedChunks(thought('hm')))).toEqual([
      { text: 'hm', thought: true },
      { text: '', thought: true, thoughtSignature: marked },
    ])
  })

  test('clients that did not request thoughts get none, and a signature only if its thought has no text', () => {
    expect(encodedChunks(thought('hm'), { wantsReasoning: false })).toEqual([])
    expect(partsOf(encodedChunks(thought(''), { wantsReasoning: false }))).toEqual([
      { text: '', thought: true, thoughtSignature: marked },
    ])
  })

  test('a redacted block is sent as the signature of a thought without text', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'reasoning-start', choice: 0, block: 0, redacted: proof },
      { type: 'reasoning-end', choice: 0, block: 0 },
    ]
    expect(partsOf(encodedChunks(events, { wantsReasoning: false }))).toEqual([
      { text: '', thought: true, thoughtSignature: Buffer.from('svc.messages.redacted.ErUBCkYI').toString('base64') },
    ])
  })

  test('signed parts are the same when a client sends them back', () => {
    const events: ChatEvent[] = [
      ...thought('I think'),
      { type: 'reasoning-start', choice: 0, block: 1, redacted: proof },
      { type: 'reasoning-end', choice: 0, block: 1 },
      { type: 'text-start', choice: 0, block: 2 },
      { type: 'text-delta', choice: 0, block: 2, text: 'Yes.' },
      { type: 'text-end', choice: 0, block: 2, signature: { format: 'generate-content', value: 'dHh0' } },
      ...call(3, 'a', ['{"n":1}'], { signature: { format: 'chat-completions', value: 'x.y' } }),
      { type: 'finish', choice: 0, finish: { kind: 'tool-calls' } },
      end,
    ]
    const history = encodedChunks(events).flatMap((chunk) =>
      (chunk.candidates as { content: object }[]).map(({ content }) => content),
    )
    const { turns } = generateContent.decodeRequest({ contents: history as never }, { model: 'svc/alpha' })
    expect(turns).toEqual([{ role: 'assistant', content: fold(events.slice(0, -1)).choices[0]?.content ?? [] }])
  })
})

describe('the bytes of a stream', () => {
  const events: ChatEvent[] = [start, ...text('a\nb'), { type: 'finish', choice: 0, finish: { kind: 'stop' } }, end]

  test('stream events end with CRLF and have no names; a keep-alive is its own block', () => {
    const bytes = encodeStream(events)
    expect(bytes.split('\r\n\r\n')).toHaveLength(3)
    for (const block of bytes.split('\r\n\r\n').slice(0, -1)) expect(block).toMatch(/^data: \{[^\n\r]*\}$/)
    expect(generateContent.framing).toMatchObject({
      contentType: 'text/event-stream',
      open: '',
      close: '',
      keepAlive: '\r\n\r\n',
    })
  })

  test('event data with line ends is written on one line', () => {
    expect(generateContent.framing.format({ data: '{\n"a":1\n}' }, 0)).toBe('data: { "a":1 }\r\n\r\n')
  })

  test('Unicode line ends are escaped, because Python’s library would split the event there', () => {
    const data = JSON.stringify({ text: 'a\u0085b\u2028c\u2029d' })
    const line = generateContent.framing.format({ data }, 0)
    expect(line).toBe('data: {"text":"a\\u0085b\\u2028c\\u2029d"}\r\n\r\n')
  })

  test('a JSON array also gets keep-alives', () => {
    const encoder = generateContent.createStreamEncoder(context)
    const frames = events.flatMap((event) => (event.type === 'end' ? encoder.end() : encoder.push(event)))
    const bytes =
      jsonArrayFraming.open +
      frames.map((frame, index) => jsonArrayFraming.keepAlive + jsonArrayFraming.format(frame, index)).join('') +
      jsonArrayFraming.close
    expect(jsonArrayFraming.contentType).toBe('application/json')
    expect(parseJson(bytes)).toEqual(encodedChunks(events))
    expect(parseJson(jsonArrayFraming.open + jsonArrayFraming.close)).toEqual([])
  })

  test('a stream error has a numeric code and no finish reason', () => {
    const encoder = generateContent.createStreamEncoder(context)
    const frames = [start, ...text('a')].flatMap((event) => encoder.push(event))
    frames.push(...encoder.fail(new GatewayError('overloaded', 'Try again.'), 'req_1'))
    const bytes = frames.map((frame, index) => generateContent.framing.format(frame, index)).join('')
    expect(bytes).not.toContain('finishReason')
    expect(bytes).not.toContain('DONE')
    expect(parseJson(frames.at(-1)?.data ?? '')).toMatchObject({
      error: { code: 503, message: 'Try again.', status: 'UNAVAILABLE' },
    })
  })
})

test.each([
  'text.sse',
  'thinking-tools.sse',
  'parallel-one-chunk.sse',
  'partial-args.sse',
  'two-candidates.sse',
  'image.sse',
  'blocked-prompt.sse',
  'length-in-thinking.sse',
])('a stream of %s is the same after decoding, encoding and decoding', (name) => {
  const events = decodeFixture(name)
  const again = fold(decodePieces([new TextEncoder().encode(encodeStream(events))]))
  const first = fold(events)
  expect(again.choices).toEqual(first.choices)
  expect(again.usage).toEqual(first.usage)
})
