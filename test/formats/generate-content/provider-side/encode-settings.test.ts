/** What a provider of this format is told beside the contents. */
import { describe, expect, test } from 'bun:test'
import { chatRequest, encode, refusalOf, traits } from '@test/formats/generate-content/support'
import { generateContent } from '@/formats/generate-content/index'

describe('settings', () => {
  test('sampling, clamped and bounded', () => {
    const { body, warnings } = generateContent.encodeRequest(
      chatRequest({
        sampling: {
          temperature: 3,
          topP: 0.5,
          topK: 40,
          frequencyPenalty: 2,
          presencePenalty: -2,
          seed: 2 ** 40,
          stop: ['1', '', '2', '3', '4', '5', '6'],
          logprobs: true,
          topLogprobs: 3,
        },
        maxOutputTokens: 100_000,
        choices: 2,
      }),
      traits(),
    )
    expect(body.generationConfig).toEqual({
      temperature: 2,
      topP: 0.5,
      topK: 40,
      frequencyPenalty: 1.99,
      presencePenalty: -2,
      responseLogprobs: true,
      logprobs: 3,
      stopSequences: ['1', '2', '3', '4', '5'],
      candidateCount: 2,
      maxOutputTokens: 8192,
    })
    expect(warnings.map((warning) => warning.feature)).toEqual(['sampling.stop', 'sampling.seed'])
    expect(refusalOf(() => encode({ choices: 9 })).message).toContain('at most 8')
  })

  test('reasoning as a level', () => {
    const configOf = (reasoning: object) =>
      (encode({ reasoning }).generationConfig as { thinkingConfig?: object } | undefined)?.thinkingConfig
    expect(configOf({ effort: 'xhigh', visible: true })).toEqual({ thinkingLevel: 'HIGH', includeThoughts: true })
    expect(configOf({ effort: 'none' })).toEqual({ thinkingLevel: 'MINIMAL' })
    expect(configOf({ budgetTokens: 1024 })).toEqual({ thinkingLevel: 'LOW' })
    expect(configOf({ budgetTokens: 8000 })).toEqual({ thinkingLevel: 'MEDIUM' })
    expect(configOf({ budgetTokens: 32_000 })).toEqual({ thinkingLevel: 'HIGH' })
    expect(configOf({ budgetTokens: 0 })).toEqual({ thinkingLevel: 'MINIMAL' })
    expect(configOf({ budgetTokens: -1, visible: false })).toBeUndefined()
  })

  test('reasoning as a budget, or not at all', () => {
    const configOf = (reasoning: object, quirk: string) =>
      (encode({ reasoning }, quirk).generationConfig as { thinkingConfig?: object } | undefined)?.thinkingConfig
    const budgets = (['none', 'low', 'medium', 'high', 'max'] as const).map((effort) =>
      configOf({ effort }, 'thinking-budget'),
    )
    expect(budgets).toEqual([0, 1024, 8192, 24_576, 24_576].map((thinkingBudget) => ({ thinkingBudget })))
    expect(configOf({ budgetTokens: -1, visible: true }, 'thinking-budget')).toEqual({
      thinkingBudget: -1,
      includeThoughts: true,
    })
    expect(configOf({ budgetTokens: 100_000 }, 'thinking-budget')).toEqual({ thinkingBudget: 24_576 })
    expect(configOf({ effort: 'high' }, 'no-thinking')).toBeUndefined()
  })

  test('the shape of the answer', () => {
    const schema = { type: 'object', properties: { a: { const: 'x' } }, additionalProperties: false }
    expect(encode({ output: { type: 'json' } }).generationConfig).toEqual({ responseMimeType: 'application/json' })
    expect(encode({ output: { type: 'json-schema', schema } }).generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
    expect(encode({ output: { type: 'json-schema', schema } }, 'openapi-schema').generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING', enum: ['x'] } } },
    })
  })

  test('tools: JSON Schema as it is, or the subset; none for a function without arguments', () => {
    const tools = [
      {
        name: 'a',
        description: 'A',
        parameters: {
          $schema: 'x',
          type: 'object',
          properties: { n: { type: ['integer', 'null'], exclusiveMinimum: 0 } },
          additionalProperties: false,
        },
      },
      { name: 'b', parameters: { type: 'object', properties: {}, additionalProperties: false } },
      { name: 'c' },
      { name: 'd', parameters: { type: 'object', additionalProperties: { type: 'string' } } },
    ]
    expect(encode({ tools }).tools).toEqual([
      {
        functionDeclarations: [
          { name: 'a', description: 'A', parametersJsonSchema: tools[0]?.parameters },
          { name: 'b' },
          { name: 'c' },
          { name: 'd', parametersJsonSchema: tools[3]?.parameters },
        ],
      },
    ])
    expect(encode({ tools }, 'openapi-schema').tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'a',
            description: 'A',
            parameters: { type: 'OBJECT', properties: { n: { type: 'INTEGER', minimum: 1, nullable: true } } },
          },
          { name: 'b' },
          { name: 'c' },
          { name: 'd' },
        ],
      },
    ])
  })

  test('the choice of tools, where there are any', () => {
    const tools = [{ name: 'a' }]
    const choices = [
      { type: 'auto' },
      { type: 'auto', names: ['a'] },
      { type: 'required' },
      { type: 'required', names: ['a', 'b'] },
      { type: 'none' },
      { type: 'tool', name: 'a' },
    ] as const
    expect(choices.map((toolChoice) => encode({ tools, toolChoice: { ...toolChoice } as never }).toolConfig)).toEqual(
      [
        { mode: 'AUTO' },
        { mode: 'VALIDATED', allowedFunctionNames: ['a'] },
        { mode: 'ANY' },
        { mode: 'ANY', allowedFunctionNames: ['a', 'b'] },
        { mode: 'NONE' },
        { mode: 'ANY', allowedFunctionNames: ['a'] },
      ].map((functionCallingConfig) => ({ functionCallingConfig })),
    )
    expect(encode({ toolChoice: { type: 'auto' } }).toolConfig).toBeUndefined()
    expect(() => encode({ toolChoice: { type: 'required' } })).toThrow('no tools')
    expect(() => encode({ toolChoice: { type: 'tool', name: 'a' } })).toThrow('no tools')
  })

  test('what the format cannot say is a warning', () => {
    const request = chatRequest({ parallelToolCalls: false, userId: 'u', serviceTier: 'priority', cacheKey: 'k' })
    const { body, warnings } = generateContent.encodeRequest(request, traits())
    expect(warnings.map((warning) => warning.feature)).toEqual(['parallelToolCalls', 'userId', 'serviceTier'])
    expect(Object.keys(body)).toEqual(['contents'])
  })

  test('what only another format’s provider can do is refused', () => {
    expect(refusalOf(() => encode({ nativeOnly: ['tools[0] (web_search)'] }))).toMatchObject({ param: 'tools[0]' })
  })
})
