/** Properties for random requests: the API's rules are kept, meaning is kept, and large requests take linear time. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { GatewayError } from '@/chat/error'
import type { CacheHint, ChatRequest, ModelBlock, Turn, UserBlock } from '@/chat/request'
import { messages } from '@/formats/messages/index'
import type { JsonObject } from '@/lib/json'
import { chatRequest, decodeText, encodeEvents, traits } from './support'

const id = fc.constantFrom('a', 'b', 'c|d', '', 'call_1')
const anyText = fc.oneof(fc.constantFrom('', ' ', 'words'), fc.string())
const cache = fc.option(fc.constantFrom<CacheHint>({ ttl: '5m' }, { ttl: '1h' }), { nil: undefined })
const signature = fc.record({
  format: fc.constantFrom('messages' as const, 'generate-content' as const, 'chat-completions' as const),
  value: fc.base64String({ minLength: 4 }),
})
const textBlock = fc.record({ type: fc.constant('text' as const), text: anyText, cache })
const refusal = fc.record({ type: fc.constant('refusal' as const), text: anyText })
const modelBlock: fc.Arbitrary<ModelBlock> = fc.oneof(
  textBlock,
  refusal,
  fc.record({ type: fc.constant('reasoning' as const), text: anyText, signature }),
  fc.record({ type: fc.constant('reasoning' as const), text: fc.constant(''), redacted: signature }),
  fc.record({ type: fc.constant('tool-call' as const), id, name: fc.constant('f'), argumentsText: anyText }),
)
const userBlock: fc.Arbitrary<UserBlock> = fc.oneof(
  textBlock,
  refusal,
  fc.record({
    type: fc.constant('tool-result' as const),
    callId: id,
    content: fc.array(textBlock, { maxLength: 2 }),
    isError: fc.boolean(),
    cache,
  }),
)
const anyTurn: fc.Arbitrary<Turn> = fc.oneof(
  fc.record({ role: fc.constant('system' as const), content: fc.array(textBlock, { maxLength: 4 }) }),
  fc.record({ role: fc.constant('user' as const), content: fc.array(userBlock, { maxLength: 4 }) }),
  fc.record({ role: fc.constant('assistant' as const), content: fc.array(modelBlock, { maxLength: 4 }) }),
)
const quirks = fc.subarray(['mid-system', 'no-prefill', 'adaptive-thinking', 'no-sampling', 'no-output-format'])

type Message = { role: string; content: string | JsonObject[] }
const blocksOf = ({ content }: Message): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

/** Throws if the API would answer 400. */
function checkRules(list: Message[], chosen: readonly string[]): void {
  expect(list[0]?.role).toBe('user')
  const ids = new Set<unknown>()
  for (const [index, message] of list.entries()) {
    const [before, after] = [list[index - 1], list[index + 1]]
    expect(before?.role).not.toBe(message.role)
    const blocks = blocksOf(message)
    expect(blocks.length).toBeGreaterThan(0)
    expect(blocks.filter((block) => block.type === 'text' && String(block.text).trim() === '')).toEqual([])
    if (message.role === 'system') {
      expect(chosen).toContain('mid-system')
      expect([before?.role, after?.role ?? 'assistant']).toEqual(['user', 'assistant'])
    }
    const results = blocks.filter((block) => block.type === 'tool_result')
    expect(blocks.slice(0, results.length)).toEqual(results)
    const calls = before?.role === 'assistant' ? blocksOf(before).filter((block) => block.type === 'tool_use') : []
    if (message.role === 'user') {
      expect(results.map((block) => block.tool_use_id).sort()).toEqual(calls.map((block) => block.id).sort())
    } else expect(results).toEqual([])
    for (const call of blocks.filter((block) => block.type === 'tool_use')) {
      expect(message.role).toBe('assistant')
      expect(call.id).toMatch(/^[a-zA-Z0-9_-]+$/)
      expect(ids.has(call.id)).toBe(false)
      expect(call.input).toBeObject()
      ids.add(call.id)
    }
    for (const block of blocks) {
      if (String(block.type).endsWith('thinking')) expect(String(block.signature ?? block.data)).not.toStartWith('svc.')
    }
  }
  const last = list.at(-1) as Message
  expect(blocksOf(last).some((block) => block.type === 'tool_use')).toBe(false)
  if (last.role === 'assistant') {
    expect(chosen).not.toContain('no-prefill')
    const end = blocksOf(last).at(-1)
    if (end?.type === 'text') expect(end.text).toBe(String(end.text).trimEnd())
    expect(String(end?.type)).not.toEndWith('thinking')
  }
}

describe('an encoded request', () => {
  test('an encoded request follows the API’s rules, for any conversation', () => {
    fc.assert(
      fc.property(fc.array(anyTurn, { maxLength: 8 }), quirks, (turns, chosen) => {
        const request = chatRequest({ turns })
        const before = JSON.stringify(request)
        const { body } = messages.encodeRequest(request, traits(...chosen))
        expect(JSON.stringify(request)).toBe(before)
        checkRules(body.messages as Message[], chosen)
        expect(JSON.stringify(body).split('"cache_control"').length).toBeLessThanOrEqual(5)
        expect(() => messages.decodeRequest(JSON.parse(JSON.stringify(body)))).not.toThrow()
      }),
      { numRuns: 2000 },
    )
  })

  test('encoding only throws errors that say how the request is wrong', () => {
    const reasoning = fc.record(
      { effort: fc.constantFrom('none' as const, 'high' as const), budgetTokens: fc.integer({ min: -1, max: 99_999 }) },
      { requiredKeys: [] },
    )
    const changes: fc.Arbitrary<Partial<ChatRequest>> = fc.record({
      reasoning,
      maxOutputTokens: fc.integer({ min: 1, max: 200_000 }),
      choices: fc.integer({ min: 1, max: 2 }),
      tools: fc.array(fc.record({ name: fc.constantFrom('f', 'g', 'bad name') }), { maxLength: 2 }),
      toolChoice: fc.constantFrom(
        { type: 'required' as const },
        { type: 'auto' as const },
        { type: 'tool' as const, name: 'f' },
      ),
    })
    fc.assert(
      fc.property(changes, quirks, (made, chosen) => {
        try {
          const { body } = messages.encodeRequest(chatRequest(made), traits(...chosen))
          const thinking = body.thinking as JsonObject | undefined
          if (thinking?.type !== 'enabled') return
          expect(thinking.budget_tokens).toBeGreaterThanOrEqual(1024)
          expect(thinking.budget_tokens).toBeLessThan(body.max_tokens as number)
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('encoding and decoding a request', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/)
  const call = (index: number) =>
    fc.dictionary(word, word).map(
      (input): ModelBlock => ({
        type: 'tool-call',
        id: `t${index}`,
        name: 'f',
        argumentsText: JSON.stringify(input),
      }),
    )
  const said = fc.record({ type: fc.constant('text' as const), text: word, cache: fc.constant(undefined) })
  const image = fc.constantFrom<UserBlock>(
    { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } },
    { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
    { type: 'file', source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' }, filename: 'a.pdf' },
    { type: 'file', source: { type: 'text', text: 'words', mediaType: 'text/plain' }, context: 'c' },
  )
  const request: fc.Arbitrary<ChatRequest> = fc
    .record({
      opening: fc.array(fc.oneof(said, image), { minLength: 1, maxLength: 3 }),
      calls: fc
        .integer({ min: 1, max: 3 })
        .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => call(index)))),
      isError: fc.boolean(),
      system: fc.array(said, { maxLength: 1 }),
      sampling: fc.record(
        {
          temperature: fc.double({ min: 0, max: 1, noNaN: true }),
          topK: fc.nat(100),
          stop: fc.array(word, { minLength: 1 }),
        },
        { requiredKeys: [] },
      ),
      maxOutputTokens: fc.integer({ min: 1, max: 8192 }),
      parallelToolCalls: fc.option(fc.boolean(), { nil: undefined }),
      stream: fc.boolean(),
    })
    .map(({ opening, calls, isError, ...rest }) =>
      chatRequest({
        ...rest,
        model: 'upstream-model',
        wantsUsage: true,
        tools: [{ name: 'f', description: 'd', parameters: { type: 'object', properties: {} }, strict: true }],
        toolChoice: { type: 'auto' },
        turns: [
          { role: 'user', content: opening },
          { role: 'assistant', content: [{ type: 'text', text: 'x' }, ...calls] },
          {
            role: 'user',
            content: calls.map((_, index) => ({
              type: 'tool-result',
              callId: `t${index}`,
              name: 'f',
              content: [{ type: 'text', text: 'ok' }],
              isError,
            })),
          },
        ],
      }),
    )

  test('a request that is encoded and decoded is the same', () => {
    fc.assert(
      fc.property(request, (made) => {
        const { body, warnings } = messages.encodeRequest(made, traits())
        expect(warnings).toEqual([])
        const read = messages.decodeRequest(JSON.parse(JSON.stringify(body)))
        // Parallel calls are the default, so saying so is left out.
        const expected = {
          ...made,
          parallelToolCalls: made.parallelToolCalls === false ? false : undefined,
          extensions: { messages: {} },
        }
        expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(expected)))
      }),
      { numRuns: 500 },
    )
  })
})

/** Ends in milliseconds where the time is linear, and not within the limit of a test where it is quadratic. */
describe('linear time', () => {
  const SIZE = 120_000
  const many = <T>(make: (index: number) => T): T[] => Array.from({ length: SIZE }, (_, index) => make(index))

  test('many tool calls with one id take linear time to encode', () => {
    const calls = many((): ModelBlock => ({ type: 'tool-call', id: 'same', name: 'f', argumentsText: '' }))
    const results = many((): UserBlock => ({ type: 'tool-result', callId: 'same', content: [], isError: false }))
    const turns: Turn[] = [
      { role: 'assistant', content: calls },
      { role: 'user', content: results },
    ]
    const { body, warnings } = messages.encodeRequest(chatRequest({ turns }), traits())
    expect((body.messages as Message[])[2]?.content).toHaveLength(SIZE)
    expect(warnings).toHaveLength(1)
  })

  test('many turns take linear time to encode', () => {
    const role = (index: number) => (index % 3 ? 'user' : 'system')
    const turns = many((index): Turn => ({ role: role(index), content: [{ type: 'text', text: 'x' }] }))
    const { body } = messages.encodeRequest(chatRequest({ turns }), traits('mid-system'))
    expect((body.messages as Message[])[0]?.content).toHaveLength(SIZE)
  })

  test('many waiting blocks take linear time', () => {
    const frames = encodeEvents(many((block) => ({ type: 'tool-call-start', choice: 0, block, id: 'same', name: 'f' })))
    expect(frames).toHaveLength(2 * SIZE + 3)
  })

  test('many events take linear time', () => {
    const delta = 'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n'
    expect(decodeText(delta.repeat(SIZE))).toHaveLength(SIZE + 3)
  })
})
