/** Streams of every known dialect of responses, event by event. */
import { describe, expect, test } from 'bun:test'
import {
  answerOf,
  BEGINNING,
  callItem,
  completed,
  decodeEvents,
  event,
  HUB_USAGE,
  RESPONSE,
  textItem,
  thoughtItem,
  USAGE,
} from '@test/formats/responses/support'
import { createStreamDecoder } from '@/formats/responses/provider-side/decode-stream'
import type { JsonObject } from '@/lib/json'

const START = { id: 'resp_1', model: 'alpha-2026-01', created: 1_760_000_000 }
const COMPLETED = (kind: 'stop' | 'tool-calls' | 'content-filter') => [{ kind, raw: 'completed' }]

describe('a stream', () => {
  test('a text stream is one block, its usage and a finish', () => {
    expect(answerOf([...BEGINNING, ...textItem(0, ['Hel', 'lo']), completed()])).toEqual({
      start: START,
      blocks: ['0 text: Hello'],
      usage: HUB_USAGE,
      finishes: COMPLETED('stop'),
      isEnded: true,
    })
  })

  test('a thought, a text and two calls keep their order, and the thought’s last encrypted content counts', () => {
    const stream = [
      ...BEGINNING,
      ...thoughtItem(0, ['One.', 'Two.']),
      ...textItem(1, ['Hm']),
      ...callItem(2, 'find', ['{"a"', ':1}']),
      ...callItem(3, 'find', ['{}']),
      completed(),
    ]
    expect(answerOf(stream)).toMatchObject({
      blocks: [
        '0 reasoning: One.\n\nTwo. [responses rs_0:proof]',
        '0 text: Hm',
        '0 tool-call call_2 find: {"a":1}',
        '0 tool-call call_3 find: {}',
      ],
      finishes: COMPLETED('tool-calls'),
    })
  })

  test('each content part of an item is a block', () => {
    const at = { output_index: 0, item_id: 'msg_0' }
    const stream = [
      ...BEGINNING,
      event('output_item.added', { output_index: 0, item: { id: 'msg_0', type: 'message', content: [] } }),
      event('output_text.delta', { ...at, content_index: 0, delta: 'A' }),
      event('refusal.delta', { ...at, content_index: 1, delta: 'No' }),
      event('refusal.done', { ...at, content_index: 1, refusal: 'No' }),
      completed(),
    ]
    expect(answerOf(stream)).toMatchObject({
      blocks: ['0 text: A', '0 refusal: No'],
      finishes: COMPLETED('content-filter'),
    })
  })

  test('a refusal that is only sent as a whole, in its last event, is decoded', () => {
    const at = { output_index: 0, item_id: 'msg_0', content_index: 0 }
    const stream = [...BEGINNING, event('refusal.done', { ...at, refusal: 'No' }), completed()]
    expect(answerOf(stream).blocks).toEqual(['0 refusal: No'])
  })

  test('a custom tool call’s text becomes an object', () => {
    const item = { id: 'ctc_0', type: 'custom_tool_call', call_id: 'call_0', name: 'patch', input: '' }
    const pieces = ['line "1"\n', 'two \u{1f44b}']
    const stream = [
      event('output_item.added', { output_index: 0, item }),
      ...pieces.map((delta) => event('custom_tool_call_input.delta', { output_index: 0, delta })),
      event('output_item.done', { output_index: 0, item: { ...item, input: pieces.join('') } }),
    ]
    const [block = ''] = answerOf([...BEGINNING, ...stream, completed()]).blocks
    expect(JSON.parse(block.slice(block.indexOf('{')))).toEqual({ input: pieces.join('') })
  })

  test('an empty stream ends normally', () => {
    expect(answerOf([...BEGINNING, completed()])).toMatchObject({
      blocks: [],
      finishes: COMPLETED('stop'),
      isEnded: true,
    })
  })

  test('a picture from a provider’s tool is sent, and searches by a provider’s tool are counted', () => {
    const search = (id: string, type: string) =>
      event('output_item.done', { output_index: id, item: { type: 'web_search_call', id, action: { type } } })
    const events = decodeEvents([
      ...BEGINNING,
      event('output_item.added', { output_index: 0, item: { type: 'image_generation_call', id: 'ig_1' } }),
      event('output_item.done', {
        output_index: 0,
        item: { type: 'image_generation_call', id: 'ig_1', result: 'aGk=', output_format: 'webp' },
      }),
      search('ws_1', 'search'),
      search('ws_2', 'open_page'),
      search('ws_3', 'search'),
      completed([], { tool_usage: { web_search: { num_requests: 1 } } }),
    ])
    expect(events.filter(({ type }) => type === 'image' || type === 'tool-uses')).toEqual([
      { type: 'image', choice: 0, block: 0, mediaType: 'image/webp', data: 'aGk=' },
      { type: 'tool-uses', uses: { web_search: 1 } },
      { type: 'tool-uses', uses: { web_search: 2 } },
      { type: 'tool-uses', uses: { web_search: 1 } },
    ])
  })
})

describe('variants of providers’ streams', () => {
  const FULL = [
    ...BEGINNING,
    ...thoughtItem(0, ['So.']),
    ...textItem(1, ['Hi']),
    ...callItem(2, 'f', ['{"a":1}']),
    completed(),
  ]
  const EXPECTED = answerOf(FULL)

  function mapped(
    change: (event: JsonObject, index: number) => JsonObject | string | undefined,
  ): (JsonObject | string)[] {
    return FULL.map(change).filter((one) => one !== undefined)
  }

  test('a stream is read although each event has another item id', () => {
    const stream = mapped((one, index) => (one.item_id === undefined ? one : { ...one, item_id: `x${index}` }))
    expect(answerOf(stream)).toEqual(EXPECTED)
  })

  test('a stream is read although indexes have gaps', () => {
    const stream = mapped((one) => ({
      ...one,
      ...(typeof one.output_index === 'number' && { output_index: one.output_index * 2 + 1 }),
    }))
    expect(answerOf(stream)).toEqual(EXPECTED)
  })

  test('a stream is read although part starts are missing, or all `done` events except those of items', () => {
    const isPart = ({ type }: JsonObject) => /part\.(?:added|done)$|(?:text|arguments)\.done$/.test(String(type))
    expect(answerOf(mapped((one) => (isPart(one) ? undefined : one)))).toEqual(EXPECTED)
  })

  test('a stream is read although texts and arguments come only with `done`, or with the item', () => {
    expect(answerOf(mapped((one) => (String(one.type).endsWith('.delta') ? undefined : one)))).toEqual(EXPECTED)
    const isItem = ({ type }: JsonObject) => /output_item|created|completed/.test(String(type))
    expect(answerOf(mapped((one) => (isItem(one) ? one : undefined)))).toEqual(EXPECTED)
  })

  test('a stream is read although items come only with their end, or with the response’s end', () => {
    const isEnd = ({ type }: JsonObject) => /output_item\.done|created|completed/.test(String(type))
    expect(answerOf(mapped((one) => (isEnd(one) ? one : undefined)))).toEqual(EXPECTED)
    const output = FULL.flatMap(({ type, item }) => (type === 'response.output_item.done' && item ? [item] : []))
    expect(answerOf([...BEGINNING, completed(output)])).toEqual(EXPECTED)
  })

  test('a stream is read although items interleave', () => {
    const [first, second] = [textItem(0, ['A', 'B']), callItem(1, 'f', ['{"x":', '1}'])]
    const woven = first.flatMap((one, index) => [one, ...(second[index] ? [second[index]] : [])])
    expect(answerOf([...BEGINNING, ...woven, completed()]).blocks).toEqual([
      '0 tool-call call_1 f: {"x":1}',
      '0 text: AB',
    ])
  })

  test('a stream is read with a second start, pings, empty objects, or [DONE] at the end', () => {
    const stream = [...BEGINNING, ...BEGINNING, { type: 'ping' }, {}, { type: 'keepalive' }, ...FULL.slice(2), '[DONE]']
    expect(answerOf(stream)).toEqual(EXPECTED)
  })

  test('a stream is read although the type is only in the event’s name', () => {
    const decoder = createStreamDecoder()
    const events = FULL.flatMap(({ type, ...rest }) =>
      decoder.push({ event: String(type), data: JSON.stringify(rest), raw: '' }, rest),
    )
    expect(events).toEqual(decodeEvents(FULL))
  })

  test('raw reasoning is read, beside summaries or without', () => {
    const at = { output_index: 0, item_id: 'rs_0', content_index: 0 }
    const item = { id: 'rs_0', type: 'reasoning', summary: [], content: [] }
    const raw = [
      event('output_item.added', { output_index: 0, item }),
      event('reasoning_text.delta', { ...at, delta: 'Thinking' }),
      event('reasoning_text.done', { ...at, text: 'Thinking' }),
      event('reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'not this too' }),
    ]
    const done = event('output_item.done', {
      output_index: 0,
      item: { ...item, content: [{ type: 'reasoning_text', text: 'Thinking' }] },
    })
    for (const stream of [[...raw, done], [done]]) {
      expect(answerOf([...BEGINNING, ...stream, completed()]).blocks).toEqual(['0 reasoning: Thinking'])
    }
  })

  test('a tool call is read although its name only comes when it is done', () => {
    const [, ...rest] = callItem(0, 'late', ['{"a":', '1}'])
    expect(answerOf([...BEGINNING, ...rest, completed()]).blocks).toEqual(['0 tool-call call_0 late: {"a":1}'])
  })

  test('tool arguments that are objects keep the digits of numbers', () => {
    const data =
      '{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":{"id":1098765432109876543}}}'
    expect(answerOf([...BEGINNING, data, completed()]).blocks).toEqual(['0 tool-call c f: {"id":1098765432109876543}'])
  })

  test('a stream is read although an index is used again', () => {
    const stream = [
      ...BEGINNING,
      ...thoughtItem(0, ['So.']),
      ...textItem(0, ['A']),
      ...callItem(0, 'f', ['{}']),
      completed(),
    ]
    expect(answerOf(stream).blocks).toEqual([
      '0 reasoning: So. [responses rs_0:proof]',
      '0 text: A',
      '0 tool-call call_0 f: {}',
    ])
  })

  test('an item that is repeated as done adds nothing', () => {
    expect(
      answerOf([...FULL.slice(0, -1), ...FULL.filter(({ type }) => type === 'response.output_item.done'), completed()]),
    ).toEqual(EXPECTED)
  })
})

describe('the end of a stream', () => {
  const TEXT = [...BEGINNING, ...textItem(0, ['Hi']).slice(0, 3)]

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['steered', 'length'],
  ])('a stream that ends as incomplete because of %s has its usage', (reason, kind) => {
    const response = { ...RESPONSE, status: 'incomplete', incomplete_details: { reason }, output: [], usage: USAGE }
    expect(answerOf([...TEXT, event('incomplete', { response })])).toMatchObject({
      blocks: ['0 text: Hi'],
      finishes: [{ kind, raw: reason }],
      usage: HUB_USAGE,
      isEnded: true,
    })
  })

  test('a stream that ends as failed is read as an error, with its usage', () => {
    const error = { code: 'server_error', message: 'broke' }
    const failed = event('failed', { response: { ...RESPONSE, status: 'failed', error, usage: USAGE } })
    expect(answerOf([...TEXT, failed, completed()])).toMatchObject({
      blocks: ['0 text: Hi'],
      usage: HUB_USAGE,
      error: { kind: 'server_error', message: 'broke', status: 500 },
      isEnded: false,
      finishes: [],
    })
  })

  test.each([
    ['nested', { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'slow down' } }],
    ['flat', { code: 'rate_limit_exceeded', message: 'slow down', param: null }],
    [
      'both',
      {
        code: 'rate_limit_exceeded',
        message: 'slow down',
        error: { code: 'rate_limit_exceeded', message: 'slow down' },
      },
    ],
  ])('an error that ends a stream is read: %s', (_, fields) => {
    expect(answerOf([...BEGINNING, { type: 'error', ...fields }])).toMatchObject({
      error: { kind: 'rate_limit_exceeded', message: 'slow down', status: 429 },
      isEnded: false,
    })
  })

  test('without an end event the answer is unfinished, even after [DONE]', () => {
    expect(answerOf([...TEXT, '[DONE]'])).toMatchObject({ blocks: ['0 text: Hi'], isEnded: false, finishes: [] })
  })

  test('an end event that is not JSON is an error', () => {
    expect(answerOf([...TEXT, 'oops'])).toMatchObject({ error: { kind: 'malformed_event' }, isEnded: false })
  })

  test('an end event with empty usage, or without usage, is read', () => {
    const usage = { input_tokens: 3, output_tokens: 2 }
    expect(answerOf([...TEXT, completed([], { usage })]).usage).toMatchObject({ uncached: 3, output: 2, reasoning: 0 })
    expect(answerOf([...TEXT, completed([], { usage: null })]).usage).toBeUndefined()
  })

  test('a tool call that has no name at the end is an error', () => {
    const stream = [...BEGINNING, event('function_call_arguments.delta', { output_index: 0, delta: '{' }), completed()]
    expect(answerOf(stream)).toMatchObject({ error: { kind: 'malformed_tool_call' } })
  })
})
