/** Invalid generate-content requests are refused with the field and the limit; no value is coerced. */
import { describe, expect, test } from 'bun:test'
import { decode, refusalOf } from '@test/formats/generate-content/support'
import { generateContent } from '@/formats/generate-content/index'
import type { JsonObject } from '@/lib/json'

describe('a refused request', () => {
  const config = (generationConfig: object) => ({ generationConfig }) as JsonObject
  test.each<[string, JsonObject, string]>([
    ['contents', { contents: [] }, 'contents must be an array of 1 to 100000 items'],
    ['contents', { contents: undefined }, 'contents is required'],
    ['contents', { contents: 7 }, 'contents must be an array of 1 to 100000 items'],
    ['contents', { contents: [{ parts: [{ text: '' }] }] }, 'contents must contain at least one part'],
    [
      'contents[0].role',
      { contents: [{ role: 'assistant', parts: [] }] },
      'contents[0].role must be one of user, model, function',
    ],
    ['contents[0].parts[1].text', { contents: [{ parts: [{ text: 'a' }, { text: 5 }] }] }, 'must be a string'],
    [
      'contents[0].parts[0].functionCall.args',
      { contents: [{ role: 'model', parts: [{ functionCall: { name: 'a', args: '{}' } }] }] },
      'must be an object',
    ],
    [
      'contents[0].parts[0].functionCall.name',
      { contents: [{ role: 'model', parts: [{ functionCall: {} }] }] },
      'is required',
    ],
    [
      'contents[0].parts[0].inlineData.data',
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png' } }] }] },
      'is required',
    ],
    ['generationConfig.temperature', config({ temperature: 2.1 }), 'must be a number from 0 to 2'],
    ['generationConfig.temperature', config({ temperature: '1' }), 'must be a number from 0 to 2'],
    ['generationConfig.temperature', config({ temperature: Number.POSITIVE_INFINITY }), 'must be a number from 0 to 2'],
    ['generationConfig.topP', config({ top_p: -0.1 }), 'must be a number from 0 to 1'],
    ['generationConfig.maxOutputTokens', config({ maxOutputTokens: 0 }), 'must be an integer from 1 to 10000000'],
    ['generationConfig.maxOutputTokens', config({ maxOutputTokens: 1.5 }), 'must be an integer from 1 to 10000000'],
    ['generationConfig.maxOutputTokens', config({ maxOutputTokens: 1e300 }), 'must be an integer from 1 to 10000000'],
    ['generationConfig.maxOutputTokens', config({ maxOutputTokens: '64' }), 'must be an integer from 1 to 10000000'],
    ['generationConfig.candidateCount', config({ candidateCount: 9 }), 'must be an integer from 1 to 8'],
    ['generationConfig.candidateCount', config({ candidateCount: 1.8e19 }), 'must be an integer from 1 to 8'],
    ['generationConfig.candidateCount', config({ candidateCount: -1 }), 'must be an integer from 1 to 8'],
    [
      'generationConfig.stopSequences',
      config({ stopSequences: ['1', '2', '3', '4', '5', '6'] }),
      'must be an array of at most 5 items',
    ],
    [
      'generationConfig.thinkingConfig.thinkingBudget',
      config({ thinkingConfig: { thinkingBudget: -2 } }),
      'must be an integer from -1',
    ],
    [
      'generationConfig.thinkingConfig.thinkingLevel',
      config({ thinkingConfig: { thinkingLevel: 'HUGE' } }),
      'MINIMAL, LOW, MEDIUM, HIGH',
    ],
    [
      'generationConfig.thinkingConfig',
      config({ thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 5 } }),
      'not both',
    ],
    [
      'toolConfig.functionCallingConfig.mode',
      { toolConfig: { functionCallingConfig: { mode: 'SOME' } } },
      'AUTO, ANY, NONE, VALIDATED',
    ],
    [
      'tools[0].functionDeclarations[0].name',
      { tools: [{ functionDeclarations: [{ name: '' }] }] },
      'must be a non-empty string',
    ],
    ['fallback', { fallback: Array.from({ length: 9 }, () => 'svc/a') }, 'must be an array of at most 8 items'],
    ['fallback[0]', { fallback: [''] }, 'must be a non-empty string of at most 256 characters'],
  ])('a request is refused: %s: %j', (param, body, message) => {
    const refusal = refusalOf(() => decode(body))
    expect(refusal).toMatchObject({ kind: 'invalid_request', param })
    expect(refusal.message).toContain(message)
  })

  test('a field in both spellings is refused, at any level', () => {
    const twice = config({ maxOutputTokens: 10, max_output_tokens: 100_000 })
    expect(refusalOf(() => decode(twice))).toMatchObject({
      param: 'generationConfig.maxOutputTokens',
      message: 'generationConfig.maxOutputTokens is given twice, in two spellings; send it once',
    })
    expect(refusalOf(() => decode({ generationConfig: {}, generation_config: {} })).param).toBe('generationConfig')
    expect(
      refusalOf(() =>
        decode({ contents: [{ parts: [{ functionCall: { name: 'a' }, function_call: { name: 'b' } }] }] }),
      ).param,
    ).toBe('contents[0].parts[0].functionCall')
  })

  test('a request without a model is refused', () => {
    expect(refusalOf(() => generateContent.decodeRequest({ contents: 'Hi' }, {})).param).toBe('model')
  })
})

test('fields with names such as toString are ordinary data', () => {
  const hostile = JSON.parse(
    '{"__proto__":{"contents":1},"constructor":1,"contents":[{"parts":[{"text":"Hi","__proto__":{"thought":true}}]}],"generation_config":{"constructor":{"a":1},"__proto__":{"maxOutputTokens":5}}}',
  )
  const request = generateContent.decodeRequest(hostile, { model: 'svc/a' })
  expect(request.turns).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
  expect(request.maxOutputTokens).toBeUndefined()
  expect(Object.prototype).not.toHaveProperty('maxOutputTokens')
})
