/** Properties for random input: no codec throws, bytes may be split anywhere, and encoding and decoding keep the meaning. */
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { passHooks } from '@test/formats/pass-hooks'
import { fc } from '@test/support/property'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import { chatCompletions } from '@/formats/chat-completions/index'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { CONTEXT, decodeChunks, decodePieces, fixtureBytes, fold, traitsWith } from './support'

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>
const word = fc.oneof(fc.constantFrom('', 'a', 'b', '{', '}', '{"x":1}', 'stop', 'tool_calls'), json)
const fragment = fc.record(
  {
    index: fc.oneof(fc.constantFrom(0, 1, -1, 1.5), json),
    id: word,
    function: fc.oneof(fc.record({ name: word, arguments: word }, { requiredKeys: [] }), json),
    custom: json,
    extra_content: fc.oneof(json, fc.constant({ google: { thought_signature: 'c2ln' } })),
  },
  { requiredKeys: [] },
)
const delta = fc.record(
  {
    content: fc.oneof(
      word,
      fc.array(fc.record({ type: fc.constantFrom('text', 'thinking'), text: word, thinking: word })),
    ),
    reasoning: word,
    reasoning_content: word,
    refusal: word,
    tool_calls: fc.oneof(fc.array(fc.oneof(fragment, json), { maxLength: 3 }), json),
    function_call: json,
    images: json,
  },
  { requiredKeys: [] },
)
const choice = fc.record(
  { index: fc.oneof(fc.constantFrom(0, 1), json), delta: fc.oneof(delta, json), message: delta, finish_reason: word },
  { requiredKeys: [] },
)
const chunk = fc.record(
  {
    choices: fc.oneof(fc.array(fc.oneof(choice, json), { maxLength: 3 }), json),
    usage: json,
    model: json,
    id: json,
    x_groq: json,
  },
  { requiredKeys: [] },
)

describe('decoders never throw', () => {
  test('no provider stream makes a decoder throw, and each decoded event is valid', () => {
    const data = fc.oneof(
      { weight: 8, arbitrary: chunk },
      { weight: 1, arbitrary: json },
      fc.constantFrom('[DONE]', 'x', ''),
    )
    fc.assert(
      fc.property(fc.array(data, { maxLength: 8 }), (chunks) => {
        fold(decodeChunks(chunks as JsonValue[]))
      }),
      { numRuns: 500 },
    )
  })

  test('no whole answer, error or usage makes a decoder throw', () => {
    const answer = fc.record(
      { choices: fc.oneof(fc.array(fc.oneof(choice, json)), json), usage: json, error: json },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(answer, json), fc.integer({ min: 100, max: 599 }), (body, status) => {
        const value = body as JsonValue
        const response = chatCompletions.decodeResponse(value)
        if (response) chatCompletions.encodeResponse(response, CONTEXT)
        expect(typeof chatCompletions.decodeError(status, value).message).toBe('string')
        chatCompletions.decodeUsage(value)
        if (isJsonObject(value)) {
          const text = JSON.stringify(value)
          const told = JSON.parse(chatCompletions.passThrough.response(text, value, CONTEXT, passHooks()))
          expect(told).toMatchObject({ model: 'svc/alpha', object: 'chat.completion' })
          chatCompletions.passThrough.createStream(CONTEXT, passHooks()).event(text, value)
        }
      }),
      { numRuns: 500 },
    )
  })
})

test('any request is decoded or refused with a GatewayError, and never changed', () => {
  const message = fc.record(
    {
      role: fc.constantFrom('user', 'assistant', 'system', 'tool', 'function', 'x'),
      content: json,
      tool_calls: json,
      tool_call_id: word,
    },
    { requiredKeys: [] },
  )
  const request = fc.record(
    {
      model: fc.oneof(fc.constant('svc/alpha'), json),
      messages: fc.oneof(fc.array(fc.oneof(message, json), { maxLength: 4 }), json),
      tools: json,
      tool_choice: json,
      stop: json,
      response_format: json,
      max_tokens: fc.oneof(fc.double(), fc.integer(), json),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(request, (body) => {
      const given = body as JsonObject
      const before = JSON.stringify(given)
      try {
        const decoded = chatCompletions.decodeRequest(given)
        chatCompletions.passThrough.request(given, decoded, traitsWith())
        chatCompletions.encodeRequest(decoded, traitsWith())
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.message.length).toBeLessThan(500)
      }
      expect(JSON.stringify(given)).toBe(before)
    }),
    { numRuns: 500 },
  )
})

describe('splitting a stream’s bytes anywhere gives the same events', () => {
  const directory = new URL('../../fixtures/chat-completions/', import.meta.url)
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.sse'))) {
    test(file, async () => {
      const bytes = await fixtureBytes(file)
      const whole = withoutMintedIds(decodePieces([bytes]))
      for (let at = 1; at < bytes.length; at++) {
        expect(withoutMintedIds(decodePieces([bytes.subarray(0, at), bytes.subarray(at)]))).toEqual(whole)
      }
      expect(withoutMintedIds(decodePieces([...bytes].map((byte) => Uint8Array.of(byte))))).toEqual(whole)
    })
  }
})

test('a stream that is encoded and decoded again has the same events', () => {
  const text = fc.string({ minLength: 1, unit: 'binary' })
  const block = fc.oneof(
    fc.record({
      kind: fc.constantFrom('text', 'reasoning', 'refusal'),
      pieces: fc.array(text, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('tool-call'), pieces: fc.array(text, { minLength: 1, maxLength: 3 }) }),
  )
  const finish = fc.constantFrom('stop', 'length', 'content-filter')
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), finish, fc.nat(1000), (blocks, kind, output) => {
      const usage = { uncached: 3, cacheRead: 2, cacheWrite5m: 1, cacheWrite1h: 0, output, reasoning: 0 }
      const events: ChatEvent[] = [
        { type: 'start', id: 'x', model: 'm', created: 1 },
        ...blocks.flatMap(({ kind: blockKind, pieces }, index) => blockEvents(blockKind, index, pieces)),
        { type: 'finish', choice: 0, finish: { kind } },
        { type: 'usage', usage },
        { type: 'end' },
      ]
      const encoder = chatCompletions.createStreamEncoder(CONTEXT)
      const frames = [...events.flatMap((event) => encoder.push(event)), ...encoder.end()]
      const wire = frames.map((frame, index) => chatCompletions.framing.format(frame, index)).join('')
      const read = fold(decodePieces([new TextEncoder().encode(wire)]))
      const hasCalls = blocks.some((candidate) => candidate.kind === 'tool-call')
      expect(read.blocks.map((told) => told.replace(/^0 /, ''))).toEqual(mergeNeighbours(blocks))
      const hasRefusal = blocks.some((candidate) => candidate.kind === 'refusal')
      const stopped = hasCalls ? 'tool-calls' : hasRefusal ? 'content-filter' : 'stop'
      expect(read.finishes[0]?.kind).toBe(kind === 'stop' ? stopped : kind)
      expect(read.usage).toEqual(usage)
      expect(read.isEnded).toBe(true)
    }),
  )
})

test('decoding work grows linearly with the stream', () => {
  const count = 20_000
  const fragments = Array.from({ length: count }, (_, index) => ({
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index: index % 2, id: `c${index % 2}`, function: { name: 'f', arguments: '{' } }] },
      },
    ],
  }))
  const events = decodeChunks([...fragments, '[DONE]'])
  const others: ChatEvent['type'][] = [
    'start',
    'tool-call-start',
    'tool-call-start',
    'tool-call-end',
    'tool-call-end',
    'finish',
    'end',
  ]
  expect(events.filter(({ type }) => type !== 'tool-call-delta').map(({ type }) => type)).toEqual(others)
  expect(events).toHaveLength(count + others.length)
})

/** The events of one block, as a decoder would give them. */
function blockEvents(kind: string, block: number, pieces: string[]): ChatEvent[] {
  if (kind === 'tool-call') {
    return [
      { type: 'tool-call-start', choice: 0, block, id: `call_${block}`, name: 'f' },
      ...pieces.map((piece) => ({ type: 'tool-call-delta' as const, choice: 0, block, argumentsText: piece })),
      { type: 'tool-call-end', choice: 0, block },
    ]
  }
  const texts = kind as 'text' | 'reasoning' | 'refusal'
  return [
    { type: `${texts}-start`, choice: 0, block },
    ...pieces.map((piece) => ({ type: `${texts}-delta` as const, choice: 0, block, text: piece })),
    { type: `${texts}-end`, choice: 0, block },
  ]
}

/** This format can't tell two texts in a row from one. */
function mergeNeighbours(blocks: { kind: string; pieces: string[] }[]): string[] {
  const told: string[] = []
  let lastKind = ''
  blocks.forEach(({ kind, pieces }, index) => {
    const text = pieces.join('')
    if (kind === lastKind && kind !== 'tool-call') told.push(`${told.pop()}${text}`)
    else told.push(kind === 'tool-call' ? `tool-call call_${index} f: ${text}` : `${kind}: ${text}`)
    lastKind = kind
  })
  return told
}

/** Calls without an id on the wire get a random one. */
function withoutMintedIds(events: ChatEvent[]): ChatEvent[] {
  return events.map((event) =>
    event.type === 'tool-call-start' && /^call_\w{22}$/.test(event.id) ? { ...event, id: 'minted' } : event,
  )
}
