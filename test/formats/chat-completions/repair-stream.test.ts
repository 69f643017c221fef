/** A stream that violates the published schema is repaired chunk by chunk; a valid one stays the same byte for byte. */
import { describe, expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import { passThrough } from '@/formats/chat-completions/pass-through'
import { type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { CONTEXT } from './support'

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const HEAD = { id: 'x', object: 'chat.completion.chunk', created: 5, model: 'svc/alpha' }
const ROLE = { role: 'assistant' }
/** How a stream of the published shape ends. */
const LAST: JsonObject[] = [
  { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { ...HEAD, choices: [], usage: USAGE },
]

/** What a client gets of a stream of these chunks (a string is an event's text), and what was put right. */
function stream(
  chunks: (JsonObject | string)[],
  changes: Partial<typeof CONTEXT> = {},
  { isTerminated = true, isUsageStated = true } = {},
) {
  const hooks = passHooks({ uncached: 2, output: 1 }, isUsageStated)
  const passing = passThrough.createStream({ ...CONTEXT, ...changes }, hooks)
  const texts = chunks.flatMap((chunk) => {
    const data = typeof chunk === 'string' ? chunk : JSON.stringify(chunk)
    return passing.event(data, parseJson(data)) ?? []
  })
  const ending = passing.ending(isTerminated).map((frame) => frame.data)
  return { texts, ending, told: texts.map((text) => JSON.parse(text)), repairs: hooks.repairs }
}

function chunk(delta: JsonValue | undefined, finish: JsonValue | undefined = null, more: JsonObject = {}): JsonObject {
  return { ...HEAD, choices: [{ index: 0, delta, finish_reason: finish }], ...more }
}

/** The first choice's delta of each chunk that a client gets of these deltas. */
function deltas(...given: JsonObject[]) {
  const { told, repairs } = stream([...given.map((delta) => chunk(delta)), ...LAST])
  return { deltas: told.slice(0, -LAST.length).map(({ choices }) => choices[0].delta), repairs }
}

const fragment = (index: number, id: string, name: string, text: string): JsonObject => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: text },
})
const more = (index: number, text: string): JsonObject => ({ index, function: { arguments: text } })

describe('a stream', () => {
  test('a valid stream is unchanged, with unusual spelling, numbers and unknown fields', () => {
    const data =
      '{ "id":"x","object":"chat.completion.chunk","created":5 ,"model":"svc/alpha","choices":[{"index":0,' +
      '"delta":{"role":"assistant","content":"\\u00e9"},"x":1.0}],"big":12345678901234567890}'
    const last = LAST.map((each) => JSON.stringify(each))
    const { texts, ending, repairs } = stream([data, ...last])
    expect({ texts, ending, repairs }).toEqual({ texts: [data, ...last], ending: [], repairs: [] })
  })

  test('a repaired stream keeps every other byte', () => {
    const data = '{ "id":"x","created":5 ,"model":"svc/alpha","choices":[{"delta":{"role":"assistant"},"x":1.0}]}'
    expect(stream([data]).texts).toEqual([
      '{ "id":"x","created":5 ,"model":"svc/alpha","choices":[{"delta":{"role":"assistant"},"x":1.0,"index":0}],' +
        '"object":"chat.completion.chunk"}',
    ])
  })

  const heads: [string, JsonObject, JsonObject, string[]][] = [
    ['no object', { object: undefined }, HEAD, ['object']],
    ['an empty object', { object: '' }, HEAD, ['object']],
    ['the object of an answer in one piece', { object: 'chat.completion' }, HEAD, ['object']],
    ['no id', { id: undefined }, { ...HEAD, id: 'chatcmpl-ours' }, ['id']],
    ['a null id', { id: null }, { ...HEAD, id: 'chatcmpl-ours' }, ['id']],
    ['no time', { created: undefined }, { ...HEAD, created: CONTEXT.created }, ['created']],
    ['a time as a text', { created: '1700000000' }, { ...HEAD, created: 1_700_000_000 }, ['created']],
    ['a fraction of a second', { created: 1_700_000_000.5 }, { ...HEAD, created: 1_700_000_000 }, ['created']],
  ]
  test.each(heads)('a stream with %s gets a valid value', (_name, broken, whole, fields) => {
    const { told, repairs } = stream([{ ...chunk(ROLE), ...broken }, ...LAST])
    expect(told[0]).toMatchObject(whole)
    expect(repairs).toEqual(fields)
  })

  test('chunks that do not belong to an answer are hidden', () => {
    const { told, repairs } = stream(['{}', '{"type":"ping"}', chunk(ROLE), ...LAST])
    expect(told).toHaveLength(3)
    expect(repairs).toEqual(['choices'])
  })

  test('a usage chunk without choices gets an empty list of them', () => {
    const { told } = stream([chunk(ROLE), chunk({}, 'stop'), { ...HEAD, usage: USAGE }])
    expect(told[2]).toEqual({ ...HEAD, usage: USAGE, choices: [] })
  })

  test('a chunk inside an array is unpacked', () => {
    const { told } = stream([JSON.stringify([chunk(ROLE)])])
    expect(told).toEqual([chunk(ROLE)])
  })

  test('each choice gets an index and a delta, even an empty one', () => {
    const choices: JsonValue = [{ delta: ROLE }, null, { index: 1, delta: null, content_filter_results: {} }]
    const { told, repairs } = stream([{ ...HEAD, choices }])
    expect(told[0].choices).toEqual([
      { index: 0, delta: ROLE },
      { index: 1, delta: ROLE, content_filter_results: {} },
    ])
    expect(repairs).toEqual(['choices', 'delta', 'finish_reason', 'index', 'usage'])
  })

  test('a whole message in place of a delta becomes a delta, unless it repeats content', () => {
    const message = { role: 'assistant', content: 'Hi' }
    const whole = { ...HEAD, choices: [{ index: 0, message, finish_reason: 'stop' }] }
    const { told } = stream([whole])
    expect(told[0].choices).toEqual([{ index: 0, finish_reason: 'stop', delta: message }])
    expect(stream([chunk({ ...ROLE, content: 'Hi' }), whole]).told[1].choices[0].delta).toEqual({})
  })

  test('the role is in the first delta of each choice only', () => {
    expect(deltas({ content: 'a' }, { role: '', content: 'b' }, { ...ROLE, content: 'c' }, { role: null })).toEqual({
      deltas: [{ content: 'a', role: 'assistant' }, { content: 'b' }, { content: 'c' }, { role: null }],
      repairs: ['role'],
    })
    expect(deltas({ role: 'model', content: 'a' }).deltas).toEqual([{ role: 'assistant', content: 'a' }])
  })

  test('content in parts becomes text, with reasoning in its usual field', () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ]
    expect(deltas({ ...ROLE, content: parts })).toEqual({
      deltas: [
        {
          ...ROLE,
          content: 'ab',
          reasoning_content: 'hm',
          images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
        },
      ],
      repairs: ['content'],
    })
    expect(deltas({ ...ROLE, content: { x: 1 } }).deltas).toEqual([{ ...ROLE, content: null }])
  })

  const reasons: [JsonValue | undefined, string | null][] = [
    ['', null],
    ['None', null],
    ['null', null],
    [false, null],
    ['eos', 'stop'],
    ['STOP', 'stop'],
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool_calls'],
    ['safety', 'content_filter'],
    ['error', 'error'],
    ['insufficient_system_resource', 'insufficient_system_resource'],
    ['function_call', 'function_call'],
  ]
  test.each(reasons)('finish reason %p is repaired to %p', (given, told) => {
    const { choices } = stream([chunk(ROLE, given)]).told[0]
    expect(choices[0].finish_reason).toBe(told)
  })

  test('log probabilities are repaired to an object or null', () => {
    const choices = [{ index: 0, delta: ROLE, logprobs: [], finish_reason: null }]
    expect(stream([{ ...HEAD, choices }]).told[0].choices[0].logprobs).toBeNull()
  })

  test('parts that are missing at the end are sent before the terminator', () => {
    const { ending, repairs } = stream([chunk(ROLE), chunk({ content: 'a' })], {}, { isTerminated: false })
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 }
    expect(ending.slice(0, 2).map((text) => JSON.parse(text))).toEqual([
      { ...HEAD, choices: [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }] },
      { ...HEAD, choices: [], usage: expect.objectContaining(usage) },
    ])
    expect(ending[2]).toBe('[DONE]')
    expect(repairs).toEqual(['finish_reason', 'usage'])
    expect(stream([chunk(ROLE), chunk({}, 'stop')], { wantsUsage: false }).ending).toEqual([])
  })

  test('invalid usage becomes null, and the charged usage is sent; a single total is completed', () => {
    for (const usage of [{}, [], '', { prompt_tokens: -1, completion_tokens: 1 }]) {
      const { told, ending } = stream([chunk(ROLE), chunk({}, 'stop', { usage })])
      expect(told[1].usage).toBeNull()
      expect(ending).toHaveLength(1)
    }
    const usage = { prompt_tokens: 3, completion_tokens: 4 }
    const { told, ending } = stream([chunk(ROLE), chunk({}, 'stop'), { ...HEAD, choices: [], usage }])
    expect([told[2].usage.total_tokens, ending]).toEqual([7, []])
  })

  test('usage in a chunk with choices moves into a last chunk, only for clients that requested it', () => {
    const stated = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3, cost: 0.5 }
    const chunks = [chunk(ROLE, null, { usage: { ...stated, total_tokens: 2 } }), chunk({}, 'stop', { usage: stated })]
    const asked = stream(chunks)
    expect(asked.told.map(({ usage }) => usage)).toEqual([null, null])
    expect(asked.ending.map((text) => JSON.parse(text))).toEqual([{ ...HEAD, choices: [], usage: stated }])
    const quiet = stream(chunks, { wantsUsage: false })
    expect([quiet.told.map(({ usage }) => usage), quiet.ending]).toEqual([[null, null], []])
  })

  test('usage in a provider’s own field moves to the standard one; early usage is replaced', () => {
    const groq = stream([chunk(ROLE), chunk({}, 'stop', { x_groq: { usage: USAGE } })])
    expect(groq.ending.map((text) => JSON.parse(text).usage)).toMatchObject([{ completion_tokens: 1 }])
    const early = stream([chunk(ROLE, null, { usage: USAGE }), chunk({}, 'stop')], {}, { isUsageStated: false })
    expect(early.ending.map((text) => JSON.parse(text).usage)).toMatchObject([{ completion_tokens: 1 }])
  })
})

describe('tool calls of a stream', () => {
  const calls = (...given: JsonObject[][]) => {
    const told = deltas(...given.map((tool_calls) => ({ tool_calls })))
    return { calls: told.deltas.map((delta) => delta.tool_calls), repairs: told.repairs }
  }

  test('valid tool calls of a stream are unchanged', () => {
    const given = [[fragment(0, 'a', 'f', '')], [more(0, '{}')], [fragment(1, 'b', 'f', '{}')]]
    expect(calls(...given)).toEqual({ calls: given, repairs: ['role'] })
  })

  test('tool calls without an index, or numbered from 1, are numbered from 0', () => {
    const { index: _, ...first } = fragment(0, 'a', 'f', '{')
    const { index: __, ...second } = fragment(0, 'b', 'f', '{}')
    expect(calls([first], [{ function: { arguments: '}' } }], [second]).calls).toEqual([
      [fragment(0, 'a', 'f', '{')],
      [more(0, '}')],
      [fragment(1, 'b', 'f', '{}')],
    ])
    expect(calls([fragment(1, 'a', 'f', '{}'), fragment(2, 'b', 'g', '{}')]).calls).toEqual([
      [fragment(0, 'a', 'f', '{}'), fragment(1, 'b', 'g', '{}')],
    ])
  })

  test('tool calls that share an index are separated', () => {
    expect(calls([fragment(0, 'a', 'f', '{}')], [fragment(0, 'b', 'f', '{}')]).calls).toEqual([
      [fragment(0, 'a', 'f', '{}')],
      [fragment(1, 'b', 'f', '{}')],
    ])
  })

  test('a tool call without an id gets one', () => {
    const { calls: told } = calls([fragment(0, '', 'f', '{')], [{ ...more(0, '}'), id: 'late' }])
    expect(told[0][0].id).toStartWith('call_')
    expect(told[1]).toEqual([more(0, '}')])
  })

  test('repeated ids, names and types of a call are sent once', () => {
    expect(calls([fragment(0, 'a', 'f', '{')], [fragment(0, 'a', 'f', '}')]).calls[1]).toEqual([
      { index: 0, type: 'function', function: { arguments: '}' } },
    ])
    expect(calls([fragment(0, 'a', 'f', '{')], [{ ...more(0, '}'), type: '' }]).calls[1]).toEqual([more(0, '}')])
  })

  test('tool calls have a type, a function, and text arguments', () => {
    const bare = { index: 0, id: 'a', function: { name: 'f', arguments: { q: 1 } } }
    expect(calls([bare]).calls).toEqual([[fragment(0, 'a', 'f', '{"q":1}')]])
    expect(calls([fragment(0, 'a', 'f', '{}')], [{ index: 0 }]).calls[1]).toEqual([more(0, '')])
  })

  test('tool call arguments that come before the name are sent with it', () => {
    expect(calls([more(0, '{"q"')], [fragment(0, 'a', 'f', ':1}')]).calls).toEqual([
      [],
      [fragment(0, 'a', 'f', '{"q":1}')],
    ])
  })

  test('a call without arguments ends with {}, which clients can parse', () => {
    const { told } = stream([chunk({ ...ROLE, tool_calls: [fragment(0, 'a', 'f', '')] }), chunk({}, 'tool_calls')])
    expect(told[1].choices[0].delta).toEqual({ tool_calls: [more(0, '{}')] })
    const once = stream([chunk({ ...ROLE, tool_calls: [fragment(0, 'a', 'f', '')] }, 'tool_calls')])
    expect(once.told[0].choices[0].delta.tool_calls).toEqual([fragment(0, 'a', 'f', ''), more(0, '{}')])
    const open = stream([chunk({ ...ROLE, tool_calls: [fragment(0, 'a', 'f', '')] })])
    expect(JSON.parse(open.ending[0] ?? '').choices[0]).toMatchObject({
      delta: { tool_calls: [more(0, '{}')] },
      finish_reason: 'tool_calls',
    })
  })

  test('tool calls that are not a list are dropped', () => {
    expect(deltas({ ...ROLE, tool_calls: {} }).deltas).toEqual([ROLE])
  })
})
