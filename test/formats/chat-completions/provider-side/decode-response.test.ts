/** Complete answers of every chat-completions dialect, and bodies that are no answers. */
import { describe, expect, test } from 'bun:test'
import { fixtureJson, usageOf } from '@test/formats/chat-completions/support'
import type { AnswerBlock, FinishReason } from '@/chat/response'
import { decodeResponse } from '@/formats/chat-completions/provider-side/decode-response'
import type { JsonObject, JsonValue } from '@/lib/json'

describe('an answer', () => {
  const cases: [file: string, content: AnswerBlock[], finish: FinishReason][] = [
    ['text.json', [{ type: 'text', text: 'Hello' }], { kind: 'stop', raw: 'stop' }],
    [
      'tools.json',
      [
        { type: 'tool-call', id: 'call_a', name: 'get_weather', argumentsText: '{"city":"Oslo"}' },
        {
          type: 'tool-call',
          id: 'call_b',
          name: 'get_weather',
          argumentsText: '{"city":"Rome"}',
          signature: { format: 'generate-content', value: 'c2ln' },
        },
      ],
      { kind: 'tool-calls', raw: 'tool_calls' },
    ],
    [
      'reasoning.json',
      [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Yes' },
      ],
      { kind: 'stop', raw: 'stop' },
    ],
    [
      'mistral-thinking.json',
      [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Yes' },
      ],
      { kind: 'stop', raw: 'stop' },
    ],
    ['refusal.json', [{ type: 'refusal', text: 'No.' }], { kind: 'content-filter', raw: 'content_filter' }],
    ['length-empty.json', [], { kind: 'length', raw: 'length' }],
  ]
  for (const [file, content, finish] of cases) {
    test(`the recorded answer ${file} is decoded`, async () => {
      expect(decodeResponse(await fixtureJson(file))).toEqual({
        id: 'chatcmpl-1',
        created: 1_760_000_000,
        model: 'alpha-2026-01',
        choices: [{ index: 0, content, finish }],
        usage: usageOf({ uncached: 8, cacheRead: 12, output: 7, reasoning: 3 }),
        ...(file === 'text.json' && { serviceTier: 'standard' }),
      })
    })
  }

  const decodeOne = (message: JsonObject, finish: JsonValue = 'stop', more: JsonObject = {}) =>
    decodeResponse({ choices: [{ message, finish_reason: finish }], ...more })

  test('an answer may lack id, time, model, usage and reason', () => {
    expect(decodeOne({ content: 'x' }, null)).toEqual({
      id: '',
      created: 0,
      model: '',
      choices: [{ index: 0, content: [{ type: 'text', text: 'x' }], finish: { kind: 'stop' } }],
      usage: null,
    })
  })

  const finishes: [word: string, hasCall: boolean, kind: FinishReason['kind']][] = [
    ['stop', true, 'tool-calls'],
    ['STOP', false, 'stop'],
    ['eos', false, 'stop'],
    ['something_new', false, 'unknown'],
    ['null', false, 'stop'],
    ['something_new', true, 'tool-calls'],
    ['length', true, 'length'],
    ['content_filter', true, 'content-filter'],
    ['max_tokens', false, 'length'],
    ['model_length', false, 'context-length'],
    ['tool_calls', false, 'stop'],
    ['function_call', true, 'tool-calls'],
    ['error', false, 'error'],
  ]
  for (const [word, hasCall, kind] of finishes) {
    test(`an answer with the reason ${word} ${hasCall ? 'after' : 'without'} a tool call ends in ${kind}`, () => {
      const calls = hasCall ? [{ id: 'a', function: { name: 'f', arguments: '{}' } }] : []
      expect(decodeOne({ content: null, tool_calls: calls }, word)?.choices[0]?.finish).toEqual({
        ...{ kind, raw: word },
        ...(word === 'something_new' && { isUnlisted: true }),
      })
    })
  }

  test('a tool call without id gets one, arguments may be an object, and a call without a name is dropped', () => {
    const calls = [{ function: { name: 'f', arguments: { a: 1 } } }, { id: 'b', function: { arguments: '{}' } }, null]
    const [block, ...others] = decodeOne({ tool_calls: calls })?.choices[0]?.content ?? []
    expect(block).toMatchObject({ type: 'tool-call', name: 'f', argumentsText: '{"a":1}' })
    expect(block?.type === 'tool-call' && block.id).toMatch(/^call_\w{22}$/)
    expect(others).toEqual([])
  })

  test('an answer may have a custom tool call, images, and the text of spoken output', () => {
    const custom = { id: 'a', type: 'custom', custom: { name: 'f', input: 'x "y"' } }
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }]
    expect(decodeOne({ content: null, tool_calls: [custom], images })?.choices[0]?.content).toEqual([
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'aGk=' } },
      { type: 'tool-call', id: 'a', name: 'f', argumentsText: '{"input":"x \\"y\\""}' },
    ])
    expect(decodeOne({ content: null, audio: { data: 'x', transcript: 'hi' } })?.choices[0]?.content).toEqual([
      { type: 'text', text: 'hi' },
    ])
  })

  test('an answer keeps logprobs and the index of each choice', () => {
    const choice = (index: number) => ({
      index,
      message: { content: 'x' },
      finish_reason: 'stop',
      logprobs: { content: [] },
    })
    const choices = decodeResponse({ choices: [choice(1), choice(0)] })?.choices
    expect(choices?.map(({ index, logprobs }) => [index, logprobs])).toEqual([
      [1, { content: [] }],
      [0, { content: [] }],
    ])
  })
})

describe('bodies that are no answer', () => {
  const bodies: JsonValue[] = [
    null,
    'x',
    '<html></html>',
    [],
    [{ error: { message: 'x' } }],
    {},
    { choices: [] },
    { choices: [null, 5, {}] },
    { choices: {} },
    { error: 'x', choices: [{ message: { content: 'x' } }] },
    { candidates: [] },
    { type: 'message', content: [] },
  ]
  for (const body of bodies) {
    test(JSON.stringify(body), () => expect(decodeResponse(body)).toBeUndefined())
  }

  test('an error with status 200 is an error', async () => {
    expect(decodeResponse(await fixtureJson('error-in-200.json'))).toBeUndefined()
  })
})
