/** Complete answers in the messages format, also decoded again. */
import { describe, expect, test } from 'bun:test'
import { context } from '@test/formats/messages/support'
import { fc } from '@test/support/property'
import type { AnswerBlock, ChatResponse, FinishReason } from '@/chat/response'
import { messages } from '@/formats/messages/index'
import type { JsonObject } from '@/lib/json'

const usage = { uncached: 10, cacheRead: 4, cacheWrite5m: 2, cacheWrite1h: 1, output: 8, reasoning: 3 }

function response(content: AnswerBlock[], finish: FinishReason = { kind: 'stop' }): ChatResponse {
  return { id: 'x', created: 0, model: 'u', choices: [{ index: 0, content, finish }], usage }
}

const encode = (content: AnswerBlock[], finish?: FinishReason, wantsReasoning = true) =>
  messages.encodeResponse(response(content, finish), { ...context, wantsReasoning })
const text: AnswerBlock = { type: 'text', text: 'Hi' }
const call: AnswerBlock = { type: 'tool-call', id: 't', name: 'f', argumentsText: '{"a":1}' }

describe('encoding a message', () => {
  test('an answer is encoded as a message', () => {
    expect(encode([text])).toEqual({
      id: 'msg_public',
      type: 'message',
      role: 'assistant',
      model: 'svc/alpha',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
        output_tokens: 8,
        output_tokens_details: { thinking_tokens: 3 },
        server_tool_use: null,
        service_tier: null,
      },
    })
  })

  test('an answer without usage gets an estimated input count', () => {
    const answer = messages.encodeResponse({ ...response([text]), usage: null }, context)
    expect(answer.usage).toMatchObject({ input_tokens: 21, output_tokens: 0 })
  })

  test('an answer without choice or content is encoded', () => {
    expect(messages.encodeResponse({ ...response([]), choices: [] }, context)).toMatchObject({
      content: [],
      stop_reason: 'end_turn',
    })
    expect(encode([{ type: 'text', text: '' }]).content).toEqual([])
  })

  test.each<[FinishReason, AnswerBlock[], string, string | null]>([
    [{ kind: 'stop' }, [text], 'end_turn', null],
    [{ kind: 'stop-sequence', sequence: 'END' }, [text], 'stop_sequence', 'END'],
    [{ kind: 'stop-sequence' }, [text], 'end_turn', null],
    [{ kind: 'length' }, [text], 'max_tokens', null],
    [{ kind: 'context-length' }, [text], 'model_context_window_exceeded', null],
    [{ kind: 'tool-calls' }, [text, call], 'tool_use', null],
    [{ kind: 'tool-calls' }, [text], 'end_turn', null],
    [{ kind: 'stop' }, [call], 'tool_use', null],
    [{ kind: 'length' }, [call], 'max_tokens', null],
    [{ kind: 'content-filter' }, [], 'refusal', null],
    [{ kind: 'stop' }, [{ type: 'refusal', text: 'No.' }], 'refusal', null],
    [{ kind: 'pause' }, [text], 'pause_turn', null],
    [{ kind: 'error' }, [], 'refusal', null],
    [{ kind: 'unknown' }, [], 'refusal', null],
  ])('the stop reason is encoded for %j with the content %j', (finish, content, reason, sequence) => {
    expect(encode(content, finish)).toMatchObject({ stop_reason: reason, stop_sequence: sequence })
  })

  test('tool calls always have an object and a valid id', () => {
    const calls = ['', '{"a":1}', 'broken', '[1]'].map(
      (argumentsText): AnswerBlock => ({ type: 'tool-call', id: 'a|b', name: 'f', argumentsText }),
    )
    const content = encode(calls).content as JsonObject[]
    expect(content.map((block) => block.input)).toEqual([
      {},
      { a: 1 },
      { invalid_arguments: 'broken' },
      { invalid_arguments: '[1]' },
    ])
    expect(content.every((block) => /^[a-zA-Z0-9_-]+$/.test(block.id as string))).toBe(true)
    expect(new Set(content.map((block) => block.id)).size).toBe(4)
  })

  test('media in an answer is replaced by a text that names it', () => {
    const image: AnswerBlock = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA' } }
    expect(encode([image, { type: 'audio', mediaType: 'audio/wav', data: 'AA' }]).content).toEqual([
      { type: 'text', text: '[image omitted: this API carries only text]' },
      { type: 'text', text: '[audio omitted: this API carries only text]' },
    ])
  })

  test('reasoning is only sent to clients that requested it', () => {
    const reasoning: AnswerBlock = { type: 'reasoning', text: 'hm' }
    expect(encode([reasoning, text]).content).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 'svc.unsigned' },
      { type: 'text', text: 'Hi' },
    ])
    expect(encode([reasoning, text], undefined, false).content).toEqual([{ type: 'text', text: 'Hi' }])
    expect(encode([{ type: 'reasoning', text: '' }]).content).toEqual([])
  })
})

describe('properties', () => {
  const name = fc.stringMatching(/^[a-z_]{1,10}$/)
  const own = fc.record({ format: fc.constant('messages' as const), value: fc.base64String({ minLength: 4 }) })
  const signature = fc.oneof(
    own,
    fc.record({
      format: fc.constantFrom('generate-content' as const, 'chat-completions' as const),
      value: fc.string({ minLength: 1 }),
    }),
  )
  const block: fc.Arbitrary<AnswerBlock> = fc.oneof(
    fc.record({ type: fc.constant('text' as const), text: fc.string({ minLength: 1 }) }),
    fc.record({ type: fc.constant('reasoning' as const), text: fc.string({ minLength: 1 }), signature }),
    fc.record({ type: fc.constant('reasoning' as const), text: fc.constant(''), redacted: signature }),
    fc.record(
      {
        type: fc.constant('tool-call' as const),
        id: fc.uuid(),
        name,
        argumentsText: fc.dictionary(name, fc.string()).map((value) => JSON.stringify(value)),
        signature: signature.filter((made) => made.format !== 'messages'),
      },
      { requiredKeys: ['type', 'id', 'name', 'argumentsText'] },
    ),
  )

  test('an answer sent back by a client keeps its meaning', () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), (content) => {
        const body = { model: 'm', max_tokens: 5, messages: [{ role: 'assistant', content: encode(content).content }] }
        const [turn] = messages.decodeRequest(JSON.parse(JSON.stringify(body))).turns
        expect(JSON.parse(JSON.stringify(turn?.content))).toEqual(JSON.parse(JSON.stringify(content)))
      }),
      { numRuns: 500 },
    )
  })

  test('an answer that is encoded and decoded is the same', () => {
    const finish = fc.constantFrom<FinishReason>({ kind: 'length' }, { kind: 'pause' }, { kind: 'content-filter' })
    const plain = fc.array(block, { maxLength: 6 }).map((list) =>
      list.flatMap((made): AnswerBlock[] => {
        if (made.type === 'tool-call') return [{ ...made, signature: undefined }]
        return made.type === 'reasoning' && (made.signature ?? made.redacted)?.format !== 'messages' ? [] : [made]
      }),
    )
    fc.assert(
      fc.property(plain, finish, (content, reason) => {
        const read = messages.decodeResponse(encode(content, reason))
        expect(read?.choices[0]?.content).toEqual(content)
        expect(read?.choices[0]?.finish.kind).toBe(reason.kind)
        expect(read?.usage).toEqual({ ...usage, areWritesSplit: true })
      }),
      { numRuns: 500 },
    )
  })
})
