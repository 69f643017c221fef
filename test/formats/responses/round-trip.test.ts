/** A random request of the hub is the same after encoding it as responses and decoding it. */
import { expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import type { ChatRequest, ModelBlock, TextBlock, Tool, ToolChoice, Turn, UserBlock } from '@/chat/request'
import { cacheKeyOf } from '@/formats/openai'
import { decodeRequest } from '@/formats/responses/client-side/decode-request'
import { encodeRequest } from '@/formats/responses/provider-side/encode-request'
import { isJsonObject, parseJson } from '@/lib/json'
import { traitsWith } from './support'

const words = fc.string({ minLength: 1, maxLength: 20 })
const text: fc.Arbitrary<TextBlock> = words.map((content) => ({ type: 'text', text: content }))
const base64 = fc.base64String({ minLength: 4, maxLength: 12 })
const media: fc.Arbitrary<UserBlock> = fc.oneof(
  base64.map((data): UserBlock => {
    return { type: 'image', source: { type: 'base64', mediaType: 'image/png', data }, detail: 'auto' }
  }),
  fc.constant<UserBlock>({ type: 'image', source: { type: 'url', url: 'https://host/a.png' }, detail: 'low' }),
  base64.map((data): UserBlock => ({ type: 'audio', mediaType: 'audio/wav', data })),
  base64.map((data): UserBlock => {
    return { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data }, filename: 'a.pdf' }
  }),
)
const userTurn: fc.Arbitrary<Turn> = fc
  .array(fc.oneof(text, media), { minLength: 1, maxLength: 3 })
  .map((content) => ({ role: 'user', content }))
const systemTurn: fc.Arbitrary<Turn> = text.map((block) => ({ role: 'system', content: [block] }))

/** An assistant turn, with the results of its calls where it has some. What it thought has the proof of a provider of this format. */
function assistantTurns(turn: number): fc.Arbitrary<Turn[]> {
  return fc
    .record({
      isProven: fc.boolean(),
      said: text,
      calls: fc.array(fc.record({ argument: words, result: text }), { maxLength: 3 }),
    })
    .map(({ isProven, said, calls }) => {
      const signature = { format: 'responses', value: `rs_${turn}:abc` } as const
      const content: ModelBlock[] = isProven ? [{ type: 'reasoning', text: '', signature }, said] : [said]
      const results: UserBlock[] = []
      calls.forEach(({ argument, result }, index) => {
        const id = `call_${turn}_${index}`
        content.push({ type: 'tool-call', id, name: 'one', argumentsText: JSON.stringify({ argument }) })
        results.push({ type: 'tool-result', callId: id, name: 'one', content: [result], isError: false })
      })
      const spoken: Turn = { role: 'assistant', content }
      return results.length > 0 ? [spoken, { role: 'user', content: results }] : [spoken]
    })
}

const turns: fc.Arbitrary<Turn[]> = fc
  .tuple(
    userTurn,
    assistantTurns(0),
    fc.array(fc.oneof(userTurn, systemTurn), { minLength: 1, maxLength: 3 }),
    assistantTurns(1),
    userTurn,
  )
  .map(([first, answer, between, second, last]) => [first, ...answer, ...between, ...second, last])

const tools: Tool[] = [
  { name: 'one', description: 'One', parameters: { type: 'object', properties: {} }, strict: false },
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
    maxOutputTokens: fc.integer({ min: 16, max: 32_768 }),
    output,
  })
  .map(({ temperature, toolChoice: choice, ...rest }) => ({
    ...rest,
    model: 'alpha-2026-01',
    tools,
    ...(choice && { toolChoice: choice }),
    parallelToolCalls: false,
    sampling: { temperature, topP: 0.5, logprobs: true, topLogprobs: 2 },
    choices: 1,
    reasoning: { effort: 'low', visible: true },
    verbosity: 'low',
    userId: 'u',
    cacheKey: 'k',
    serviceTier: 'flex',
    fallback: [],
    wantsUsage: true,
    wantsEncryptedReasoning: true,
    extensions: { responses: { metadata: { a: 'b' } } },
  }))

test('a random conversation is the same after encoding and decoding', () => {
  fc.assert(
    fc.property(request, (original) => {
      const traits = traitsWith()
      const { body, warnings } = encodeRequest(original, traits)
      const onTheWire = parseJson(JSON.stringify(body))
      const { answerEcho: _, bound: _constrained, ...decoded } = decodeRequest(isJsonObject(onTheWire) ? onTheWire : {})
      expect(decoded).toEqual({ ...original, cacheKey: cacheKeyOf(traits, 'k') ?? '' })
      expect(warnings).toEqual([])
    }),
  )
})
