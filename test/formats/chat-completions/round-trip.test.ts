/** A random request of the hub is the same after encoding it as chat-completions and decoding it. */
import { expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import type { ChatRequest, ModelBlock, TextBlock, Tool, ToolChoice, Turn, UserBlock } from '@/chat/request'
import { decodeRequest } from '@/formats/chat-completions/client-side/decode-request'
import { encodeRequest } from '@/formats/chat-completions/provider-side/encode-request'
import { cacheKeyOf } from '@/formats/openai'
import { isJsonObject, parseJson } from '@/lib/json'
import { traitsWith } from './support'

const words = fc.string({ minLength: 1, maxLength: 20 })
const text: fc.Arbitrary<TextBlock> = words.map((content) => ({ type: 'text', text: content }))
const base64 = fc.base64String({ minLength: 4, maxLength: 12 })
const image: fc.Arbitrary<UserBlock> = fc.oneof(
  base64.map((data): UserBlock => ({ type: 'image', source: { type: 'base64', mediaType: 'image/png', data } })),
  fc.constant<UserBlock>({ type: 'image', source: { type: 'url', url: 'https://host/a.png' }, detail: 'low' }),
)
const media: fc.Arbitrary<UserBlock> = fc.oneof(
  image,
  base64.map((data): UserBlock => ({ type: 'audio', mediaType: 'audio/wav', data })),
  base64.map((data): UserBlock => {
    return { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data }, filename: 'a.pdf' }
  }),
)
const userTurn: fc.Arbitrary<Turn> = fc
  .array(fc.oneof(text, media), { minLength: 1, maxLength: 3 })
  .map((content) => ({ role: 'user', content }))
const systemTurn: fc.Arbitrary<Turn> = text.map((block) => ({ role: 'system', content: [block] }))

/** An assistant turn, with the results of its calls where it has some. */
const assistantTurns: fc.Arbitrary<Turn[]> = fc
  .record({
    said: fc.option(text, { nil: undefined }),
    calls: fc.array(fc.record({ argument: words, result: text }), { maxLength: 3 }),
  })
  .map(({ said, calls }) => {
    const content: ModelBlock[] = said ? [said] : []
    const results: UserBlock[] = []
    calls.forEach(({ argument, result }, index) => {
      const id = `call_${index}`
      content.push({ type: 'tool-call', id, name: 'one', argumentsText: JSON.stringify({ argument }) })
      results.push({ type: 'tool-result', callId: id, name: 'one', content: [result], isError: false })
    })
    const turn: Turn = { role: 'assistant', content }
    return results.length > 0 ? [turn, { role: 'user', content: results }] : [turn]
  })

const turns: fc.Arbitrary<Turn[]> = fc
  .tuple(userTurn, fc.array(fc.oneof(userTurn, systemTurn, assistantTurns), { maxLength: 6 }))
  .map(([first, rest]) => [first, ...rest.flat()])

const tools: Tool[] = [
  { name: 'one', description: 'One', parameters: { type: 'object', properties: {} } },
  { name: 'two', parameters: { type: 'object', properties: { a: { type: 'string' } } }, strict: true },
]
const toolChoice: fc.Arbitrary<ToolChoice | undefined> = fc.constantFrom<(ToolChoice | undefined)[]>(
  undefined,
  { type: 'auto' },
  { type: 'none' },
  { type: 'required' },
  { type: 'tool', name: 'one' },
  { type: 'required', names: ['one', 'two'] },
  { type: 'auto', names: ['one'] },
)
const output: fc.Arbitrary<ChatRequest['output']> = fc.constantFrom<ChatRequest['output'][]>(
  { type: 'text' },
  { type: 'json-schema', schema: { type: 'object' }, name: 'n', strict: true },
)

const request: fc.Arbitrary<ChatRequest> = fc
  .record({
    system: fc.array(text, { maxLength: 1 }),
    turns,
    stream: fc.boolean(),
    toolChoice,
    temperature: fc.double({ min: 0, max: 2, noNaN: true }).map(Math.abs),
    stop: fc.array(words, { minLength: 1, maxLength: 4 }),
    maxOutputTokens: fc.integer({ min: 1, max: 32_768 }),
    choices: fc.integer({ min: 1, max: 16 }),
    output,
  })
  .map(({ temperature, stop, toolChoice: choice, ...rest }) => ({
    ...rest,
    model: 'alpha-2026-01',
    tools,
    ...(choice && { toolChoice: choice }),
    parallelToolCalls: false,
    sampling: { temperature, stop, topP: 0.5, seed: 7 },
    reasoning: { effort: 'low', visible: true },
    userId: 'u',
    cacheKey: 'k',
    serviceTier: 'flex',
    fallback: [],
    wantsUsage: rest.stream,
    extensions: { 'chat-completions': { metadata: { a: 'b' } } },
  }))

test('a random conversation is the same after encoding and decoding', () => {
  fc.assert(
    fc.property(request, (original) => {
      const traits = traitsWith()
      const { body, warnings } = encodeRequest(original, traits)
      const onTheWire = parseJson(JSON.stringify(body))
      const decoded = decodeRequest(isJsonObject(onTheWire) ? onTheWire : {})
      const { stream_options: _asked, ...extensions } = decoded.extensions['chat-completions'] ?? {}
      const comparable: ChatRequest = { ...decoded, extensions: { 'chat-completions': extensions } }
      expect(comparable).toEqual({ ...original, cacheKey: cacheKeyOf(traits, 'k') ?? '' })
      expect(warnings.filter(({ feature }) => feature !== 'prefill')).toEqual([])
    }),
  )
})
