/** Properties for random input: decoders only throw refusals, bytes may be split anywhere, meaning is kept, and time is linear. */
import { describe, expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import { fc } from '@test/support/property'
import { GatewayError } from '@/chat/error'
import type { ChatEvent } from '@/chat/event'
import type { ContentBlock, ModelBlock, Turn, UserBlock } from '@/chat/request'
import { generateContent } from '@/formats/generate-content/index'
import type { JsonObject, JsonValue } from '@/lib/json'
import { chatRequest, context, decodeFixture, decodePieces, encodeStream, fold, readFixture, traits } from './support'

const anyJson = fc.jsonValue({ maxDepth: 6 }) as fc.Arbitrary<JsonValue>

/** Objects that look like the format’s own, with anything inside. */
function lookalike(...keys: string[]): fc.Arbitrary<JsonObject> {
  return fc.record(Object.fromEntries(keys.map((key) => [key, anyJson])), {
    requiredKeys: [],
  }) as fc.Arbitrary<JsonObject>
}

const anyPart = fc.oneof(
  anyJson,
  lookalike('text', 'thought', 'thoughtSignature'),
  lookalike('functionCall', 'functionResponse', 'inlineData', 'fileData', 'executableCode', 'codeExecutionResult'),
  lookalike('name', 'id', 'args', 'partialArgs', 'willContinue').map((functionCall): JsonObject => ({ functionCall })),
  lookalike('name', 'id', 'response', 'parts').map((functionResponse): JsonObject => ({ functionResponse })),
)
const anyContent = fc.record({ role: fc.constantFrom<JsonValue[]>('user', 'model', null, 5), parts: fc.array(anyPart) })
const anyChunk = fc.oneof(
  anyJson,
  lookalike('candidates', 'usageMetadata', 'promptFeedback', 'error', 'modelVersion', 'responseId', 'createTime'),
  fc.record({
    candidates: fc.array(
      fc.record({
        content: fc.oneof(anyContent, anyJson),
        finishReason: fc.constantFrom('STOP', 'SAFETY', null),
        index: fc.nat(9),
      }),
    ),
    usageMetadata: lookalike('promptTokenCount', 'candidatesTokenCount', 'totalTokenCount'),
  }),
) as fc.Arbitrary<JsonValue>

describe('decoders never throw', () => {
  test('decoders never throw for any answer', () => {
    fc.assert(
      fc.property(fc.array(anyChunk, { maxLength: 6 }), (chunks) => {
        const decoder = generateContent.createStreamDecoder()
        const events = chunks.flatMap((json) => decoder.push({ event: undefined, data: 'x', raw: '' }, json))
        fold([...events, ...decoder.end()])
        for (const chunk of chunks) generateContent.decodeResponse(chunk)
      }),
      { numRuns: 400 },
    )
  })

  test('the request decoder only throws errors that name a field', () => {
    const anyRequest = fc.oneof(
      lookalike(
        'contents',
        'systemInstruction',
        'system_instruction',
        'generationConfig',
        'tools',
        'toolConfig',
        'fallback',
        '__proto__',
      ),
      fc.record({
        contents: fc.oneof(fc.array(anyContent), anyContent, anyJson),
        tools: anyJson,
      }) as fc.Arbitrary<JsonObject>,
    )
    fc.assert(
      fc.property(anyRequest, (body) => {
        const before = JSON.stringify(body)
        try {
          const request = generateContent.decodeRequest(body, { model: 'svc/a' })
          generateContent.passThrough.request(body, request, traits('thought-signatures'))
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error
          expect(error.kind).toBe('invalid_request')
          expect(error.options.param).toBeString()
        }
        expect(JSON.stringify(body)).toBe(before)
      }),
      { numRuns: 400 },
    )
  })

  test('passing events through never throws', () => {
    fc.assert(
      fc.property(
        anyChunk,
        (json) => void generateContent.passThrough.createStream(context, passHooks()).event(JSON.stringify(json), json),
      ),
    )
  })
})

describe('bytes of a stream split anywhere', () => {
  test.each(['text.sse', 'thinking-tools.sse', 'partial-args.sse', 'error-mid-stream.sse', 'lf-comments-done.sse'])(
    'a stream split at every byte: %s',
    (name) => {
      const bytes = new TextEncoder().encode(readFixture(name))
      const whole = decodeFixture(name)
      for (let at = 1; at < bytes.length; at++)
        expect(decodePieces([bytes.slice(0, at), bytes.slice(at)])).toEqual(whole)
      expect(decodePieces(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole)
    },
  )

  test('splitting any stream anywhere gives the same events', () => {
    const names = fc.constantFrom(
      'thinking-tools.sse',
      'two-candidates.sse',
      'signed-text.sse',
      'cut.sse',
      'malformed-json.sse',
    )
    fc.assert(
      fc.property(names, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (name, sizes) => {
        const bytes = new TextEncoder().encode(readFixture(name))
        const pieces: Uint8Array[] = []
        for (let from = 0, turn = 0; from < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          pieces.push(bytes.slice(from, from + size))
          from += size
        }
        expect(decodePieces(pieces)).toEqual(decodeFixture(name))
      }),
    )
  })
})

describe('encoding and decoding again', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  const own = fc.base64String({ minLength: 4, maxLength: 24 }).filter((value) => !value.startsWith('c3ZjL'))
  const ownSignature = own.map((value) => ({ format: 'generate-content', value }) as const)
  const anySignature = fc.oneof(
    ownSignature,
    own.map((value) => ({ format: 'messages', value }) as const),
  )
  const argumentsText = fc
    .dictionary(word, fc.oneof(fc.integer(), word, fc.boolean(), fc.constant(null)))
    .map((args) => JSON.stringify(args))

  test('requests are the same after encoding and decoding', () => {
    const userBlock: fc.Arbitrary<UserBlock> = fc.oneof(
      word.map((text) => ({ type: 'text', text }) as const),
      own.map((data) => ({ type: 'image', source: { type: 'base64', mediaType: 'image/png', data } }) as const),
      own.map((data) => ({ type: 'audio', mediaType: 'audio/wav', data }) as const),
      own.map((data) => ({ type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data } }) as const),
    )
    const calls = fc.array(
      fc.record({
        name: fc.constantFrom('a', 'b'),
        argumentsText,
        signature: fc.option(ownSignature, { nil: undefined }),
        answer: word,
      }),
      { maxLength: 3 },
    )
    const round = fc.record({ asked: fc.array(userBlock, { minLength: 1, maxLength: 3 }), said: word, calls })
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 3 }), (rounds) => {
        const turns: Turn[] = rounds.flatMap(({ asked, said, calls: made }, at) => {
          const answers: Turn = {
            role: 'user',
            content: made.map(({ name, answer }, index) => ({
              type: 'tool-result',
              callId: `c${at}_${index}`,
              name,
              content: [{ type: 'text', text: answer }],
              json: { output: answer },
              isError: false,
            })),
          }
          const called: ModelBlock[] = made.map((call, index) => ({
            type: 'tool-call',
            id: `c${at}_${index}`,
            name: call.name,
            argumentsText: call.argumentsText,
            ...(call.signature && { signature: call.signature }),
          }))
          const answered: Turn[] =
            made.length > 0 ? [answers, { role: 'assistant', content: [{ type: 'text', text: 'ok' }] }] : []
          return [
            { role: 'user', content: asked },
            { role: 'assistant', content: [{ type: 'text', text: said }, ...called] },
            ...answered,
          ] satisfies Turn[]
        })
        const { body, warnings } = generateContent.encodeRequest(chatRequest({ turns }), traits())
        expect(warnings).toEqual([])
        expect(generateContent.decodeRequest(body, { model: 'svc/alpha' }).turns).toEqual(turns)
      }),
    )
  })

  test('streams are the same after encoding and decoding', () => {
    const signature = fc.option(anySignature, { nil: undefined })
    const block = fc.oneof(
      fc.record({
        kind: fc.constantFrom('text', 'reasoning'),
        texts: fc.array(word, { minLength: 1, maxLength: 3 }),
        signature: fc.option(ownSignature, { nil: undefined }),
      }),
      fc.record({ kind: fc.constant('call'), argumentsText, signature }),
    )
    fc.assert(
      fc.property(fc.array(block, { maxLength: 5 }), (blocks) => {
        const events: ChatEvent[] = [{ type: 'start', id: 'x', model: 'y', created: 0 }]
        for (const [at, made] of blocks.entries()) {
          const place = { choice: 0, block: at }
          const signed = made.signature ? { signature: made.signature } : {}
          if ('texts' in made) {
            const kind = made.kind as 'text' | 'reasoning'
            events.push(
              { type: `${kind}-start`, ...place },
              ...made.texts.map((text): ChatEvent => ({ type: `${kind}-delta`, ...place, text })),
              { type: `${kind}-end`, ...place, ...signed },
            )
          } else {
            events.push(
              { type: 'tool-call-start', ...place, id: `c${at}`, name: 'a' },
              { type: 'tool-call-delta', ...place, argumentsText: made.argumentsText },
              { type: 'tool-call-end', ...place },
            )
          }
        }
        events.push({ type: 'finish', choice: 0, finish: { kind: 'stop' } }, { type: 'end' })
        const again = fold(decodePieces([new TextEncoder().encode(encodeStream(events))]))
        expect(summary(again.choices[0]?.content ?? [])).toEqual(summary(fold(events).choices[0]?.content ?? []))
      }),
    )
  })
})

/** Blocks with unsigned neighbours of one kind joined, since this format does not tell them apart. */
function summary(content: readonly ContentBlock[]): string[] {
  const lines: { kind: string; text: string; isClosed: boolean }[] = []
  for (const block of content) {
    const text =
      block.type === 'tool-call'
        ? `${block.id} ${JSON.stringify(JSON.parse(block.argumentsText || '{}'))}`
        : 'text' in block
          ? block.text
          : ''
    const proof = 'signature' in block && block.signature ? ` [${block.signature.value}]` : ''
    const last = lines.at(-1)
    if (last?.kind === block.type && !last.isClosed)
      Object.assign(last, { text: last.text + text + proof, isClosed: proof !== '' })
    else lines.push({ kind: block.type, text: text + proof, isClosed: proof !== '' || block.type === 'tool-call' })
  }
  return lines.map(({ kind, text }) => `${kind}: ${text}`)
}

test('a large history and a long stream take linear time', () => {
  const parts = Array.from({ length: 4000 }, (_, at) => ({ text: `word ${at} ` }))
  const contents = Array.from({ length: 50 }, () => ({ role: 'model', parts }))
  const { turns } = generateContent.decodeRequest({ contents }, { model: 'svc/a' })
  expect(turns[0]?.content).toHaveLength(1)
  const decoder = generateContent.createStreamDecoder()
  let deltas = 0
  for (let chunk = 0; chunk < 50_000; chunk++) {
    const json = { candidates: [{ content: { parts: [{ text: 'a' }] } }] }
    deltas += decoder
      .push({ event: undefined, data: 'x', raw: '' }, json)
      .filter((event) => event.type === 'text-delta').length
  }
  expect(deltas).toBe(50_000)
})
