/** Streams in the responses format: items one by one, numbered events, and an end with the right status. */
import { describe, expect, test } from 'bun:test'
import { judgeOrder } from '@test/formats/responses/stream-order'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { FinishKind } from '@/chat/response'
import { createStreamEncoder } from '@/formats/responses/client-side/encode-stream'
import { isJsonObject, type JsonObject } from '@/lib/json'
import { CONTEXT, contextFor, encodeEvents, readFrame, START, usageOf } from './answers'

const USAGE: ChatEvent = { type: 'usage', usage: usageOf({ uncached: 3, cacheRead: 2, output: 4, reasoning: 1 }) }

function text(block: number, ...parts: string[]): ChatEvent[] {
  return [
    { type: 'text-start', choice: 0, block },
    ...parts.map((part): ChatEvent => ({ type: 'text-delta', choice: 0, block, text: part })),
    { type: 'text-end', choice: 0, block },
  ]
}

function call(block: number, name: string, ...parts: string[]): ChatEvent[] {
  return [
    { type: 'tool-call-start', choice: 0, block, id: `call_${block}`, name },
    ...parts.map((part): ChatEvent => ({ type: 'tool-call-delta', choice: 0, block, argumentsText: part })),
    { type: 'tool-call-end', choice: 0, block },
  ]
}

function finish(kind: FinishKind): ChatEvent {
  return { type: 'finish', choice: 0, finish: { kind } }
}

/** The items of the last event, without their ids. */
function output(events: readonly JsonObject[]): unknown[] {
  const items = judgeOrder(events).output as JsonObject[]
  return items.map(({ id: _, ...item }) => item)
}

function typesOf(events: readonly JsonObject[]): string[] {
  return events.map(({ type }) => String(type).replace('response.', ''))
}

const TEXT_TYPES = ['output_text.delta', 'output_text.done', 'content_part.done', 'output_item.done']

describe('a stream', () => {
  test('a text stream has all its events', () => {
    const events = encodeEvents([START, ...text(0, 'Hel', 'lo'), finish('stop'), USAGE, { type: 'end' }])
    expect(typesOf(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      ...TEXT_TYPES,
      'completed',
    ])
    const response = judgeOrder(events)
    expect(response).toMatchObject({ id: 'resp_1', model: 'svc/alpha', store: false, error: null })
    expect(response.usage).toEqual({
      input_tokens: 5,
      input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 1 },
      total_tokens: 9,
    })
    expect(output(events)).toEqual([
      {
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
      },
    ])
  })

  test('an empty stream has an output without items', () => {
    expect(output(encodeEvents([finish('stop')]))).toEqual([])
    expect(output(encodeEvents([START, ...text(0, ''), finish('stop')]))).toEqual([])
  })

  test('reasoning is streamed as a summary, with its encrypted content at the end of the item', () => {
    const events = encodeEvents([
      START,
      { type: 'reasoning-start', choice: 0, block: 0 },
      { type: 'reasoning-delta', choice: 0, block: 0, text: 'Hm.' },
      { type: 'reasoning-end', choice: 0, block: 0, signature: { format: 'messages', value: 'sig' } },
      ...text(1, 'Hi'),
      finish('stop'),
    ])
    expect(typesOf(events).slice(2, 8)).toEqual([
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
    ])
    expect(output(events)[0]).toEqual({
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Hm.' }],
      encrypted_content: 'svc1.messages.sig',
    })
  })

  test('if reasoning was not requested, only its encrypted content is sent', () => {
    const thought = (content: string): ChatEvent[] => [
      { type: 'reasoning-start', choice: 0, block: 0 },
      { type: 'reasoning-delta', choice: 0, block: 0, text: content },
      { type: 'reasoning-end', choice: 0, block: 0, signature: { format: 'messages', value: 'sig' } },
    ]
    const context = { ...CONTEXT, wantsReasoning: false }
    expect(output(encodeEvents(thought('Hm.'), context))).toEqual([])
    expect(output(encodeEvents(thought(''), context))).toEqual([
      { type: 'reasoning', status: 'completed', summary: [], encrypted_content: 'svc1.messages.sig' },
    ])
  })

  test('interleaved parallel calls are streamed, also one without arguments', () => {
    const [first = [], second = []] = [call(0, 'one', '{"a"', ':1', '}'), call(1, 'two')]
    const events = encodeEvents([...first.slice(0, 3), ...second, ...first.slice(3), finish('tool-calls')])
    expect(output(events)).toEqual([
      { type: 'function_call', status: 'completed', call_id: 'call_0', name: 'one', arguments: '{"a":1}' },
      { type: 'function_call', status: 'completed', call_id: 'call_1', name: 'two', arguments: '{}' },
    ])
    expect(judgeOrder(events).status).toBe('completed')
  })

  test('tool calls have the caller’s tool names and namespaces, and custom tools their text', () => {
    const context = contextFor({
      tools: [
        { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn' }] },
        { type: 'custom', name: 'apply_patch' },
      ],
    })
    const events = encodeEvents(
      [...call(0, 'agents__spawn', '{"task":', '"x"}'), ...call(1, 'apply_patch', '{"input":"*** Begin"}')],
      context,
    )
    expect(output(events)).toEqual([
      {
        type: 'function_call',
        status: 'completed',
        call_id: 'call_0',
        name: 'spawn',
        namespace: 'agents',
        arguments: '{"task":"x"}',
      },
      { type: 'custom_tool_call', status: 'completed', call_id: 'call_1', name: 'apply_patch', input: '*** Begin' },
    ])
  })

  test('a custom tool’s text is streamed piece by piece', () => {
    const events = encodeEvents(
      call(0, 'apply_patch', '{"inp', 'ut":"*** ', 'Begin\\', 'nPatch"}'),
      contextFor({ tools: [{ type: 'custom', name: 'apply_patch' }] }),
    )
    const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta')
    expect(deltas.map(({ delta }) => delta)).toEqual(['*** ', 'Begin', '\nPatch'])
    expect(judgeOrder(events).output).toMatchObject([{ input: '*** Begin\nPatch' }])
  })

  test('a tool call’s own encrypted reasoning is an item before the call', () => {
    const [start, delta] = call(0, 'one', '{}')
    const signature = { format: 'generate-content', value: 'c2ln' } as const
    const events = encodeEvents([
      ...([start, delta] as ChatEvent[]),
      { type: 'tool-call-end', choice: 0, block: 0, signature },
    ])
    expect(output(events)).toMatchObject([
      { type: 'reasoning', summary: [], encrypted_content: 'svc1.generate-content.call.c2ln' },
      { type: 'function_call', call_id: 'call_0' },
    ])
  })

  test('tool calls with equal ids are separated', () => {
    const twice = [...call(0, 'one', '{}'), ...call(1, 'one', '{}')].map((event) =>
      event.type === 'tool-call-start' ? { ...event, id: 'call_0' } : event,
    )
    const ids = (judgeOrder(encodeEvents(twice)).output as JsonObject[]).map((item) => item.call_id)
    expect(ids[0]).toBe('call_0')
    expect(new Set(ids).size).toBe(2)
  })

  test('an image is streamed', () => {
    const events = encodeEvents([{ type: 'image', choice: 0, block: 0, mediaType: 'image/png', data: 'aGk=' }])
    expect(output(events)).toEqual([{ type: 'image_generation_call', status: 'completed', result: 'aGk=' }])
  })
})

describe('a stream that ends', () => {
  test.each([
    ['length', 'incomplete', 'max_output_tokens'],
    ['context-length', 'incomplete', 'max_output_tokens'],
    ['content-filter', 'incomplete', 'content_filter'],
    ['stop-sequence', 'completed', undefined],
    ['pause', 'completed', undefined],
  ] as const)('a stream that ends for %s has the status %s', (kind, status, reason) => {
    const response = judgeOrder(encodeEvents([...text(0, 'Hi'), ...text(1, 'there'), finish(kind)]))
    expect(response.status).toBe(status)
    expect(response.incomplete_details).toEqual(reason ? { reason } : null)
    expect((response.output as JsonObject[]).map((item) => item.status)).toEqual(['completed', status])
    expect(response.completed_at === null).toBe(status === 'incomplete')
  })

  test('a refusal is streamed as a complete answer', () => {
    const events = encodeEvents([
      { type: 'refusal-start', choice: 0, block: 0 },
      { type: 'refusal-delta', choice: 0, block: 0, text: 'No.' },
      { type: 'refusal-end', choice: 0, block: 0 },
      finish('content-filter'),
    ])
    expect(judgeOrder(events).status).toBe('completed')
    expect(output(events)).toMatchObject([{ content: [{ type: 'refusal', refusal: 'No.' }] }])
  })

  test('a stream with a model error ends as failed', () => {
    const events = encodeEvents([...text(0, 'Hi'), finish('error'), USAGE])
    expect(typesOf(events).slice(-2)).toEqual(['error', 'failed'])
    expect(judgeOrder(events)).toMatchObject({ error: { code: 'server_error' }, usage: { total_tokens: 9 } })
  })

  test('a stream that breaks ends in an error event and a failed response with its content', () => {
    const encoder = createStreamEncoder(CONTEXT)
    const before = [START, ...text(0, 'Hel').slice(0, 2)].flatMap((event) => encoder.push(event))
    const error = new GatewayError('rate_limited', 'Try again in 2s', { param: 'model' })
    const events = [...before, ...encoder.fail(error, 'req_1')].map(readFrame)
    const [event, failed] = events.slice(-2)
    expect(event).toMatchObject({
      type: 'error',
      code: 'rate_limit_exceeded',
      message: 'Try again in 2s',
      param: 'model',
      error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Try again in 2s' },
    })
    expect(failed?.response).toMatchObject({
      status: 'failed',
      error: { code: 'rate_limit_exceeded', message: 'Try again in 2s' },
      output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }],
    })
    judgeOrder(events)
    expect([...encoder.push(START), ...encoder.end(), ...encoder.fail(error, 'req_1')]).toEqual([])
  })

  test.each([
    ['context_length_exceeded', 'context_length_exceeded'],
    ['insufficient_credit', 'insufficient_quota'],
    ['invalid_request', 'invalid_prompt'],
    ['upstream_failed', 'server_error'],
    ['overloaded', 'server_error'],
  ] as const)('a stream that fails with %s has a code that tells clients whether to retry', (kind, code) => {
    const [, failed] = createStreamEncoder(CONTEXT).fail(new GatewayError(kind, 'No'), 'req_1').map(readFrame)
    expect(isJsonObject(failed?.response) && failed.response.error).toEqual({ code, message: 'No' })
  })
})
