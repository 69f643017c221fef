/** Complete answers in the chat-completions format. */
import { describe, expect, test } from 'bun:test'
import { CONTEXT, usageOf } from '@test/formats/chat-completions/support'
import type { ChatResponse, Choice } from '@/chat/response'
import { encodeResponse } from '@/formats/chat-completions/client-side/encode-response'
import { decodeResponse } from '@/formats/chat-completions/provider-side/decode-response'
import { isJsonObject } from '@/lib/json'

function answer(content: Choice['content'], finish: Choice['finish'] = { kind: 'stop' }): ChatResponse {
  return { id: 'msg_1', created: 5, model: 'm', choices: [{ index: 0, content, finish }], usage: null }
}

function choiceOf(response: ChatResponse) {
  const { choices } = encodeResponse(response, CONTEXT)
  return Array.isArray(choices) ? choices[0] : undefined
}

describe('an answer', () => {
  test('an answer has our id, time, public model, and usage if known', () => {
    const response = { ...answer([{ type: 'text', text: 'Hi' }]), usage: usageOf({ uncached: 3, output: 4 }) }
    expect(encodeResponse(response, CONTEXT)).toEqual({
      id: 'chatcmpl-ours',
      object: 'chat.completion',
      created: 1_760_000_001,
      model: 'svc/alpha',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    })
    expect(encodeResponse(answer([]), CONTEXT)).not.toHaveProperty('usage')
  })

  test('an answer with only tool calls has null content, {} for missing arguments, and the reason tool_calls', () => {
    const choice = choiceOf(
      answer([
        { type: 'reasoning', text: 'Hm', signature: { format: 'messages', value: 'secret' } },
        { type: 'tool-call', id: 'a', name: 'one', argumentsText: '' },
        {
          type: 'tool-call',
          id: 'b',
          name: 'one',
          argumentsText: '{"x":1}',
          signature: { format: 'generate-content', value: 'c2ln' },
        },
      ]),
    )
    expect(choice).toMatchObject({
      message: {
        content: null,
        reasoning_content: 'Hm',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'one', arguments: '{}' } },
          {
            id: 'b',
            type: 'function',
            function: { name: 'one', arguments: '{"x":1}' },
            extra_content: { google: { thought_signature: 'svc.generate-content.c2ln' } },
          },
        ],
      },
      finish_reason: 'tool_calls',
    })
    expect(JSON.stringify(choice)).not.toContain('secret')
  })

  test('an answer without content has an empty text', () => {
    expect(choiceOf(answer([], { kind: 'length' }))).toMatchObject({
      message: { content: '' },
      finish_reason: 'length',
    })
  })

  test('a refusal has no content', () => {
    expect(choiceOf(answer([{ type: 'refusal', text: 'No' }], { kind: 'content-filter' }))).toMatchObject({
      message: { content: null, refusal: 'No' },
      finish_reason: 'stop',
    })
  })

  const reasons: [kind: Choice['finish']['kind'], word: string][] = [
    ['stop', 'stop'],
    ['stop-sequence', 'stop'],
    ['pause', 'stop'],
    ['error', 'content_filter'],
    ['unknown', 'content_filter'],
    ['length', 'length'],
    ['context-length', 'length'],
    ['content-filter', 'content_filter'],
    ['tool-calls', 'stop'],
  ]
  for (const [kind, word] of reasons) {
    test(`an answer without tool calls that ends in ${kind} has the finish reason ${word}`, () => {
      const choice = choiceOf(answer([{ type: 'text', text: 'x' }], { kind }))
      expect(isJsonObject(choice) && choice.finish_reason).toBe(word)
    })
  }

  test('an answer that is encoded and decoded again is the same', () => {
    const content: Choice['content'] = [
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'Hi' },
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } },
      { type: 'tool-call', id: 'a', name: 'one', argumentsText: '{"x":1}' },
    ]
    const response = {
      ...answer(content, { kind: 'tool-calls', raw: 'tool_calls' }),
      usage: usageOf({ uncached: 1, output: 2 }),
    }
    expect(decodeResponse(encodeResponse(response, CONTEXT))).toEqual({
      ...response,
      id: CONTEXT.id,
      created: CONTEXT.created,
      model: CONTEXT.model,
    })
  })
})
