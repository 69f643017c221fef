/** Sources that an answer cites reach clients of every format, with their positions in the text if known. */
import { describe, expect, test } from 'bun:test'
import { createFolder } from '@/chat/fold'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { AnswerContext } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

const URL_OF_PAGE = 'https://example.com/weather'
const TEXT = 'Grüße: it is sunny today'
/** `sunny`, in UTF-16 units and in bytes. */
const [START, END] = [13, 18]
const [FIRST_BYTE, LAST_BYTE] = [15, 20]
const PLACED = { url: URL_OF_PAGE, title: 'Weather', start_index: START, end_index: END }

const context: AnswerContext = {
  ...{ id: 'req_1', model: 'svc/alpha', created: 1, wantsUsage: false, wantsReasoning: false, estimatedInputTokens: 1 },
}

const claudeCitation = {
  ...{ type: 'web_search_result_location', url: URL_OF_PAGE, title: 'Weather' },
  ...{ cited_text: 'Sunny.', encrypted_index: 'abc' },
}
const grounding = {
  groundingChunks: [{ web: { uri: URL_OF_PAGE, title: 'Weather' } }],
  groundingSupports: [
    { segment: { startIndex: FIRST_BYTE, endIndex: LAST_BYTE, text: 'sunny' }, groundingChunkIndices: [0] },
  ],
}

const WHOLE: Record<FormatName, JsonObject> = {
  'chat-completions': {
    choices: [
      {
        message: { content: TEXT, annotations: [{ type: 'url_citation', url_citation: PLACED }] },
        finish_reason: 'stop',
      },
    ],
  },
  messages: {
    ...{ type: 'message', role: 'assistant', stop_reason: 'end_turn' },
    content: [
      { type: 'text', text: TEXT.slice(0, START) },
      { type: 'text', text: TEXT.slice(START, END), citations: [claudeCitation] },
      { type: 'text', text: TEXT.slice(END) },
    ],
  },
  'generate-content': {
    candidates: [{ content: { parts: [{ text: TEXT }] }, finishReason: 'STOP', groundingMetadata: grounding }],
  },
  responses: {
    status: 'completed',
    output: [
      {
        ...{ type: 'message', role: 'assistant' },
        content: [{ type: 'output_text', text: TEXT, annotations: [{ type: 'url_citation', ...PLACED }] }],
      },
    ],
  },
}

const inChunk = (delta: JsonObject, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const at = { output_index: 0, content_index: 0, item_id: 'msg_1' }
const EVENTS: Record<FormatName, JsonObject[]> = {
  'chat-completions': [
    inChunk({ content: TEXT }),
    inChunk({ annotations: [{ type: 'url_citation', url_citation: PLACED }] }),
    inChunk({}, 'stop'),
  ],
  messages: [
    { type: 'message_start', message: { id: 'msg_1' } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } },
    { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: claudeCitation } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ],
  'generate-content': [
    { candidates: [{ content: { parts: [{ text: TEXT }] } }] },
    { candidates: [{ content: { parts: [{ text: '', thoughtSignature: 'c2ln' }] } }] },
    // Behind its text: a proof has closed it.
    { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP', groundingMetadata: grounding }] },
  ],
  responses: [
    { type: 'response.created', response: { id: 'resp_1' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1', content: [] } },
    { type: 'response.output_text.delta', ...at, delta: TEXT },
    {
      ...{ type: 'response.output_text.annotation.added', ...at },
      ...{ annotation_index: 0, annotation: { type: 'url_citation', ...PLACED } },
    },
    { type: 'response.output_text.done', ...at, text: TEXT },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } },
  ],
}

function formatNamed(name: FormatName) {
  const format = FORMATS.get(name)
  assert(format, 'the format is known')
  return format
}

function whole(provider: FormatName, client: FormatName): JsonObject {
  const response = formatNamed(provider).decodeResponse(WHOLE[provider])
  assert(response, 'it is an answer')
  return formatNamed(client).encodeResponse(response, context)
}

function eventsOf(provider: FormatName) {
  const decoder = formatNamed(provider).createStreamDecoder()
  const events = EVENTS[provider].flatMap((json) =>
    decoder.push(
      { event: typeof json.type === 'string' ? json.type : undefined, data: JSON.stringify(json), raw: '' },
      json,
    ),
  )
  return [...events, ...decoder.end()]
}

function streamed(provider: FormatName, client: FormatName): JsonObject[] {
  const encoder = formatNamed(client).createStreamEncoder(context)
  const frames = [...eventsOf(provider).flatMap((event) => encoder.push(event)), ...encoder.end()]
  return frames.map(({ data }) => parseJson(data ?? '')).filter(isJsonObject)
}

/** All objects inside that have the page's address, by the field of the format that has it. */
function citing(value: unknown, field: string): JsonObject[] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap((inner) => citing(inner, field))
  return field in value && (value as JsonObject)[field] === URL_OF_PAGE ? [value as JsonObject, ...inside] : inside
}

const PAIRS = FORMAT_NAMES.flatMap((provider) => FORMAT_NAMES.map((client) => ({ provider, client })))

describe.each(PAIRS)('from $provider to $client', ({ provider, client }) => {
  test('a whole answer has its sources and the text that uses them', () => {
    const answer = whole(provider, client)
    const [source] = citing(answer, client === 'generate-content' ? 'uri' : 'url')
    expect(source).toMatchObject({ title: 'Weather' })
    if (client === 'chat-completions') expect(source).toEqual(PLACED)
    // Each part of a response is a text of its own, and counts from its own beginning.
    if (client === 'responses') {
      const start = provider === 'messages' ? 0 : START
      expect(source).toEqual({ type: 'url_citation', ...PLACED, start_index: start, end_index: start + END - START })
    }
    if (client === 'generate-content') expect(answer.candidates).toMatchObject([{ groundingMetadata: grounding }])
    if (client === 'messages') expect(source).toMatchObject({ type: 'web_search_result_location' })
  })

  test('a stream has its sources', () => {
    const frames = streamed(provider, client)
    const [source] = citing(frames, client === 'generate-content' ? 'uri' : 'url')
    expect(source).toMatchObject({ title: 'Weather' })
    const isPlaced = provider === 'chat-completions' || provider === 'responses'
    if (client === 'chat-completions' || client === 'responses') {
      expect(source).toMatchObject(isPlaced ? PLACED : { start_index: 0, end_index: 0 })
    }
    if (client === 'messages') {
      // An empty text would be refused when it is sent back.
      const texts = frames.filter(({ delta }) => isJsonObject(delta) && delta.type === 'text_delta')
      const starts = frames.filter(({ content_block: block }) => isJsonObject(block) && block.type === 'text')
      expect(texts.length).toBeGreaterThanOrEqual(starts.length)
    }
  })

  test('a stream folded into a whole answer has its sources with their text', () => {
    const folder = createFolder()
    for (const event of eventsOf(provider)) folder.push(event)
    const answer = formatNamed(client).encodeResponse(folder.response(), context)
    expect(citing(answer, client === 'generate-content' ? 'uri' : 'url')).toHaveLength(1)
  })
})

test('citations written by the gateway are not sent back to a messages provider', () => {
  const written = whole('chat-completions', 'messages').content as JsonObject[]
  const cited = { type: 'text', text: 'Found', citations: [claudeCitation] }
  const body = {
    ...{ model: 'svc/alpha', max_tokens: 10 },
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [...written, cited] },
      { role: 'user', content: 'Go on' },
    ],
  }
  const { decodeRequest, passThrough } = formatNamed('messages')
  const traits = { model: 'm', maxOutputTokens: 100, quirks: new Set<string>(), accountId: 'acc_1' }
  const sent = passThrough.request(body, decodeRequest(body, {}), traits)
  expect(sent.messages).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'text', text: TEXT }, cited] },
    { role: 'user', content: 'Go on' },
  ])
})
