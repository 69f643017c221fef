/** The bytes of a client's stream: the provider's own in the same format, otherwise frames in the client's format. */
import { describe, expect, test } from 'bun:test'
import { createTestAnswer, formatOf, hubItems, itemsOf } from '@test/gateway/answer-parts'
import { chatChunk, chatStream, usageChunk } from '@test/support/upstream'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { ZERO_USAGE } from '@/chat/usage'
import { jsonArrayFraming } from '@/formats/generate-content/framing'
import { StreamWriter } from '@/gateway/relay/stream-writer'

const chat = formatOf('chat-completions')
const at = { choice: 0, block: 0 }
const ANSWER: ChatEvent[] = [
  { type: 'start', id: 'x', model: 'm', created: 0 },
  { type: 'text-start', ...at },
  { type: 'text-delta', ...at, text: 'Hello' },
  { type: 'text-end', ...at },
  { type: 'finish', choice: 0, finish: { kind: 'stop' } },
  { type: 'usage', usage: { ...ZERO_USAGE, uncached: 10, output: 1 } },
  { type: 'end' },
]

describe('streams of the same format', () => {
  test('same format: bytes pass unchanged except for the model name', () => {
    const writer = new StreamWriter(createTestAnswer(), true)
    const [item] = itemsOf(chat, chatChunk({ role: 'assistant', content: 'Hi' }))
    const { text, state } = writer.write(item ? [item] : [])
    expect(text).toBe(item?.sse.raw.replace('alpha-upstream', 'svc/alpha') ?? '')
    expect(state).toBe('open')
  })

  test('same format: comments and event names are kept', () => {
    const [item] = itemsOf(chat, chatChunk({ role: 'assistant', content: 'Hi' }, null, 'svc/alpha'))
    const raw = `: note\nevent: own\nid: 7\n${item?.sse.raw}`
    const writer = new StreamWriter(createTestAnswer(), true)
    expect(writer.write(item ? [{ ...item, sse: { ...item.sse, raw } }] : []).text).toBe(raw)
    expect(
      writer.write([{ sse: { event: undefined, data: undefined, raw: ': ping\n\n' }, json: undefined, events: [] }])
        .text,
    ).toBe(': ping\n\n')
  })

  test('same format: nothing follows the terminator, and an incomplete line end is completed', () => {
    const items = itemsOf(chat, ...chatStream(['Hi']))
    const last = items.findLastIndex((item) => item.events.some((event) => event.type === 'end'))
    const ended = items.slice(0, last + 1).map((item, index) => {
      return index === last ? { ...item, sse: { ...item.sse, raw: 'data: [DONE]\r\n\r' } } : item
    })
    const { text, state } = new StreamWriter(createTestAnswer(), true).write([
      ...ended,
      ...itemsOf(chat, chatChunk({ content: 'late' })),
    ])
    expect([state, text.endsWith('data: [DONE]\r\n\r\n'), text.includes('late')]).toEqual(['complete', true, false])
  })

  test('same format: a missing terminator is added if the answer had finished', () => {
    const writer = new StreamWriter(createTestAnswer(), true)
    writer.write(itemsOf(chat, chatChunk({ content: 'Hi' }), chatChunk({}, 'stop'), usageChunk()))
    expect(writer.finish([{ type: 'end' }])).toEqual({ text: 'data: [DONE]\n\n', state: 'complete' })
  })

  test('same format: a stream without terminator and finish reason is broken', () => {
    const writer = new StreamWriter(createTestAnswer(), true)
    writer.write(itemsOf(chat, chatChunk({ content: 'Hi' })))
    expect(writer.finish([])).toMatchObject({ state: 'failed', failure: { kind: 'broken' } })
  })
})

describe.each(['responses', 'messages'] as const)(
  'a provider’s last events, which state the usage, sent to %s',
  (client) => {
    test('same format: text is not counted', () => {
      const responses = formatOf('responses')
      const encoder = responses.createStreamEncoder(createTestAnswer({ client: 'responses' }).context)
      const frames = [...ANSWER.slice(0, -1).flatMap((event) => encoder.push(event)), ...encoder.end()]
      const items = itemsOf(responses, ...frames.map(({ data }) => JSON.parse(data)))
      const writer = new StreamWriter(createTestAnswer({ client, provider: 'responses' }), true)
      expect(writer.write(items)).toMatchObject({ state: 'complete', text: expect.stringContaining('Hello') })
    })
  },
)

describe('streams of another format', () => {
  test('other format: events become the client’s own frames and names', () => {
    const writer = new StreamWriter(createTestAnswer({ client: 'messages', provider: 'chat-completions' }), true)
    const { text, state } = writer.write(hubItems(...ANSWER))
    expect([...text.matchAll(/^event: \w+$/gm)].map(String)).toEqual([
      ...['event: message_start', 'event: content_block_start', 'event: content_block_delta'],
      ...['event: content_block_stop', 'event: message_delta', 'event: message_stop'],
    ])
    expect(state).toBe('complete')
  })

  test('signatures of a whole answer are returned to any client', () => {
    const { text } = new StreamWriter(createTestAnswer(), false).write(hubItems(...ANSWER))
    expect(text).toContain('"content":"Hello"')
    expect(text).toEndWith('data: [DONE]\n\n')
  })
})

describe('an answer that needs our own count', () => {
  test('without usage the stream’s end waits for our own count', () => {
    const answer = createTestAnswer()
    const writer = new StreamWriter(answer, true)
    const items = itemsOf(chat, ...chatStream(['Hi'], null))
    const written = writer.write(items)
    expect([written.text.includes('Hi'), written.text.includes('[DONE]')]).toEqual([true, false])
    expect(written).toMatchObject({ state: 'uncounted', rest: { kind: 'items', items: items.slice(-1) } })
    answer.charge.counted = { tokens: undefined, ofGuess: answer.charge.meter.reading().countedOutput }
    const end = writer.write(items.slice(-1))
    expect([end.text.endsWith('data: [DONE]\n\n'), end.state]).toEqual([true, 'complete'])
  })

  test('when a stream exceeds its limit, sending pauses until the count is done', () => {
    const answer = createTestAnswer({ outputBound: 3 })
    const writer = new StreamWriter(answer, true)
    const items = itemsOf(chat, ...['One', ' two', ' three', ' four', ' five'].map((content) => chatChunk({ content })))
    const written = writer.write(items)
    expect([written.text.includes('three'), written.text.includes('four')]).toEqual([true, false])
    expect(written).toMatchObject({ state: 'uncounted', rest: { items: items.slice(3) } })
    answer.charge.meter.noteCount(4, 1_000)
    expect(writer.write(items.slice(3))).toEqual({ text: expect.stringContaining('five'), state: 'open' })
  })
})

describe('a JSON array of chunks', () => {
  const answer = () =>
    createTestAnswer({ client: 'generate-content', provider: 'messages', changes: { framing: jsonArrayFraming } })

  test('a JSON array of chunks is one JSON document', () => {
    const { text } = new StreamWriter(answer(), true).write(hubItems(...ANSWER))
    expect(JSON.parse(text)).toBeArray()
  })

  test('a JSON array of chunks is valid without chunks and after a fault', () => {
    expect(JSON.parse(new StreamWriter(answer(), true).write(hubItems({ type: 'end' })).text)).toBeArray()
    const writer = new StreamWriter(answer(), true)
    const { text } = writer.write(hubItems(...ANSWER.slice(0, 3)))
    expect(JSON.parse(text + writer.fail(new GatewayError('upstream_failed', 'broken')))).toBeArray()
  })

  test('a JSON array contains the provider’s own events one by one', () => {
    const same = createTestAnswer({ client: 'generate-content', changes: { framing: jsonArrayFraming } })
    const event = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, index: 0, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }
    const writer = new StreamWriter(same, true)
    const { text } = writer.write(itemsOf(same.client.format, event))
    expect(JSON.parse(text + writer.finish([{ type: 'end' }]).text)).toMatchObject([event])
  })
})

describe('an error inside the stream', () => {
  const error = { error: { message: 'overloaded', type: 'server_error', code: 503 } }

  test('an error inside the stream stops the writing, and its raw text is not shown', () => {
    const writer = new StreamWriter(createTestAnswer(), true)
    const written = writer.write(itemsOf(chat, chatChunk({ content: 'Hi' }), error, chatChunk({ content: 'late' })))
    expect(written).toMatchObject({ state: 'failed', failure: { kind: 'refused', error: { message: 'overloaded' } } })
    expect(written.text).toContain('Hi')
    expect(written.text).not.toMatch(/overloaded|late/)
  })

  test('an error inside the stream is written in the client’s format, without a terminator', () => {
    const text = new StreamWriter(createTestAnswer(), true).fail(new GatewayError('overloaded', 'Try again.'))
    expect(text).toContain('Try again.')
    expect(text).not.toContain('[DONE]')
  })
})

test('the meter gets all sent events, and signatures are stored', () => {
  const answer = createTestAnswer({ client: 'messages', provider: 'chat-completions' })
  const seen: string[] = []
  const signatures = {
    observe: (event: ChatEvent) => void seen.push(event.type),
    observeResponse: () => undefined,
    signedCalls: () => new Map(),
  }
  new StreamWriter(Object.assign(answer, { signatures }), true).write(hubItems(...ANSWER))
  expect(answer.charge.meter.reading()).toMatchObject({ hasOutput: true, finish: 'stop' })
  expect(seen).toEqual(ANSWER.map((event) => event.type))
})
