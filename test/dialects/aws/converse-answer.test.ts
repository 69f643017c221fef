/** Answers of Converse translated to messages, whole and streamed, compared with AWS’ own client. */
import { describe, expect, test } from 'bun:test'
import { targetOfEntry } from '@test/dialects/provider-entry'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { SseParser } from '@/lib/streams/sse'
import { readByAws } from './aws-libraries'
import { converseFrames, eventFrame, framed, USAGE } from './bedrock-frames'

const ENTRY = { format: 'messages', dialect: 'bedrock-converse', baseUrl: 'http://127.0.0.1:1', keys: ['k'] }
const { dialect } = targetOfEntry(ENTRY).provider
const B64 = Buffer.from('hidden').toString('base64')

/** The events of messages that a stream of these frames is, in pieces of `size` bytes. */
async function eventsOf(response: Response, size = 1_000_000) {
  const reading = dialect.readAnswer?.(response.headers)
  assert(reading?.kind === 'stream', 'it is a stream')
  const bytes = new Uint8Array(await response.arrayBuffer())
  let text = ''
  for (let at = 0; at < bytes.length; at += size) text += reading.push(bytes.subarray(at, at + size))
  text += reading.end()
  const events = new SseParser().push(new TextEncoder().encode(text))
  return events.map(({ event, data }) => {
    const json = parseJson(data ?? '')
    assert(isJsonObject(json) && json.type === event, 'an event says its name')
    return json
  })
}

const block = (index: number, start: JsonObject, ...deltas: JsonObject[]) => [
  { type: 'content_block_start', index, content_block: start },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const BEGUN = {
  type: 'message_start',
  message: {
    ...{ id: 'msg_request-1', type: 'message', role: 'assistant', model: 'bedrock', content: [] },
    ...{ stop_reason: null, stop_sequence: null },
  },
}
const ended = (reason: string, usage: JsonObject = { input_tokens: 20, output_tokens: 7 }) => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]
const text = (said: string) => ({ type: 'text_delta', text: said })

describe('E16: a stream of Converse', () => {
  test('E16: a text stream is read the same however it is split, and as by AWS’ own client', async () => {
    const frames = converseFrames('Hel', 'lo')
    const expected = [BEGUN, ...block(0, { type: 'text', text: '' }, text('Hel'), text('lo')), ...ended('end_turn')]
    for (const size of [1, 10, 1_000_000]) expect(await eventsOf(framed(...frames), size)).toEqual(expected)
    expect(await readByAws(framed(...frames), true)).toMatchObject([
      { messageStart: { role: 'assistant' } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hel' } } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'lo' } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason: 'end_turn' } },
      { metadata: { usage: USAGE } },
    ])
  })

  test('E16: a stream with citations, and with a picture in several chunks, is read', async () => {
    const delta = (contentBlockIndex: number, said: JsonObject) =>
      eventFrame('contentBlockDelta', { contentBlockIndex, delta: said })
    const bytes = Buffer.from('picture')
    const pieces = [bytes.subarray(0, 2), bytes.subarray(2)].map((piece) => ({
      image: { source: { bytes: piece.toString('base64') } },
    }))
    const frames = [
      eventFrame('messageStart', { role: 'assistant' }),
      delta(0, { text: 'cited' }),
      ...CITED.map((citation) => delta(0, { citation })),
      eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
      eventFrame('contentBlockStart', { contentBlockIndex: 1, start: { image: { format: 'jpeg' } } }),
      ...pieces.map((piece) => delta(1, piece)),
      eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
      eventFrame('messageStop', { stopReason: 'end_turn' }),
      eventFrame('metadata', { usage: USAGE }),
    ]
    const source = { type: 'base64', media_type: 'image/jpeg', data: bytes.toString('base64') }
    expect(await eventsOf(framed(...frames))).toEqual([
      BEGUN,
      ...block(
        0,
        { type: 'text', text: '' },
        text('cited'),
        ...CITATIONS.map((citation) => ({ type: 'citations_delta', citation })),
      ),
      ...block(1, { type: 'image', source }),
      ...ended('end_turn'),
    ])
  })

  test('E16: a stream with interleaved reasoning, text and two calls is read', async () => {
    const call = (toolUseId: string) => ({ toolUse: { toolUseId, name: 'weather' } })
    const delta = (contentBlockIndex: number, said: JsonObject) =>
      eventFrame('contentBlockDelta', { contentBlockIndex, delta: said })
    const stop = (contentBlockIndex: number) => eventFrame('contentBlockStop', { contentBlockIndex })
    const frames = [
      eventFrame('messageStart', { role: 'assistant' }),
      eventFrame('contentBlockStart', { contentBlockIndex: 0, start: {} }),
      delta(0, { reasoningContent: { text: 'Hm' } }),
      delta(0, { reasoningContent: { signature: 'sig' } }),
      stop(0),
      delta(1, { reasoningContent: { redactedContent: B64 } }),
      stop(1),
      delta(2, { text: 'Well' }),
      stop(2),
      eventFrame('contentBlockStart', { contentBlockIndex: 4, start: call('t1') }),
      eventFrame('contentBlockStart', { contentBlockIndex: 5, start: call('t2') }),
      delta(4, { toolUse: { input: '{"city":' } }),
      delta(5, { toolUse: { input: '' } }),
      delta(4, { toolUse: { input: '"Bern"}' } }),
      stop(4),
      stop(5),
      eventFrame('brandNew', { anything: 1 }),
      eventFrame('messageStop', { stopReason: 'tool_use' }),
      eventFrame('metadata', {
        usage: {
          ...USAGE,
          cacheReadInputTokens: 5,
          cacheWriteInputTokens: 9,
          cacheDetails: [{ ttl: '1h', inputTokens: 4 }],
        },
      }),
    ]
    const [first, second] = [
      block(3, { type: 'tool_use', id: 't1', name: 'weather', input: {} }),
      block(4, { type: 'tool_use', id: 't2', name: 'weather', input: {} }),
    ]
    const piece = (index: number, partial: string) => ({
      ...{ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: partial } },
    })
    expect(await eventsOf(framed(...frames))).toEqual([
      BEGUN,
      ...block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'signature_delta', signature: 'sig' },
      ),
      ...block(1, { type: 'redacted_thinking', data: B64 }),
      ...block(2, { type: 'text', text: '' }, text('Well')),
      ...[first?.[0], second?.[0]].flatMap((event) => event ?? []),
      ...[piece(3, '{"city":'), piece(4, ''), piece(3, '"Bern"}')],
      ...[first?.[1], second?.[1]].flatMap((event) => event ?? []),
      ...ended('tool_use', {
        ...{ input_tokens: 20, output_tokens: 7, cache_read_input_tokens: 5, cache_creation_input_tokens: 9 },
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 4 },
      }),
    ])
  })

  test('E16: usage may come before the stop reason, after it, or not at all', async () => {
    const stop = eventFrame('messageStop', { stopReason: 'max_tokens' })
    const metadata = eventFrame('metadata', { usage: USAGE })
    const begun = converseFrames('Hi').slice(0, 3)
    const whole = [BEGUN, ...block(0, { type: 'text', text: '' }, text('Hi'))]
    expect(await eventsOf(framed(...begun, metadata, stop))).toEqual([...whole, ...ended('max_tokens')])
    expect(await eventsOf(framed(...begun, stop))).toEqual([
      ...whole,
      { type: 'message_delta', delta: { stop_reason: 'max_tokens', stop_sequence: null } },
      { type: 'message_stop' },
    ])
  })

  test.each([
    ['end_turn', 'end_turn'],
    ['tool_use', 'tool_use'],
    ['max_tokens', 'max_tokens'],
    ['stop_sequence', 'stop_sequence'],
    ['model_context_window_exceeded', 'model_context_window_exceeded'],
    ['content_filtered', 'refusal'],
    ['guardrail_intervened', 'refusal'],
  ])('E16: stop reason %s becomes %s, as in a whole answer', async (reason, expected) => {
    const frames = [eventFrame('messageStop', { stopReason: reason }), eventFrame('metadata', { usage: USAGE })]
    expect((await eventsOf(framed(...frames))).slice(1)).toEqual(ended(expected))
    const whole = { output: { message: { role: 'assistant', content: [] } }, stopReason: reason, usage: USAGE }
    expect(readWhole(whole)?.stop_reason).toBe(expected)
  })

  test.each<[string, JsonObject[], JsonObject | undefined]>([
    ['nothing', [], undefined],
    ['five minutes', [{ ttl: '5m', inputTokens: 9 }], { ephemeral_5m_input_tokens: 9, ephemeral_1h_input_tokens: 0 }],
    ['an hour', [{ ttl: '1h', inputTokens: 9 }], { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 9 }],
  ])('E16: the cache lifetime is read if Converse states %s', (_, cacheDetails, expected) => {
    const usage = { ...USAGE, cacheWriteInputTokens: 9, cacheDetails }
    const whole = readWhole({ output: { message: { content: [] } }, stopReason: 'end_turn', usage })
    expect(whole).toMatchObject({
      usage: { cache_creation_input_tokens: 9, ...(expected && { cache_creation: expected }) },
    })
    if (!expected) expect(whole).not.toHaveProperty('usage.cache_creation')
  })

  test.each(['malformed_model_output', 'malformed_tool_use'])(
    'E16: stop reason %s counts as a failure',
    async (reason) => {
      const [event] = await eventsOf(framed(eventFrame('messageStop', { stopReason: reason })))
      expect(event).toMatchObject({ type: 'error', error: { type: 'api_error' } })
      expect(readWhole({ output: { message: { content: [] } }, stopReason: reason })).toBeUndefined()
    },
  )
})

const QUOTE = { title: 'T', sourceContent: [{ text: 'quote' }] }
const SPOT = { start: 1, end: 2 }
/** Places as Converse says them, and as messages does. */
const CITED = [
  { ...QUOTE, location: { web: { url: 'https://example.com/a', domain: 'example.com' } } },
  { ...QUOTE, source: 's', location: { searchResultLocation: { searchResultIndex: 3, ...SPOT } } },
  { ...QUOTE, location: { documentChar: { documentIndex: 1, ...SPOT } } },
  { ...QUOTE, location: { documentPage: { documentIndex: 1, ...SPOT } } },
  { ...QUOTE, location: { documentChunk: { documentIndex: 1, ...SPOT } } },
]
const DOCUMENT = { document_index: 1, document_title: 'T', cited_text: 'quote' }
const CITATIONS = [
  {
    ...{ type: 'web_search_result_location', url: 'https://example.com/a', title: 'T' },
    ...{ cited_text: 'quote', encrypted_index: 'svc.unsigned' },
  },
  {
    ...{ type: 'search_result_location', source: 's', title: 'T', search_result_index: 3 },
    ...{ cited_text: 'quote', start_block_index: 1, end_block_index: 2 },
  },
  { type: 'char_location', ...DOCUMENT, start_char_index: 1, end_char_index: 2 },
  { type: 'page_location', ...DOCUMENT, start_page_number: 1, end_page_number: 2 },
  { type: 'content_block_location', ...DOCUMENT, start_block_index: 1, end_block_index: 2 },
]

function readWhole(json: JsonObject) {
  const reading = dialect.readAnswer?.(new Headers({ 'x-amzn-requestid': 'request-1' }))
  assert(reading?.kind === 'whole', 'it is whole')
  return reading.read(json)
}

test('E16: a whole answer is read as by AWS’ own client', async () => {
  const content = [
    { reasoningContent: { reasoningText: { text: 'Hm', signature: 'sig' } } },
    { reasoningContent: { redactedContent: B64 } },
    { text: 'Well' },
    { citationsContent: { content: [{ text: 'a' }, { text: 'b' }], citations: [] } },
    { toolUse: { toolUseId: 't', name: 'weather', input: { city: 'Bern' } } },
    { citationsContent: { content: [{ text: 'cited' }], citations: CITED } },
    { image: { format: 'png', source: { bytes: B64 } } },
    { video: {} },
  ]
  const answer = { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use', usage: USAGE }
  expect(readWhole(answer)).toEqual({
    ...{ id: 'msg_request-1', type: 'message', role: 'assistant', model: 'bedrock' },
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 'sig' },
      { type: 'redacted_thinking', data: B64 },
      { type: 'text', text: 'Well' },
      { type: 'text', text: 'ab' },
      { type: 'tool_use', id: 't', name: 'weather', input: { city: 'Bern' } },
      { type: 'text', text: 'cited', citations: CITATIONS },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: B64 } },
    ],
    ...{ stop_reason: 'tool_use', stop_sequence: null, usage: { input_tokens: 20, output_tokens: 7 } },
  })
  const [read] = await readByAws(Response.json(answer), false)
  expect(read).toMatchObject({ stopReason: 'tool_use', usage: USAGE })
  expect(readWhole({ message: 'no answer' })).toBeUndefined()
})

test.each<[JsonObject, string | undefined]>([
  [{}, undefined],
  [{ serviceTier: { type: 'flex' } }, 'flex'],
  [{ serviceTier: { type: 'default' }, performanceConfig: { latency: 'standard' } }, 'default'],
  [{ serviceTier: { type: 'default' }, performanceConfig: { latency: 'optimized' } }, 'optimized'],
  [{ performanceConfig: { latency: 'optimized' } }, 'optimized'],
])('an answer with %j has the service tier %s, whole and streamed', async (said, tier) => {
  const message = { role: 'assistant', content: [{ text: 'Hi' }] }
  const whole = readWhole({ output: { message }, stopReason: 'end_turn', usage: USAGE, ...said })
  expect(isJsonObject(whole?.usage) && whole.usage.service_tier).toBe(tier as string)
  const frames = [...converseFrames('Hi').slice(0, -1), eventFrame('metadata', { usage: USAGE, ...said })]
  const told = (await eventsOf(framed(...frames))).find(({ type }) => type === 'message_delta')
  expect(isJsonObject(told?.usage) && told.usage.service_tier).toBe(tier as string)
})
