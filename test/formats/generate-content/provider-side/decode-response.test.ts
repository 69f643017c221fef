/** Complete answers of generate-content providers, and bodies with status 200 that are no answers. */
import { describe, expect, test } from 'bun:test'
import { readJsonFixture } from '@test/formats/generate-content/support'
import { generateContent } from '@/formats/generate-content/index'
import { decodeResponse } from '@/formats/generate-content/provider-side/decode-response'
import type { JsonValue } from '@/lib/json'

describe('answers', () => {
  test('a text answer is decoded', () => {
    expect(generateContent.decodeResponse(readJsonFixture('text.json'))).toEqual({
      id: 'r-4kQaZ',
      created: 1_795_248_000,
      model: 'up-flash-001',
      choices: [{ index: 0, content: [{ type: 'text', text: 'Hello there.' }], finish: { kind: 'stop', raw: 'STOP' } }],
      usage: { uncached: 4, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 3, reasoning: 0 },
    })
  })

  test('a thought and parallel calls are decoded, with a base64url signature', () => {
    let calls = 0
    const response = decodeResponse(readJsonFixture('tools.json'), () => `call_${++calls}`)
    expect(response?.choices).toEqual([
      {
        index: 0,
        content: [
          { type: 'reasoning', text: 'Let me look.' },
          {
            type: 'tool-call',
            id: 'call_1',
            name: 'get_weather',
            argumentsText: '{"city":"Seoul"}',
            signature: { format: 'generate-content', value: 'AbC+/w==' },
          },
          { type: 'tool-call', id: 'call_2', name: 'get_weather', argumentsText: '{"city":"Busan"}' },
        ],
        finish: { kind: 'tool-calls', raw: 'STOP' },
      },
    ])
  })

  test.each([
    ['blocked.json', { kind: 'content-filter', raw: 'SAFETY' }],
    ['malformed-call.json', { kind: 'error', raw: 'MALFORMED_FUNCTION_CALL' }],
  ] as const)('the recorded answer %s has no content', (name, finish) => {
    const response = generateContent.decodeResponse(readJsonFixture(name))
    expect(response?.choices).toEqual([{ index: 0, content: [], finish }])
    expect(response?.usage?.uncached).toBe(8)
  })

  test('a missing finish reason is read as a stop, or as a call', () => {
    const finishOf = (part: JsonValue) =>
      generateContent.decodeResponse({ candidates: [{ content: { parts: [part] } }] })?.choices[0]?.finish
    expect(finishOf({ text: 'a' })).toEqual({ kind: 'stop' })
    expect(finishOf({ functionCall: { name: 'a' } })).toEqual({ kind: 'tool-calls' })
  })

  test('a list of stream chunks is read as one answer', () => {
    const chunk = (text: string, more: object = {}) => ({ candidates: [{ content: { parts: [{ text }] }, ...more }] })
    expect(generateContent.decodeResponse([chunk('a'), chunk('b', { finishReason: 'STOP' })])?.choices).toMatchObject([
      { content: [{ text: 'ab' }], finish: { kind: 'stop' } },
    ])
  })

  test('log probabilities are the same after decoding and encoding', () => {
    const response = generateContent.decodeResponse(readJsonFixture('logprobs.json'))
    expect(response?.choices[0]?.logprobs).toEqual({
      content: [
        {
          token: 'Hi',
          logprob: -0.1,
          bytes: [72, 105],
          top_logprobs: [
            { token: 'Hi', logprob: -0.1, bytes: [72, 105] },
            { token: 'Ho', logprob: -2.5, bytes: [72, 111] },
          ],
        },
      ],
    })
  })
})

test.each<[string, JsonValue]>([
  ['nothing', {}],
  ['null', null],
  ['a text', '<html>'],
  ['an error in a 200', { error: { code: 500, message: 'x', status: 'INTERNAL' } }],
  ['an error in a list', [{ error: { code: 500 } }]],
  ['no candidates', { candidates: [], usageMetadata: { promptTokenCount: 1 } }],
  ['an answer of another format', { id: 'x', object: 'chat.completion', choices: [] }],
])('%s is not read as an answer', (_, body) => {
  expect(generateContent.decodeResponse(body)).toBeUndefined()
})
