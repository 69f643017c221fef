/** generate-content on both sides: requests and answers stay the same, except for necessary changes. */
import { describe, expect, test } from 'bun:test'
import { passHooks } from '@test/formats/pass-hooks'
import type { ChatRequest } from '@/chat/request'
import { generateContent } from '@/formats/generate-content/index'
import { type JsonObject, parseJson } from '@/lib/json'
import { rememberNumbers } from '@/lib/json-source/as-written'
import { context, readFixture, readJsonFixture, traits } from './support'

const { passThrough } = generateContent
const foreign = Buffer.from('svc.messages.ErUBCkYI').toString('base64')

function pass(body: JsonObject, change: (request: ChatRequest) => void = () => {}, ...quirks: string[]): JsonObject {
  const before = structuredClone(body)
  const request = generateContent.decodeRequest(body, { model: 'svc/alpha' })
  change(request)
  const passed = passThrough.request(body, request, traits(...quirks))
  expect(body).toEqual(before)
  return passed
}

describe('requests', () => {
  test('unlisted fields are omitted from a passed-through request, in any spelling and place', () => {
    const generation_config = { temperature: 1, brand_new: 2, 'odd.name': 3 }
    const passed = pass({ contents: 'Hi', brand_new: { x: 1 }, BrandNew: 1, generation_config })
    expect(Object.keys(passed)).toEqual(['contents', 'generation_config'])
    expect(passed.generation_config).toEqual({ temperature: 1 })
  })

  test('a passed-through request keeps other parts unchanged: spelling, safety settings', () => {
    const body: JsonObject = { ...readJsonFixture('snake-case-request.json'), labels: { x: '1' }, fallback: ['svc/b'] }
    const { fallback: _, ...expected } = body
    const passed = pass(body)
    expect(passed).toEqual(expected)
    expect(passed.contents).toBe(body.contents as never)
  })

  test('numbers in a passed-through request keep their digits', () => {
    const text = `{"contents":[{"parts":[{"text":"Hi"}]}],"labels":{"id":1098765432109876543},
      "generation_config":{"max_output_tokens":1e2,"temperature":1.0,"responseJsonSchema":{"maximum":1e5}}}`
    const body = parseJson(text) as JsonObject
    rememberNumbers(body, text)
    const request = generateContent.decodeRequest(body, { model: 'svc/alpha' })
    expect(JSON.stringify(passThrough.request(body, request, traits()))).toBe(
      '{"contents":[{"parts":[{"text":"Hi"}]}],"labels":{"id":1098765432109876543},' +
        '"generation_config":{"max_output_tokens":100,"temperature":1,"responseJsonSchema":{"maximum":1e5}}}',
    )
  })

  test('short notations that providers refuse are written in full in a passed-through request', () => {
    expect(pass({ contents: 'Hi', system_instruction: 'Be brief.' })).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      system_instruction: { parts: [{ text: 'Be brief.' }] },
    })
  })

  test('a lowered output limit replaces the caller’s in a passed-through request', () => {
    const lower = (request: ChatRequest) => {
      request.maxOutputTokens = 256
    }
    expect(pass({ contents: 'Hi' }, lower).generationConfig).toEqual({ maxOutputTokens: 256 })
    expect(
      pass({ contents: 'Hi', generationConfig: { topK: 3, maxOutputTokens: 999 } }, lower).generationConfig,
    ).toEqual({ topK: 3, maxOutputTokens: 256 })
    expect(pass({ contents: 'Hi', generation_config: { max_output_tokens: 999 } }, lower)).toMatchObject({
      generation_config: { max_output_tokens: 256 },
    })
    expect(pass({ contents: 'Hi', generationConfig: { maxOutputTokens: null } }, lower).generationConfig).toEqual({
      maxOutputTokens: 256,
    })
  })

  test('thinking settings are removed from a passed-through request if the model has none', () => {
    const generationConfig = { topK: 3, thinkingConfig: { thinkingLevel: 'LOW' } }
    const none = () => {}
    expect(pass({ contents: 'Hi', generationConfig }, none).generationConfig).toEqual(generationConfig)
    expect(pass({ contents: 'Hi', generationConfig }, none, 'no-thinking').generationConfig).toEqual({ topK: 3 })
    const snake = { thinking_config: { thinking_level: 'LOW' } }
    expect(pass({ contents: 'Hi', generation_config: snake }, none, 'no-thinking').generation_config).toEqual({})
  })

  test('other providers’ signatures are removed, with thoughts that have nothing else', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'a' }] },
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true, thoughtSignature: foreign },
          { text: '', thought: true, thoughtSignature: foreign },
          { functionCall: { name: 'a', args: {} }, thought_signature: foreign },
          { functionCall: { name: 'b', args: {} }, thoughtSignature: 'CiQB0e2Kb-_8AQ' },
        ],
      },
      { role: 'model', parts: [{ text: '', thought: true, thoughtSignature: foreign }] },
    ]
    expect(pass({ contents }).contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }] },
      {
        role: 'model',
        parts: [
          { text: 'hm', thought: true },
          { functionCall: { name: 'a', args: {} } },
          { functionCall: { name: 'b', args: {} }, thoughtSignature: 'CiQB0e2Kb-_8AQ' },
        ],
      },
    ])
  })

  test('stored signatures are restored; if all are lost, the first call skips the signature check', () => {
    const contents: JsonObject[] = [
      { role: 'user', parts: [{ text: 'a' }] },
      { role: 'model', parts: [{ functionCall: { id: '1', name: 'a' } }, { functionCall: { id: '2', name: 'a' } }] },
      { role: 'user', parts: [{ functionResponse: { id: '1', name: 'a', response: {} } }] },
      { role: 'model', parts: [{ function_call: { id: '3', name: 'a' } }] },
    ]
    const keep = (request: ChatRequest) => {
      for (const { content } of request.turns) {
        for (const block of content) {
          if (block.type === 'tool-call' && block.id === '1')
            block.signature = { format: 'generate-content', value: 'c2ln' }
        }
      }
    }
    const restored = pass({ contents }, keep, 'thought-signatures').contents as JsonObject[]
    expect(restored[0]).toBe(contents[0] as JsonObject)
    expect(restored[1]?.parts).toEqual([
      { functionCall: { id: '1', name: 'a' }, thoughtSignature: 'c2ln' },
      { functionCall: { id: '2', name: 'a' } },
    ])
    expect(restored[2]).toBe(contents[2] as JsonObject)
    expect(restored[3]?.parts).toEqual([
      { function_call: { id: '3', name: 'a' }, thoughtSignature: 'skip_thought_signature_validator' },
    ])
    expect(pass({ contents }).contents).toBe(contents as never)
  })
})

describe('answers', () => {
  test('a passed-through answer changes only in its model name, byte for byte', () => {
    const text = readFixture('text.json')
    expect(passThrough.response(text, readJsonFixture('text.json'), context, passHooks())).toBe(
      text.replace('"up-flash-001"', '"svc/alpha"'),
    )
  })

  test('a missing token count becomes 0, which clients expect', () => {
    const usageMetadata = { promptTokenCount: 1, promptTokensDetails: [{ modality: 'AUDIO' }, { tokenCount: 1 }] }
    const answer = { candidates: [], usageMetadata }
    const whole = passThrough.response(JSON.stringify(answer), answer, context, passHooks())
    const promptTokensDetails = [{ modality: 'AUDIO', tokenCount: 0 }, { tokenCount: 1 }]
    expect(JSON.parse(whole)).toEqual({ ...answer, usageMetadata: { ...usageMetadata, promptTokensDetails } })
    const stream = passThrough.createStream(context, passHooks())
    expect(stream.event(JSON.stringify(answer), answer)).toBe(whole)
  })

  test('passed-through events change only in the model name; events that break clients or show a provider’s error are hidden', () => {
    const event = (data: string) => passThrough.createStream(context, passHooks()).event(data, parseJson(data))
    expect(event('{"candidates":[ ],"modelVersion":"up"}')).toBe('{"candidates":[ ],"modelVersion":"svc/alpha"}')
    expect(event('{"candidates":[{"x":"a\u2028b"}]}')).toBe('{"candidates":[{"x":"a\\u2028b"}]}')
    expect(event('{"error":{"code":503,"message":"org-123"}}')).toBeUndefined()
    expect(event('[DONE]')).toBeUndefined()
    expect(event('[{"candidates":[{"x":1.50}],"modelVersion":"up"}]')).toBe(
      '{"candidates":[{"x":1.50}],"modelVersion":"svc/alpha"}',
    )
    expect(event('')).toBeUndefined()
  })
})
