/** A request to a provider is at most twice as long as the caller's, for every pair of formats and every quirk. */
import { describe, expect, test } from 'bun:test'
import { targetOfEntry } from '@test/dialects/provider-entry'
import { fc } from '@test/support/property'
import { GatewayError } from '@/chat/error'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { Dialect } from '@/dialects/dialect'
import { QUIRKS as CHAT_QUIRKS } from '@/formats/chat-completions/provider'
import { QUIRKS as GENERATE_QUIRKS } from '@/formats/generate-content/provider'
import { FORMATS } from '@/formats/index'
import { QUIRKS as MESSAGES_QUIRKS } from '@/formats/messages/provider'
import { QUIRKS as RESPONSES_QUIRKS } from '@/formats/responses/provider'
import { fitToolNames } from '@/formats/tool-names'
import { assert } from '@/lib/assert'
import type { JsonObject, JsonValue } from '@/lib/json'
import { parseAsWritten } from '@/lib/json-source/as-written'

const QUIRKS: Record<FormatName, readonly string[]> = {
  'chat-completions': Object.values(CHAT_QUIRKS),
  'generate-content': Object.values(GENERATE_QUIRKS),
  messages: Object.values(MESSAGES_QUIRKS),
  responses: Object.values(RESPONSES_QUIRKS),
}
/** What is said around a conversation, and around each part of it, whatever it holds. */
const AROUND_ALL = 10_000
const AROUND_EACH = 160

/** A conversation in no format's words. */
type Talk = { system: string; tools: Tool[]; turns: Turn[]; schema?: JsonObject }
type Tool = { name: string; parameters: JsonObject }
type Turn =
  | { file: string; mediaType: string }
  | { text: string }
  | { call: string; id: string; arguments: JsonObject }
  | { result: string; id: string }

/** The parts of a conversation. */
const partsOf = ({ tools, turns }: Talk) => tools.length + turns.length

type FileTurn = Extract<Turn, { file: string }>
const isPicture = ({ mediaType }: FileTurn) => mediaType.startsWith('image/')
const dataUrl = ({ file, mediaType }: FileTurn) => `data:${mediaType};base64,${file}`

function chatFile(turn: FileTurn): JsonObject {
  if (isPicture(turn)) return { type: 'image_url', image_url: { url: dataUrl(turn) } }
  return { type: 'file', file: { filename: 'a', file_data: dataUrl(turn) } }
}

function messagesFile(turn: FileTurn): JsonObject {
  const { file, mediaType } = turn
  if (mediaType.startsWith('text/')) {
    const data = Buffer.from(file, 'base64').toString()
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data } }
  }
  const source = { type: 'base64', media_type: mediaType, data: file }
  return { type: isPicture(turn) ? 'image' : 'document', source }
}

function responsesFile(turn: FileTurn): JsonObject {
  if (isPicture(turn)) return { type: 'input_image', image_url: dataUrl(turn) }
  return { type: 'input_file', filename: 'a', file_data: dataUrl(turn) }
}

const WRITERS: Record<FormatName, (talk: Talk) => JsonObject> = {
  'chat-completions': ({ system, tools, turns, schema }) => ({
    model: 'm',
    messages: [
      { role: 'system', content: system },
      ...turns.map((turn): JsonObject => {
        if ('text' in turn) return { role: 'user', content: turn.text }
        if ('file' in turn) return { role: 'user', content: [chatFile(turn)] }
        if ('result' in turn) return { role: 'tool', tool_call_id: turn.id, content: turn.result }
        const call = { name: turn.call, arguments: JSON.stringify(turn.arguments) }
        return { role: 'assistant', tool_calls: [{ id: turn.id, type: 'function', function: call }] }
      }),
    ],
    tools: tools.map((tool) => ({ type: 'function', function: tool })),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } }),
  }),
  messages: ({ system, tools, turns, schema }) => ({
    model: 'm',
    max_tokens: 100,
    system,
    messages: turns.map((turn): JsonObject => {
      if ('text' in turn) return { role: 'user', content: turn.text }
      if ('file' in turn) return { role: 'user', content: [messagesFile(turn)] }
      if ('result' in turn)
        return { role: 'user', content: [{ type: 'tool_result', tool_use_id: turn.id, content: turn.result }] }
      return { role: 'assistant', content: [{ type: 'tool_use', id: turn.id, name: turn.call, input: turn.arguments }] }
    }),
    tools: tools.map(({ name, parameters }) => ({ name, input_schema: { type: 'object', ...parameters } })),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
  }),
  'generate-content': ({ system, tools, turns, schema }) => ({
    systemInstruction: { parts: [{ text: system }] },
    contents: turns.map((turn): JsonObject => {
      if ('text' in turn) return { role: 'user', parts: [{ text: turn.text }] }
      if ('file' in turn)
        return { role: 'user', parts: [{ inlineData: { mimeType: turn.mediaType, data: turn.file } }] }
      if ('result' in turn)
        return { role: 'user', parts: [{ functionResponse: { name: 'f', id: turn.id, response: { r: turn.result } } }] }
      return { role: 'model', parts: [{ functionCall: { id: turn.id, name: turn.call, args: turn.arguments } }] }
    }),
    tools: [
      { functionDeclarations: tools.map(({ name, parameters }) => ({ name, parametersJsonSchema: parameters })) },
    ],
    ...(schema && { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } }),
  }),
  responses: ({ system, tools, turns, schema }) => ({
    model: 'm',
    instructions: system,
    input: turns.map((turn): JsonObject => {
      if ('text' in turn) return { role: 'user', content: turn.text }
      if ('file' in turn) return { role: 'user', content: [responsesFile(turn)] }
      if ('result' in turn) return { type: 'function_call_output', call_id: turn.id, output: turn.result }
      const written = JSON.stringify(turn.arguments)
      return { type: 'function_call', call_id: turn.id, name: turn.call, arguments: written }
    }),
    tools: tools.map(({ name, parameters }) => ({ type: 'function', name, parameters })),
    ...(schema && { text: { format: { type: 'json_schema', name: 'a', schema } } }),
  }),
}

const AWS = { type: 'aws', region: 'eu-west-1', accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' }
/** The clouds that say a format in words of their own. */
const ENVELOPES: Partial<Record<FormatName, NonNullable<Dialect['envelope']>[]>> = {
  messages: ['bedrock-invoke', 'bedrock-converse'].flatMap((dialect) => {
    const entry = { format: 'messages', dialect, baseUrl: 'http://127.0.0.1:1', auth: AWS }
    return targetOfEntry(entry).provider.dialect.envelope ?? []
  }),
}

/** How long it is; as the format has it, or in the longest words of a cloud. */
function lengthOf(provider: FormatName, body: JsonObject): number {
  const sealed = (ENVELOPES[provider] ?? []).flatMap((envelope) => {
    try {
      return [envelope(body, {}, 'anthropic.claude').body]
    } catch (error) {
      if (error instanceof GatewayError) return []
      throw error
    }
  })
  // Converse has a schema as a text: its quotes are escaped on the way alone.
  const told = (key: string, value: JsonValue) =>
    key === 'schema' && typeof value === 'string' ? (JSON.parse(value) as JsonValue) : value
  return Math.max(...[body, ...sealed].map((one) => Buffer.byteLength(JSON.stringify(one, told))))
}

/** What a provider is sent for a body, by each of its format's quirks and all of them; undefined if that is refused. */
function sentFor(client: FormatName, provider: FormatName, text: string): (number | undefined)[] {
  const [from, to] = [FORMATS.get(client), FORMATS.get(provider)]
  assert(from && to, 'both formats are known')
  return [[], ...QUIRKS[provider].map((quirk) => [quirk]), QUIRKS[provider]].map((quirks) => {
    try {
      const body = parseAsWritten(text) as JsonObject
      const asked = from.decodeRequest(body, { model: 'm', stream: false })
      const request = fitToolNames(asked, to.toolNames)?.request ?? asked
      const traits = { model: 'm', maxOutputTokens: 1_000, quirks: new Set(quirks), accountId: 'a' }
      const sent = from === to ? from.passThrough.request(body, asked, traits) : to.encodeRequest(request, traits).body
      return lengthOf(provider, sent)
    } catch (error) {
      if (error instanceof GatewayError) return undefined
      throw error
    }
  })
}

const PAIRS = FORMAT_NAMES.flatMap((client) => FORMAT_NAMES.map((provider) => [client, provider] as const))
const many = <Item>(length: number, itemAt: (at: number) => Item) => Array.from({ length }, (_, at) => itemAt(at))
const call = (at: number, name: string, value: JsonValue = 1): Turn => ({
  call: name,
  id: `c${at}`,
  arguments: { a: value },
})
const nested: JsonObject = { d9: { type: 'string', description: 'long '.repeat(30) } }
for (let level = 0; level < 9; level++) {
  const next = { $ref: `#/$defs/d${level + 1}` }
  nested[`d${level}`] = { type: 'object', properties: { a: next, b: next, c: next } }
}
const tree: JsonObject = { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: nested }
const MEDIA_TYPES = ['image/png', 'application/pdf', 'text/plain']
const plain: Talk = { system: 's', tools: [], turns: [{ text: 'hello' }] }

/** By what few bytes could become many. */
const WAYS: Record<string, Talk> = {
  'nested references in many tools': { ...plain, tools: many(100, (at) => ({ name: `t${at}`, parameters: tree })) },
  'nested references in the schema of the answer': { ...plain, schema: tree },
  'a long name of a call with many results': {
    ...plain,
    turns: [{ text: 'a' }, call(0, 'n'.repeat(60)), ...many(2_000, (): Turn => ({ result: 'r', id: 'c0' }))],
  },
  'calls of a strange name': { ...plain, turns: [{ text: 'a' }, ...many(1_000, (at) => call(at, 'a.b'))] },
  'quotes in arguments': { ...plain, turns: [{ text: 'a' }, call(0, 'a', '"\\'.repeat(50_000))] },
  'quotes in results': { ...plain, turns: [{ text: 'a' }, call(0, 'a'), { result: '"\\'.repeat(50_000), id: 'c0' }] },
  'a result that is JSON': {
    ...plain,
    turns: [{ text: 'a' }, call(0, 'a'), { result: JSON.stringify(many(9_000, (at) => ({ at }))), id: 'c0' }],
  },
  'many small pictures and files': {
    ...plain,
    turns: many(300, (at): Turn => ({ file: 'AAAA', mediaType: MEDIA_TYPES[at % MEDIA_TYPES.length] ?? '' })),
  },
  'large files': {
    ...plain,
    turns: MEDIA_TYPES.map(
      (mediaType): Turn => ({ file: Buffer.alloc(90_000, 'text ').toString('base64'), mediaType }),
    ),
  },
  'lone surrogates and control characters': { ...plain, system: '\ud800\u0001'.repeat(10_000) },
  'closed objects': {
    ...plain,
    schema: {
      type: 'object',
      properties: Object.fromEntries(many(900, (at) => [`p${at}`, { type: 'object', description: 'what it is' }])),
    },
  },
  'what is not enforced': {
    ...plain,
    schema: { type: 'object', properties: { a: { type: 'string', 'x"': '"'.repeat(30_000) } } },
  },
}

describe('size of a provider’s body', () => {
  test.each(Object.entries(WAYS))(
    'a provider’s body is at most twice the caller’s, for %s, in every pair',
    (_, talk) => {
      for (const [client, provider] of PAIRS) expectBounded(client, provider, talk)
    },
  )

  const word = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 9 }))
  const { schema } = fc.letrec<{ schema: JsonObject; full: JsonObject }>((tie) => ({
    schema: fc.oneof({ maxDepth: 3, depthSize: 'small' }, fc.constant<JsonObject>({ type: 'string' }), tie('full')),
    full: fc.record(
      {
        type: fc.constantFrom<JsonValue[]>('string', 'object', 'array', ['string', 'number', 'null'], 'number'),
        description: word,
        enum: fc.array(word, { maxLength: 4 }),
        properties: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('schema'), { maxKeys: 3 }),
        items: tie('schema'),
        anyOf: fc.array(tie('schema'), { maxLength: 3 }),
        allOf: fc.array(tie('schema'), { maxLength: 3 }),
        $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#/properties/a'),
        $defs: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
        pattern: word,
        not: tie('schema'),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<JsonObject>,
  }))
  const id = fc.constantFrom('c0', 'c1', 'c2')
  const talk: fc.Arbitrary<Talk> = fc.record(
    {
      system: word,
      tools: fc.array(fc.record({ name: fc.constantFrom('get', 'a.b', 'n'.repeat(64)), parameters: schema }), {
        maxLength: 6,
      }),
      turns: fc.array(
        fc.oneof(
          fc.record({ text: word }),
          fc.record({ call: fc.constantFrom('get', 'a.b'), id, arguments: fc.dictionary(word, word) }),
          fc.record({ result: word, id }),
          fc.record({ file: fc.base64String({ maxLength: 40 }), mediaType: fc.constantFrom(...MEDIA_TYPES) }),
        ),
        { minLength: 1, maxLength: 20 },
      ),
      schema,
    },
    { requiredKeys: ['system', 'tools', 'turns'] },
  )

  test('a provider’s body is at most twice the size of the caller’s', () => {
    fc.assert(
      fc.property(talk, fc.constantFrom(...PAIRS), (said, [client, provider]) => {
        expectBounded(client, provider, said)
      }),
      { numRuns: 400 },
    )
  })
})

function expectBounded(client: FormatName, provider: FormatName, talk: Talk): void {
  const text = JSON.stringify(WRITERS[client](talk))
  const most = 2 * Buffer.byteLength(text) + AROUND_ALL + AROUND_EACH * partsOf(talk)
  for (const sent of sentFor(client, provider, text))
    if (sent !== undefined) expect([client, provider, sent]).toEqual([client, provider, Math.min(sent, most)])
}
