/** Streams in the messages format: blocks strictly one after another in any order of events, one start and one end. */
import { describe, expect, test } from 'bun:test'
import {
  at,
  blocksOf,
  finish,
  foreign,
  own,
  start,
  text,
  thinking,
  tool,
  usage,
} from '@test/formats/messages/stream-events'
import { context, dataOf, encodeEvents, readFixture, toSse } from '@test/formats/messages/support'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { Signature } from '@/chat/request'
import { messages } from '@/formats/messages/index'
import type { JsonObject } from '@/lib/json'

describe('the frame of a stream', () => {
  test('text is streamed byte for byte', () => {
    const sse = toSse(
      encodeEvents([start, ...text(0, 'He', 'llo'), finish(), { type: 'usage', usage }, { type: 'end' }]),
    )
    expect(sse).toBe(readFixture('encoded-text.sse'))
  })

  test('a stream without content is valid', () => {
    for (const events of [[], [start, finish()]]) {
      expect(dataOf(encodeEvents(events)).map((data) => data.type)).toEqual([
        'message_start',
        'message_delta',
        'message_stop',
      ])
    }
  })

  test('a stream starts with estimated usage, and ends with the provider’s usage', () => {
    const [first, ...rest] = dataOf(encodeEvents([start, finish('length'), { type: 'usage', usage }]))
    expect(first).toMatchObject({
      message: {
        id: 'msg_public',
        model: 'svc/alpha',
        content: [],
        stop_reason: null,
        usage: { input_tokens: 21, output_tokens: 0 },
      },
    })
    expect(rest[0]).toMatchObject({
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 3, output_tokens: 8 },
    })
  })

  test('every stream event has its name', () => {
    for (const frame of encodeEvents([start, ...text(0, 'x')])) {
      expect(frame.event).toBe((JSON.parse(frame.data) as JsonObject).type as string)
    }
  })

  test('a stream has only the provider’s first choice', () => {
    expect(
      blocksOf(
        encodeEvents([start, { type: 'text-start', ...at(0, 1) }, { type: 'text-delta', ...at(0, 1), text: 'x' }]),
      ),
    ).toEqual([])
  })

  test('the id of a message always begins with msg_', () => {
    for (const id of ['abc', 'req_abc', 'msg_abc']) {
      expect(dataOf(encodeEvents([start], { id }))[0]).toMatchObject({ message: { id: 'msg_abc' } })
    }
  })

  test('a keep-alive is a complete ping event', () => {
    expect(messages.framing.keepAlive).toBe('event: ping\ndata: {"type": "ping"}\n\n')
  })
})

describe('a stream that fails', () => {
  test('an error inside a stream is an error event, and no event follows', () => {
    const encoder = messages.createStreamEncoder(context)
    encoder.push(start)
    const frames = encoder.fail(new GatewayError('overloaded', 'Try later', { code: 'busy' }), 'req_1')
    expect(frames).toEqual([
      {
        event: 'error',
        data: '{"type":"error","error":{"type":"overloaded_error","message":"Try later","details":{"error_code":"busy"}},"request_id":"req_1"}',
      },
    ])
    expect([
      ...text(0, 'x').flatMap((event) => encoder.push(event)),
      ...encoder.end(),
      ...encoder.fail(new GatewayError('internal', 'x'), 'r'),
    ]).toEqual([])
  })

  test('an error after the end is not sent', () => {
    const encoder = messages.createStreamEncoder(context)
    encoder.end()
    expect(encoder.fail(new GatewayError('internal', 'x'), 'r')).toEqual([])
    expect(encoder.end()).toEqual([])
  })
})

describe('blocks of a stream', () => {
  test('interleaved tool calls are sent one after the other', () => {
    const events: ChatEvent[] = [
      start,
      ...tool(0, 'a', ['{"x"']).slice(0, -1),
      ...tool(1, 'b', ['{"y"']).slice(0, -1),
      { type: 'tool-call-delta', ...at(0), argumentsText: ':1}' },
      { type: 'tool-call-delta', ...at(1), argumentsText: ':2}' },
      { type: 'tool-call-end', ...at(1) },
      { type: 'tool-call-end', ...at(0) },
      finish('tool-calls'),
    ]
    expect(blocksOf(encodeEvents(events))).toEqual([
      { type: 'tool_use', id: 'a', name: 'f', input: '{"x":1}' },
      { type: 'tool_use', id: 'b', name: 'f', input: '{"y":2}' },
    ])
  })

  test('text pauses for a tool call, and continues after the call', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'text-start', ...at(0) },
      { type: 'text-delta', ...at(0), text: 'a' },
      ...tool(1, 't', ['{', '}']),
      { type: 'text-delta', ...at(0), text: 'b' },
      { type: 'text-end', ...at(0) },
    ]
    expect(blocksOf(encodeEvents(events))).toMatchObject([{ text: 'a' }, { id: 't', input: '{}' }, { text: 'b' }])
  })

  test('open blocks are closed at the end', () => {
    expect(
      blocksOf(encodeEvents([start, ...text(0, 'a').slice(0, -1), ...tool(1, 't', ['{}']).slice(0, -1)])),
    ).toMatchObject([{ text: 'a' }, { input: '{}' }])
  })

  test('empty text creates no block', () => {
    expect(blocksOf(encodeEvents([start, ...text(0, ''), ...text(1)]))).toEqual([])
  })

  test('a refusal is text with its own stop reason', () => {
    const frames = encodeEvents([
      start,
      { type: 'refusal-start', ...at(0) },
      { type: 'refusal-delta', ...at(0), text: 'No.' },
      { type: 'refusal-end', ...at(0) },
      finish(),
    ])
    expect(blocksOf(frames)).toEqual([{ type: 'text', text: 'No.' }])
    expect(dataOf(frames).at(-2)).toMatchObject({ delta: { stop_reason: 'refusal' } })
  })

  test('an image in a stream is replaced by a text that names it', () => {
    const frames = encodeEvents([start, { type: 'image', ...at(0), mediaType: 'image/png', data: 'AAAA' }])
    expect(blocksOf(frames)).toEqual([{ type: 'text', text: '[image omitted: this API carries only text]' }])
  })
})

describe('tool calls', () => {
  test('tool calls have valid, unique ids', () => {
    const blocks = blocksOf(
      encodeEvents([start, ...tool(0, 'a|b', []), ...tool(1, '', []), ...tool(2, 'c', []), ...tool(3, 'c', [])]),
    )
    const ids = blocks.map((block) => block.id as string)
    expect(new Set(ids).size).toBe(4)
    expect(ids.every((id) => /^[a-zA-Z0-9_-]+$/.test(id))).toBe(true)
    expect(ids[2]).toBe('c')
  })

  test('tool calls override the stop reason', () => {
    const frames = encodeEvents([start, ...tool(0, 't', ['{}']), finish('stop')])
    expect(dataOf(frames).at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
    expect(dataOf(encodeEvents([start, finish('tool-calls')])).at(-2)).toMatchObject({
      delta: { stop_reason: 'end_turn' },
    })
  })

  test('broken JSON arguments that arrive at once are wrapped in invalid_arguments', () => {
    expect(blocksOf(encodeEvents([start, ...tool(0, 't', ['{"a":1}{"b":2}'])]))).toMatchObject([
      { input: '{"invalid_arguments":"{\\"a\\":1}{\\"b\\":2}"}' },
    ])
  })

  test('tool arguments are streamed from their second fragment on', () => {
    const encoder = messages.createStreamEncoder(context)
    const [open, ...rest] = [start, ...tool(0, 't', ['{"a"', ':', '1}'])].map((event) => encoder.push(event).length)
    expect([open, ...rest]).toEqual([1, 0, 0, 2, 1, 1])
  })
})

describe('signatures', () => {
  test('another provider’s signature precedes the tool call that it signs', () => {
    expect(blocksOf(encodeEvents([start, ...tool(0, 't', ['{}'], foreign), ...tool(1, 'u', ['{}'])]))).toEqual([
      { type: 'thinking', thinking: '', signature: 'svc.generate-content.call.AbC=' },
      { type: 'tool_use', id: 't', name: 'f', input: '{}' },
      { type: 'tool_use', id: 'u', name: 'f', input: '{}' },
    ])
  })

  test('another provider’s signature follows the text that it signs, for clients that read reasoning', () => {
    const events: ChatEvent[] = [
      start,
      ...text(0, 'a').slice(0, -1),
      { type: 'text-end', ...at(0), signature: foreign },
    ]
    expect(blocksOf(encodeEvents(events))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'thinking', thinking: '', signature: 'svc.generate-content.text.AbC=' },
    ])
    expect(blocksOf(encodeEvents(events, { wantsReasoning: false }))).toEqual([{ type: 'text', text: 'a' }])
  })

  test.each<[boolean, Signature | undefined, JsonObject[]]>([
    [true, own, [{ type: 'thinking', thinking: 'hm', signature: 'Eq=' }]],
    [true, foreign, [{ type: 'thinking', thinking: 'hm', signature: 'svc.generate-content.reasoning.AbC=' }]],
    [true, undefined, [{ type: 'thinking', thinking: 'hm', signature: 'svc.unsigned' }]],
    [false, own, [{ type: 'thinking', thinking: 'hm', signature: 'Eq=' }]],
    [false, foreign, []],
    [false, undefined, []],
  ])('reasoning, requested %p, signed %j, is streamed', (wantsReasoning, signature, expected) => {
    expect(blocksOf(encodeEvents([start, ...thinking(0, 'hm', signature)], { wantsReasoning }))).toEqual(expected)
  })

  test('encrypted thinking is sent; another provider’s thinking is only sent to clients that read reasoning', () => {
    const redacted: ChatEvent[] = [
      { type: 'reasoning-start', ...at(0), redacted: own },
      { type: 'reasoning-end', ...at(0) },
      { type: 'reasoning-start', ...at(1), redacted: foreign },
      { type: 'reasoning-end', ...at(1) },
    ]
    const kept = [{ type: 'redacted_thinking', data: 'Eq=' }]
    expect(blocksOf(encodeEvents([start, ...redacted], { wantsReasoning: false }))).toEqual(kept)
    expect(blocksOf(encodeEvents([start, ...redacted]))).toEqual([
      ...kept,
      { type: 'redacted_thinking', data: 'svc.generate-content.reasoning.AbC=' },
    ])
  })

  test('a tool call’s signature creates no block for clients without reasoning', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'tool-call-start', ...at(0), id: 'a', name: 'f' },
      { type: 'tool-call-delta', ...at(0), argumentsText: '{}' },
      { type: 'tool-call-end', ...at(0), signature: foreign },
    ]
    const types = (wantsReasoning: boolean) =>
      blocksOf(encodeEvents(events, { wantsReasoning })).map(({ type }) => type)
    expect(types(false)).toEqual(['tool_use'])
    expect(types(true)).toEqual(['thinking', 'tool_use'])
  })
})
