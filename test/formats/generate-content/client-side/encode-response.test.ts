/** Complete answers in the generate-content format. */
import { describe, expect, test } from 'bun:test'
import { context, readJsonFixture } from '@test/formats/generate-content/support'
import type { AnswerBlock, ChatResponse, FinishReason } from '@/chat/response'
import { encodeFinishReason } from '@/formats/generate-content/finish-reason'
import { generateContent } from '@/formats/generate-content/index'

function responseOf(content: AnswerBlock[], changes: Partial<ChatResponse> = {}): ChatResponse {
  return {
    id: 'msg_1',
    created: 0,
    model: 'upstream',
    choices: [{ index: 0, content, finish: { kind: 'stop' } }],
    usage: null,
    ...changes,
  }
}

describe('encodeResponse', () => {
  test('an answer has text, call and usage, with the public model name', () => {
    const usage = { uncached: 7, cacheRead: 3, cacheWrite5m: 0, cacheWrite1h: 0, output: 9, reasoning: 4 }
    const content: AnswerBlock[] = [
      { type: 'text', text: 'Look:' },
      { type: 'tool-call', id: 'toolu_1', name: 'a', argumentsText: '{"x":[1]}' },
      { type: 'tool-call', id: 'toolu_2', name: 'b', argumentsText: '' },
    ]
    expect(generateContent.encodeResponse(responseOf(content, { usage }), context)).toEqual({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'Look:' },
              { functionCall: { id: 'toolu_1', name: 'a', args: { x: [1] } } },
              { functionCall: { id: 'toolu_2', name: 'b', args: {} } },
            ],
          },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: {
        promptTokenCount: 10,
        cachedContentTokenCount: 3,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 4,
        totalTokenCount: 19,
      },
      modelVersion: 'svc/alpha',
      responseId: 'answer-1',
    })
  })

  test('an empty answer has an empty part, so that client libraries keep the turn', () => {
    expect(generateContent.encodeResponse(responseOf([]), context).candidates).toMatchObject([
      { content: { parts: [{ text: '' }] } },
    ])
  })

  test('reasoning is only sent to clients that requested it', () => {
    const content: AnswerBlock[] = [
      { type: 'reasoning', text: 'hm', signature: { format: 'generate-content', value: 'c2ln' } },
      { type: 'reasoning', text: '' },
      { type: 'refusal', text: 'No.' },
    ]
    const partsFor = (wantsReasoning: boolean) =>
      generateContent.encodeResponse(responseOf(content), { ...context, wantsReasoning }).candidates
    expect(partsFor(true)).toMatchObject([
      { content: { parts: [{ text: 'hm', thought: true, thoughtSignature: 'c2ln' }, { text: 'No.' }] } },
    ])
    expect(partsFor(false)).toMatchObject([{ content: { parts: [{ text: 'No.' }] } }])
  })

  test('media in an answer is encoded', () => {
    const content: AnswerBlock[] = [
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AA==' } },
      { type: 'audio', mediaType: 'audio/wav', data: 'UklG' },
      { type: 'image', source: { type: 'url', url: 'https://example.com/x' } },
    ]
    expect(generateContent.encodeResponse(responseOf(content), context).candidates).toMatchObject([
      { content: { parts: [{ inlineData: { mimeType: 'image/png' } }, { inlineData: { mimeType: 'audio/wav' } }] } },
    ])
  })

  test.each(['text.json', 'tools.json', 'logprobs.json'])(
    'an answer with %s is the same after encoding and decoding',
    (name) => {
      const first = generateContent.decodeResponse(readJsonFixture(name))
      const second = first && generateContent.decodeResponse(generateContent.encodeResponse(first, context))
      expect(second?.choices).toEqual(first?.choices ?? [])
      expect(second?.usage).toEqual(first?.usage ?? null)
    },
  )
})

test.each<[FinishReason, string]>([
  [{ kind: 'stop', raw: 'end_turn' }, 'STOP'],
  [{ kind: 'stop-sequence', raw: 'stop_sequence', sequence: 'END' }, 'STOP'],
  [{ kind: 'tool-calls', raw: 'tool_calls' }, 'STOP'],
  [{ kind: 'pause', raw: 'pause_turn' }, 'STOP'],
  [{ kind: 'length', raw: 'length' }, 'MAX_TOKENS'],
  [{ kind: 'context-length' }, 'MAX_TOKENS'],
  [{ kind: 'content-filter', raw: 'refusal' }, 'SAFETY'],
  [{ kind: 'error' }, 'OTHER'],
  [{ kind: 'content-filter', raw: 'RECITATION' }, 'RECITATION'],
])('finish reason %j is sent as %s', (finish, word) => {
  expect(encodeFinishReason(finish)).toBe(word)
})
