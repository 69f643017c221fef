/** Streams of messages providers, decoded: recorded ones, and invalid events. */
import { describe, expect, test } from 'bun:test'
import { decodeChunks, decodeText, readFixture } from '@test/formats/messages/support'
import { fc } from '@test/support/property'
import type { ChatEvent } from '@/chat/event'
import { createFolder } from '@/chat/fold'
import { messages } from '@/formats/messages/index'
import { type JsonValue, parseJson } from '@/lib/json'

const at = (block: number) => ({ choice: 0, block })

/** A stream of these objects, each under its own type's name. */
function stream(...objects: { type: string; [field: string]: JsonValue }[]): ChatEvent[] {
  return decodeText(objects.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join(''))
}

const start = { type: 'message_start', message: { id: 'm', model: 'u', usage: { input_tokens: 3, output_tokens: 1 } } }
const stop = { type: 'message_stop' }
const finish = (reason: string, usage: JsonValue = null) => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  usage,
})
const types = (events: ChatEvent[]) => events.map((event) => event.type)

describe('recorded streams', () => {
  test('a recorded stream of text is decoded', () => {
    const usage = {
      uncached: 25,
      cacheRead: 5,
      cacheWrite5m: 4,
      cacheWrite1h: 6,
      reasoning: 0,
      areWritesSplit: true as const,
    }
    expect(decodeText(readFixture('text.sse'))).toEqual([
      { type: 'start', id: 'msg_01Text', model: 'upstream-model', created: 0 },
      { type: 'usage', usage: { ...usage, output: 1 } },
      { type: 'text-start', ...at(0) },
      { type: 'text-delta', ...at(0), text: 'Hello' },
      { type: 'text-delta', ...at(0), text: ', wörld 🦊' },
      { type: 'text-end', ...at(0) },
      { type: 'finish', choice: 0, finish: { kind: 'stop', raw: 'end_turn' } },
      { type: 'usage', usage: { ...usage, output: 15 } },
      { type: 'end' },
    ])
  })

  test('a recorded stream of thinking and tools is decoded', () => {
    const folder = createFolder()
    for (const event of decodeText(readFixture('thinking-tools.sse'))) folder.push(event)
    const { choices, usage } = folder.response()
    expect(choices[0]).toEqual({
      index: 0,
      content: [
        {
          type: 'reasoning',
          text: 'Two cities, two calls.',
          ...{ signature: { format: 'messages', value: 'EqQBCgIYAhIM+/8=' } },
        },
        { type: 'reasoning', text: '', redacted: { format: 'messages', value: 'EmwKAhgBEgy3va3pzix=' } },
        { type: 'text', text: "I'll look." },
        { type: 'tool-call', id: 'toolu_01A', name: 'get_weather', argumentsText: '{"city": "Budapest"}' },
        { type: 'tool-call', id: 'toolu_01B', name: 'get_weather', argumentsText: '{"city":"Oslo"}' },
        { type: 'tool-call', id: 'toolu_01C', name: 'get_time', argumentsText: '' },
      ],
      finish: { kind: 'tool-calls', raw: 'tool_use' },
    })
    expect(usage).toEqual({ uncached: 402, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 90, reasoning: 30 })
  })

  test('a recorded stream with repeated usage, unknown blocks and citations is decoded', () => {
    const events = decodeText(readFixture('restated-usage.sse'))
    expect(events.findLast((event) => event.type === 'usage')).toEqual({
      type: 'usage',
      usage: { uncached: 61, cacheRead: 3, cacheWrite5m: 7, cacheWrite1h: 0, output: 12, reasoning: 0 },
    })
    expect(events.find((event) => event.type === 'finish')).toMatchObject({
      finish: { kind: 'stop-sequence', sequence: 'END' },
    })
    const text = ['text-start', 'text-delta', 'text-end'] as const
    expect(types(events)).toEqual(['start', 'usage', 'tool-uses', ...text, 'finish', 'usage', 'end'])
    expect(events[3]).toMatchObject({ block: 0 })
  })

  test('an error ends the stream', () => {
    const events = decodeText(readFixture('error.sse'))
    expect(events.slice(-2)).toEqual([
      { type: 'text-end', ...at(0) },
      { type: 'error', error: { reason: 'overloaded', kind: 'overloaded_error', message: 'Overloaded', status: 529 } },
    ])
  })

  test('a stream cut before its terminator has no normal end', () => {
    const whole = readFixture('thinking-tools.sse')
    const blocks = whole.split('\n\n').slice(0, -2)
    for (let kept = 0; kept < blocks.length; kept++) {
      const events = decodeText(`${blocks.slice(0, kept).join('\n\n')}\n\n`)
      expect(types(events)).not.toContain('end')
      const opened = events.filter((event) => event.type.endsWith('-start')).length
      expect(events.filter((event) => event.type.endsWith('-end'))).toHaveLength(opened)
    }
  })

  test.each(['text.sse', 'thinking-tools.sse', 'restated-usage.sse', 'error.sse'])(
    '%s, split at every byte',
    (name) => {
      const bytes = new TextEncoder().encode(readFixture(name))
      const expected = decodeChunks([bytes])
      for (let cut = 0; cut <= bytes.length; cut++) {
        expect(decodeChunks([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected)
      }
      expect(decodeChunks([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected)
    },
  )

  test.each(['\r\n', '\r'])('a stream with line ends %j is decoded', (lineEnd) => {
    const text = readFixture('thinking-tools.sse')
    expect(decodeText(text.replaceAll('\n', lineEnd))).toEqual(decodeText(text))
  })
})

describe('invalid events', () => {
  test('a tool call overrides the stop reason, except length', () => {
    const call = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'f' } }
    expect(stream(start, call, finish('end_turn'), stop)).toContainEqual({
      type: 'finish',
      choice: 0,
      finish: { kind: 'tool-calls', raw: 'end_turn' },
    })
    expect(stream(start, call, finish('max_tokens'), stop)).toContainEqual({
      type: 'finish',
      choice: 0,
      finish: { kind: 'length', raw: 'max_tokens' },
    })
  })

  test('missing start events and unknown indexes are tolerated', () => {
    const delta = { type: 'content_block_delta', index: 7, delta: { type: 'text_delta', text: 'x' } }
    expect(types(stream(delta, stop))).toEqual(['start', 'text-start', 'text-delta', 'text-end', 'finish', 'end'])
  })

  test('a second start event and a second stop reason are tolerated', () => {
    const events = stream(start, start, finish('end_turn'), finish('max_tokens'), stop, stop)
    expect(types(events)).toEqual(['start', 'usage', 'usage', 'finish', 'end'])
  })

  test('an answer that starts again after content counts as failed', () => {
    const call = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'look' } }
    const events = stream(start, call, start, call, finish('tool_use'), stop)
    expect(types(events)).toEqual(['start', 'usage', 'tool-call-start', 'tool-call-end', 'error'])
    expect(events.at(-1)).toMatchObject({ error: { reason: 'server' } })
  })

  test('a block that starts again closes the previous one', () => {
    const again = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'x' } }
    const once: ChatEvent['type'][] = ['text-start', 'text-delta', 'text-end']
    expect(types(stream(start, again, again)).slice(2)).toEqual([...once, ...once])
  })

  test('tool arguments without a call are ignored', () => {
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{' } }
    expect(types(stream(start, delta))).toEqual(['start', 'usage'])
  })

  test('an event whose data is not JSON is an error', () => {
    const events = decodeText('event: message_start\ndata: {"type":"mess\n\nevent: message_stop\ndata: {}\n\n')
    expect(events).toMatchObject([{ type: 'error', error: { reason: 'server', kind: 'malformed_event' } }])
    expect(types(decodeText('data: <html>\n\n'))).toEqual(['error'])
  })

  test('unknown events are ignored', () => {
    expect(decodeText('event: vertex_event\ndata: x\n\ndata: [DONE]\n\n: comment\n\nevent: ping\ndata: -\n\n')).toEqual(
      [],
    )
    expect(decodeText('event: future\ndata: {"type":"future"}\n\n')).toEqual([])
  })

  test('an error in another form is read', () => {
    expect(decodeText('data: {"error":{"message":"boom"}}\n\n')).toMatchObject([
      { type: 'error', error: { message: 'boom' } },
    ])
    expect(decodeText('event: error\ndata: {"error":{"type":"api_error","message":"x"}}\n\n')).toMatchObject([
      { type: 'error', error: { kind: 'api_error', status: 500 } },
    ])
  })

  test('an event’s type may be only in the event name', () => {
    expect(types(decodeText('event: message_stop\ndata: {}\n\n'))).toEqual(['start', 'finish', 'end'])
  })

  test.each<[JsonValue]>([
    [{ output_tokens: -5 }],
    [{ output_tokens: '7' }],
    [{ output_tokens: 1e308 }],
    [{ input_tokens: 2 ** 53, output_tokens: 1 }],
    ['usage'],
  ])('usage %j is ignored', (usage) => {
    const events = stream(start, finish('end_turn', usage), stop)
    const usages = events.filter((event) => event.type === 'usage')
    expect(usages.every((event) => event.usage.output <= 1 && event.usage.uncached === 3)).toBe(true)
    expect(types(events).at(-1)).toBe('end')
  })

  test('the count of output tokens never decreases', () => {
    const events = stream(start, finish('end_turn', { output_tokens: 9 }), finish('x', { output_tokens: 4 }), stop)
    expect(events.findLast((event) => event.type === 'usage')).toMatchObject({ usage: { output: 9 } })
  })
})

describe('properties', () => {
  const word = fc.constantFrom(
    ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop', 'message_delta'],
    ...['message_stop', 'error', 'ping', 'text', 'thinking', 'tool_use', 'text_delta', 'input_json_delta', 'x'],
  )
  const key = fc.constantFrom(
    ...['type', 'index', 'content_block', 'delta', 'message', 'usage', 'error', 'text', 'thinking', 'id', 'name'],
    ...['input', 'partial_json', 'signature', 'stop_reason', 'input_tokens', 'output_tokens', 'x'],
  )
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      word,
      fc.double() as fc.Arbitrary<JsonValue>,
      fc.integer({ min: -1, max: 3 }),
      fc.constant(null),
      fc.boolean(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(key, tie('value'), { maxKeys: 5 }) as fc.Arbitrary<JsonValue>,
    ),
  }))

  test('for random events the decoder never throws, and each block that starts ends', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: fc.option(word, { nil: undefined }), value }), { maxLength: 12 }),
        (sent) => {
          const decoder = messages.createStreamDecoder()
          const events = sent.flatMap(({ name, value: json }) => {
            const data = JSON.stringify(json)
            return decoder.push({ event: name, data, raw: '' }, parseJson(data))
          })
          events.push(...decoder.end())
          const open = new Set<number>()
          for (const event of events) {
            if (!('block' in event)) continue
            if (event.type.endsWith('-start')) {
              expect(open.has(event.block)).toBe(false)
              open.add(event.block)
            } else expect(open.has(event.block)).toBe(true)
            if (event.type.endsWith('-end')) open.delete(event.block)
          }
          expect(open.size).toBe(0)
          expect(events.filter((event) => event.type === 'start').length).toBeLessThanOrEqual(1)
          expect(events.filter((event) => event.type === 'finish').length).toBeLessThanOrEqual(1)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('decoding never throws for any JSON answer or error', () => {
    fc.assert(
      fc.property(value, (json) => {
        messages.decodeResponse(json)
        messages.decodeUsage(json)
        messages.decodeError(500, json)
      }),
      { numRuns: 2000 },
    )
  })

  test('any JSON body is decoded or refused with the reason', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (extra) => {
        const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }], ...extra } as never
        try {
          messages.decodeRequest(body)
        } catch (error) {
          expect((error as { kind?: string }).kind).toBe('invalid_request')
        }
      }),
      { numRuns: 500 },
    )
  })
})
