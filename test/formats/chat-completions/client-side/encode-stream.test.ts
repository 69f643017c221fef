/** Events of the hub as a chat-completions stream. */

import { describe, expect, test } from 'bun:test'
import { CONTEXT, usageOf } from '@test/formats/chat-completions/support'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { createStreamEncoder } from '@/formats/chat-completions/client-side/encode-stream'
import { providerError } from '@/formats/provider-error'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'

const START: ChatEvent = { type: 'start', id: 'upstream-id', model: 'upstream-model', created: 5 }
const STOP: ChatEvent = { type: 'finish', choice: 0, finish: { kind: 'stop' } }
const USAGE: ChatEvent = { type: 'usage', usage: usageOf({ uncached: 3, cacheRead: 2, output: 4, reasoning: 1 }) }

function encode(events: ChatEvent[], context = CONTEXT): (JsonObject | string)[] {
  const encoder = createStreamEncoder(context)
  const frames = [...events.flatMap((event) => encoder.push(event)), ...encoder.end()]
  return frames.map(({ event, data }) => {
    expect(event).toBeUndefined()
    const json = parseJson(data)
    return isJsonObject(json) ? json : data
  })
}

/** The deltas (or the reason) of all chunks with a choice. */
function deltas(events: ChatEvent[]): JsonValue[] {
  return encode(events).flatMap((chunk) => {
    const [choice] = isJsonObject(chunk) && Array.isArray(chunk.choices) ? chunk.choices : []
    if (!isJsonObject(choice)) return []
    return [choice.finish_reason ?? choice.delta ?? null]
  })
}

const ROLE = { role: 'assistant', content: '' }

describe('a stream', () => {
  test('a stream has one finish reason, at its end, and no content after it', () => {
    const late = { kind: 'tool-calls' } as const
    expect(
      deltas([
        START,
        text('Hi'),
        STOP,
        text(' there'),
        { type: 'tool-call-start', choice: 0, block: 1, id: 'call_1', name: 'f' },
        { type: 'finish', choice: 0, finish: late },
      ]).slice(-1),
    ).toEqual(['tool_calls'])
    expect(deltas([START, text('Hi'), STOP, text(' there'), STOP])).toEqual([
      ROLE,
      { content: 'Hi' },
      { content: ' there' },
      'stop',
    ])
  })

  test('a stream has one id, time and public model on every chunk, then usage, then [DONE]', () => {
    const chunks = encode([
      START,
      { type: 'text-start', choice: 0, block: 0 },
      text('Hi'),
      STOP,
      USAGE,
      { type: 'end' },
    ])
    const base = { id: 'chatcmpl-ours', object: 'chat.completion.chunk', created: 1_760_000_001, model: 'svc/alpha' }
    const chunk = (delta: JsonObject, finish: string | null) => ({
      ...base,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      usage: null,
    })
    expect(chunks).toEqual([
      chunk(ROLE, null),
      chunk({ content: 'Hi' }, null),
      chunk({}, 'stop'),
      {
        ...base,
        choices: [],
        usage: {
          prompt_tokens: 5,
          completion_tokens: 4,
          total_tokens: 9,
          prompt_tokens_details: { cached_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      },
      '[DONE]',
    ])
  })

  test('a stream has no usage unless the client requests it', () => {
    const chunks = encode([START, text('Hi'), USAGE, STOP], { ...CONTEXT, wantsUsage: false })
    expect(chunks).toHaveLength(4)
    for (const chunk of chunks) expect(isJsonObject(chunk) && 'usage' in chunk).toBe(false)
  })

  test('a stream without content has a role and a finish reason', () => {
    expect(deltas([START, STOP])).toEqual([ROLE, 'stop'])
    expect(deltas([STOP])).toEqual([ROLE, 'stop'])
  })

  test('a stream has the role of every choice', () => {
    const second: ChatEvent = { type: 'text-delta', choice: 1, block: 1, text: 'b' }
    const chunks = encode([START, text('a'), second, STOP, { type: 'finish', choice: 1, finish: { kind: 'length' } }])
    const roles = chunks.flatMap((chunk) => (isJsonObject(chunk) ? (chunk.choices as JsonObject[]) : []))
    expect(roles.filter(({ delta }) => isJsonObject(delta) && delta.role).map(({ index }) => index)).toEqual([0, 1])
  })

  test('a stream carries reasoning, refusals and images', () => {
    const events: ChatEvent[] = [
      START,
      { type: 'reasoning-delta', choice: 0, block: 0, text: 'Hm' },
      { type: 'refusal-delta', choice: 0, block: 1, text: 'No' },
      { type: 'image', choice: 0, block: 2, mediaType: 'image/png', data: 'aGk=' },
      { type: 'finish', choice: 0, finish: { kind: 'content-filter' } },
    ]
    expect(deltas(events)).toEqual([
      ROLE,
      { reasoning_content: 'Hm' },
      { refusal: 'No' },
      { images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }] },
      'stop',
    ])
  })

  test('empty deltas are dropped', () => {
    expect(deltas([START, text(''), STOP])).toEqual([ROLE, 'stop'])
  })
})

describe('tool calls', () => {
  test('tool calls are numbered from 0, and stay apart when they interleave', () => {
    const events: ChatEvent[] = [
      START,
      text('Hm'),
      { type: 'tool-call-start', choice: 0, block: 1, id: 'a', name: 'one' },
      { type: 'tool-call-start', choice: 0, block: 2, id: 'b', name: 'two' },
      { type: 'tool-call-delta', choice: 0, block: 2, argumentsText: '{"b"' },
      { type: 'tool-call-delta', choice: 0, block: 1, argumentsText: '{}' },
      { type: 'tool-call-delta', choice: 0, block: 2, argumentsText: ':1}' },
      { type: 'tool-call-end', choice: 0, block: 1 },
      { type: 'tool-call-end', choice: 0, block: 2 },
      STOP,
    ]
    const call = (index: number, fragment: JsonObject) => ({ tool_calls: [{ index, ...fragment }] })
    expect(deltas(events)).toEqual([
      ROLE,
      { content: 'Hm' },
      call(0, { id: 'a', type: 'function', function: { name: 'one', arguments: '' } }),
      call(1, { id: 'b', type: 'function', function: { name: 'two', arguments: '' } }),
      call(1, { function: { arguments: '{"b"' } }),
      call(0, { function: { arguments: '{}' } }),
      call(1, { function: { arguments: ':1}' } }),
      'tool_calls',
    ])
  })

  test('tool calls without arguments get the arguments {}', () => {
    const events: ChatEvent[] = [
      { type: 'tool-call-start', choice: 0, block: 0, id: 'a', name: 'one' },
      { type: 'tool-call-delta', choice: 0, block: 0, argumentsText: '' },
      { type: 'tool-call-end', choice: 0, block: 0 },
    ]
    expect(deltas(events).at(-1)).toEqual({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] })
  })

  test('tool calls have a signature only of the kind that the format supports', () => {
    const end = (format: 'generate-content' | 'messages'): ChatEvent[] => [
      { type: 'tool-call-start', choice: 0, block: 0, id: 'a', name: 'one' },
      { type: 'tool-call-delta', choice: 0, block: 0, argumentsText: '{"a":1}' },
      { type: 'tool-call-end', choice: 0, block: 0, signature: { format, value: 'c2ln' } },
    ]
    expect(deltas(end('generate-content')).at(-1)).toEqual({
      tool_calls: [
        {
          index: 0,
          function: { arguments: '' },
          extra_content: { google: { thought_signature: 'svc.generate-content.c2ln' } },
        },
      ],
    })
    expect(JSON.stringify(deltas(end('messages')))).not.toContain('c2ln')
  })

  test('a tool call cut off by the limit stays incomplete', () => {
    const call: ChatEvent = { type: 'tool-call-start', choice: 0, block: 0, id: 'a', name: 'one' }
    expect(deltas([call, { type: 'finish', choice: 0, finish: { kind: 'length' } }]).at(-1)).toBe('length')
  })
})

test('a broken stream ends in an error with all four keys, without [DONE]', () => {
  const encoder = createStreamEncoder(CONTEXT)
  encoder.push(START)
  expect(encoder.push({ type: 'error', error: providerError({ status: 502, kind: 'x', message: 'secret' }) })).toEqual(
    [],
  )
  const frames = encoder.fail(new GatewayError('upstream_failed', 'The provider broke off'), 'req_1')
  expect(frames.map(({ data }) => parseJson(data))).toEqual([
    { error: { message: 'The provider broke off', type: 'server_error', param: null, code: null } },
  ])
})

function text(content: string): ChatEvent {
  return { type: 'text-delta', choice: 0, block: 0, text: content }
}
