/** responses on both sides: fields that the provider is not sent, and repaired answers, checked with the strictest client. */
import { describe, expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import { decodeRequest } from '@/formats/responses/client-side/decode-request'
import { passThrough } from '@/formats/responses/pass-through'
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@/lib/json'
import { pass, readByLibrary } from './passing'
import {
  BEGINNING,
  CONTEXT,
  callItem,
  completed,
  event,
  RESPONSE,
  textItem,
  thoughtItem,
  traitsWith,
  USAGE,
} from './support'

function send(fields: JsonObject, ...quirks: string[]): JsonObject {
  const body = { model: 'svc/alpha', input: 'hi', ...fields }
  const before = structuredClone(body)
  const sent = passThrough.request(body, decodeRequest(body), traitsWith(...quirks))
  expect(body).toEqual(before)
  return sent
}

const INCLUDE = ['reasoning.encrypted_content']
const BASE = { model: 'alpha-2026-01', input: 'hi', store: false, include: INCLUDE }
const USER = { role: 'user', content: 'go on' }

describe('a request', () => {
  test('a passed-through request is unchanged, but the provider stores nothing', () => {
    const fields = {
      instructions: 'Be kind.',
      text: { verbosity: 'low' },
      reasoning: { effort: 'low' },
      truncation: 'auto',
    }
    const own = { fallback: ['svc/beta'], svc: { quality: 0.5 }, client_metadata: { a: 'b' }, background: false }
    expect(send({ ...fields, ...own, store: true, include: [] })).toEqual({ ...BASE, ...fields })
  })

  test('a passed-through request asks once for encrypted reasoning and for extras that the model supports', () => {
    expect(send({ include: INCLUDE }).include).toEqual(INCLUDE)
    const asked = {
      include: [...INCLUDE, 'message.output_text.logprobs'],
      reasoning: { effort: 'low' },
      temperature: 1,
    }
    const sent = send({ ...asked, text: { verbosity: 'low' } }, 'no-reasoning', 'no-sampling', 'no-verbosity')
    expect(sent).toEqual({ ...BASE, include: ['message.output_text.logprobs'], text: {} })
  })

  test('a passed-through request has the paid output limit and number of tool uses', () => {
    const body = { model: 'svc/alpha', input: 'hi', max_output_tokens: 9_000, max_tool_calls: 90 }
    const request = { ...decodeRequest(body), maxOutputTokens: 500 }
    const traits = { ...traitsWith(), toolLimits: new Map([['web_search', 5]]) }
    expect(passThrough.request(body, request, traits)).toMatchObject({ max_output_tokens: 500, max_tool_calls: 5 })
  })

  test('item ids and other providers’ reasoning are removed, and a thought stays before its tool result', () => {
    const thought = (id: string, encrypted: string | null, more = {}) => ({
      ...{ type: 'reasoning', id, summary: [{ type: 'summary_text', text: 'S' }], encrypted_content: encrypted },
      ...more,
    })
    const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'ok' }
    const open = { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'T' }] }
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const { input } = send({
      input: [
        { ...USER, id: 'msg_u' },
        thought('rs_1', 'gAAA'),
        { ...call, id: 'fc_1' },
        { ...output, id: 'fco_1' },
        thought('rs_2', 'svc1.messages.c2ln'),
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'A', annotations: [] }],
        },
        { ...open, id: 'rs_3' },
        search,
        thought('rs_4', null, { content: null }),
        thought('rs_5', 'gBBB'),
        USER,
      ],
    })
    expect(input as JsonValue[]).toEqual([
      USER,
      thought('rs_1', 'gAAA'),
      call,
      output,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A', annotations: [] }] },
      open,
      search,
      USER,
    ])
  })

  test('call ids are shortened, and are equal for call and output', () => {
    const id = 'x'.repeat(80)
    const [call, output] = send({
      input: [
        { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: 'ok' },
      ],
    }).input as JsonObject[]
    expect(String(call?.call_id).length).toBeLessThanOrEqual(64)
    expect(output?.call_id).toBe(call?.call_id as string)
  })
})

const FULL = [
  ...BEGINNING,
  ...thoughtItem(0, ['So.']),
  ...textItem(1, ['Hel', 'lo']),
  ...callItem(2, 'f', ['{"a"', ':1}']),
].map((one, index) => ({ ...one, sequence_number: index, obfuscation: 'x' }))
const OUTPUT = FULL.flatMap((one: JsonObject) =>
  one.type === 'response.output_item.done' && one.item ? [one.item] : [],
)
const WHOLE = [...FULL, completed(OUTPUT)]

describe('a stream', () => {
  test('a valid stream is unchanged except answer id and model', async () => {
    const { events, repairs } = pass(WHOLE)
    expect(repairs).toEqual([])
    const ours = (one: JsonObject) =>
      isJsonObject(one.response) ? { ...one, response: { ...one.response, id: 'resp_ours', model: 'svc/alpha' } } : one
    expect(events).toEqual(WHOLE.map(ours))
    expect(await readByLibrary(events)).toMatchObject({ id: 'resp_ours', output_text: 'Hello' })
  })

  test('a passed-through stream keeps every other byte, and repeats the caller’s request', () => {
    const echo = { id: 'resp_mine', store: true, tools: [{ type: 'function', name: 'f' }], temperature: 0.5 }
    const data =
      '{ "type":"response.in_progress","response":{"id":"r","object":"response","created_at":1.50,"model":"m" ,"tools":[],"temperature":1.0}}'
    const { sent } = pass([...BEGINNING.slice(0, 1), data], { ...CONTEXT, answerEcho: echo })
    expect(sent[1]).toBe(
      '{ "type":"response.in_progress","response":{"id":"resp_mine","object":"response","created_at":1.50,"model":"svc/alpha" ,"tools":[{"type":"function","name":"f"}],"temperature":1.0,"store":true}}',
    )
  })

  test('events that break clients are hidden, and errors get the gateway’s text', async () => {
    const noise = ['[DONE]', 'oops', {}, { type: 'ping' }, { type: 'response.foo' }, { type: 'error', message: 'x' }]
    const { events, repairs } = pass([...FULL.slice(0, 1), ...noise, ...FULL, completed(OUTPUT)])
    expect(events.map(({ type }) => type)).toEqual(WHOLE.map(({ type }: JsonObject) => type))
    expect(repairs).toEqual(['type'])
    await readByLibrary(events)
    expect(pass([event('failed', { response: RESPONSE })]).events).toEqual([])
  })

  const without = (pattern: RegExp) => WHOLE.filter(({ type }: JsonObject) => !pattern.test(String(type)))
  test.each<[string, JsonObject[]]>([
    ['its start events', without(/created|in_progress/)],
    ['`created` alone', without(/created/)],
    ['beginnings of items', without(/item\.added/)],
    ['beginnings of parts', without(/part\.added/)],
    ['any start event', without(/added|created|in_progress/)],
    ['any delta event', without(/delta/)],
    ['all events but those of done items', without(/delta|added|text|part|arguments/)],
  ])('a stream without %s is completed for the library', async (_, list) => {
    const { events } = pass(list)
    const response = await readByLibrary(events)
    expect(response.output_text).toBe('Hello')
    expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
  })

  test('changing or missing item ids are replaced by the first one', async () => {
    for (const idOf of [(index: number) => `x${index}`, () => undefined, () => '']) {
      const list = WHOLE.map((one: JsonObject, index) => ({
        ...one,
        ...(one.item_id !== undefined && { item_id: idOf(index) }),
        ...(isJsonObject(one.item) && { item: { ...one.item, id: idOf(index) } }),
      }))
      const { events, repairs } = pass(list)
      expect(repairs).toEqual(['id'])
      expect((await readByLibrary(events)).output_text).toBe('Hello')
    }
  })

  test('event numbers count on after inserted events', async () => {
    const numbered = (list: readonly JsonObject[]) => list.map((one, index) => ({ ...one, sequence_number: index }))
    const list = [...textItem(0, ['Hel', 'lo']).slice(2), ...callItem(1, 'f', ['{}']), completed([])]
    const { events } = pass(numbered(list))
    expect(events).toHaveLength(list.length + 3)
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
    expect((await readByLibrary(events)).output_text).toBe('Hello')
    const unnumbered = pass(list).events
    expect(unnumbered.slice(0, 4).map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, undefined])
  })

  test('only complete annotations of known kinds are kept', () => {
    const [added, part, delta, done, partDone, itemDone] = textItem(0, ['See.'])
    const at = { output_index: 0, item_id: 'msg_0', content_index: 0 }
    const cited = { type: 'url_citation', url: 'https://example.com' }
    const tell = (annotation: JsonObject) => event('output_text.annotation.added', { ...at, annotation })
    const whole = { type: 'output_text', text: 'See.', annotations: [cited, { type: 'x_post' }, { type: 'file_path' }] }
    const { events, repairs } = pass([
      ...BEGINNING,
      ...[added, part, delta, tell(cited), tell({ type: 'x_post' }), done].filter((one) => one !== undefined),
      { ...partDone, part: whole },
      { ...itemDone, item: { type: 'message', id: 'msg_0', role: 'assistant', status: 'completed', content: [whole] } },
      completed([]),
    ])
    const full = { ...cited, title: '', start_index: 0, end_index: 0 }
    expect(events.flatMap(({ annotation }) => (annotation ? [annotation] : []))).toEqual([full])
    expect(events.at(-3)).toMatchObject({ part: { annotations: [full] } })
    expect(events.at(-2)).toMatchObject({ item: { content: [{ annotations: [full] }] } })
    expect(events.at(-1)).toMatchObject({ response: { output: [{ content: [{ annotations: [full] }] }] } })
    expect(repairs).toEqual(['annotations', 'output', 'type'])
  })

  test('a stream gets the missing output, counts and fields that clients need', async () => {
    const bare = event('completed', { response: { status: 'completed', usage: { input_tokens: 3, output_tokens: 4 } } })
    const { events, repairs } = pass([...FULL, bare])
    expect(repairs).toEqual(['created', 'object', 'output', 'usage'])
    expect(events.at(-1)).toMatchObject({
      response: {
        ...{ id: 'resp_ours', object: 'response', created_at: CONTEXT.created, model: 'svc/alpha', output: OUTPUT },
        usage: {
          ...{ input_tokens: 3, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 } },
          ...{ output_tokens: 4, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 7 },
        },
      },
    })
    const silent = pass([...FULL, completed(OUTPUT, { usage: undefined })]).events.at(-1)
    expect(silent).toMatchObject({ response: { usage: { input_tokens: 2, output_tokens: 1 } } })
    expect((await readByLibrary(events)).output_text).toBe('Hello')
  })

  test('tool calls of a stream are complete enough for clients to run them', () => {
    const [added, , ...rest] = callItem(0, 'f', [''])
    const { events, repairs } = pass([
      ...BEGINNING,
      ...[added, ...rest].filter((one) => one !== undefined),
      completed(),
    ])
    expect(repairs).toEqual(['arguments', 'output'])
    expect(events.slice(-3)).toMatchObject([
      { arguments: '{}' },
      { item: { arguments: '{}' } },
      { response: { output: [{ arguments: '{}' }] } },
    ])
  })
})

describe('an answer in one piece', () => {
  function passWhole(json: JsonObject) {
    const hooks = passHooks({ uncached: 2, output: 1 })
    const text = passThrough.response(JSON.stringify(json), json, CONTEXT, hooks)
    return { answer: parseJson(text) as JsonObject, repairs: hooks.repairs }
  }

  test('a valid whole answer is unchanged', () => {
    const json = { ...RESPONSE, status: 'completed', output: OUTPUT, usage: USAGE, extra: 1 }
    const { answer, repairs } = passWhole(json)
    expect(repairs).toEqual([])
    expect(answer).toEqual({ ...json, id: 'resp_ours', model: 'svc/alpha' })
  })

  test('an invalid whole answer is repaired item by item', () => {
    const output = [
      null,
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'x' },
      { type: 'message', id: '', role: 'assistant', status: 'complete', content: [{ type: 'output_text', text: 'A' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: { a: 1 } },
    ]
    const { answer, repairs } = passWhole({ ...RESPONSE, output })
    expect(repairs).toEqual(['annotations', 'arguments', 'id', 'output', 'status', 'summary', 'usage'])
    expect(answer).toMatchObject({
      output: [
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'x', summary: [] },
        { type: 'message', id: expect.stringMatching(/^msg_/), status: 'completed', content: [{ annotations: [] }] },
        { type: 'function_call', status: 'completed', arguments: '{"a":1}' },
      ],
      usage: { input_tokens: 2, output_tokens: 1, total_tokens: 3 },
    })
  })
})
