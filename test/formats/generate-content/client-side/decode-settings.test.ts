/** What a request asks for beside its contents. */
import { describe, expect, test } from 'bun:test'
import { decode } from '@test/formats/generate-content/support'

describe('settings', () => {
  test('thinking: levels in any case, budgets, off and dynamic', () => {
    const reasoningOf = (thinkingConfig: object) => decode({ generationConfig: { thinkingConfig } as never }).reasoning
    expect(reasoningOf({ thinkingLevel: 'LOW', includeThoughts: false })).toEqual({ effort: 'low', visible: false })
    expect(reasoningOf({ thinkingLevel: 'minimal' })).toEqual({ effort: 'minimal' })
    expect(reasoningOf({ thinkingBudget: 0 })).toEqual({ effort: 'none' })
    expect(reasoningOf({ thinkingBudget: -1, includeThoughts: true })).toEqual({ budgetTokens: -1, visible: true })
    expect(reasoningOf({ thinkingBudget: 2048 })).toEqual({ budgetTokens: 2048 })
  })

  test('the choice of tools', () => {
    const choiceOf = (config: object) => decode({ toolConfig: { functionCallingConfig: config } as never }).toolChoice
    expect(choiceOf({})).toEqual({ type: 'auto' })
    expect(choiceOf({ mode: 'NONE' })).toEqual({ type: 'none' })
    expect(choiceOf({ mode: 'ANY' })).toEqual({ type: 'required' })
    expect(choiceOf({ mode: 'ANY', allowedFunctionNames: [] })).toEqual({ type: 'required' })
    expect(choiceOf({ mode: 'any', allowedFunctionNames: ['a'] })).toEqual({ type: 'tool', name: 'a' })
    expect(choiceOf({ mode: 'ANY', allowedFunctionNames: ['a', 'b'] })).toEqual({ type: 'required', names: ['a', 'b'] })
    expect(choiceOf({ mode: 'VALIDATED', allowedFunctionNames: ['a'] })).toEqual({ type: 'auto', names: ['a'] })
  })

  test('the shape of the answer', () => {
    const outputOf = (generationConfig: object) => decode({ generationConfig: generationConfig as never }).output
    expect(outputOf({ responseMimeType: 'application/json' })).toEqual({ type: 'json' })
    expect(outputOf({ responseMimeType: 'text/plain' })).toEqual({ type: 'text' })
    expect(outputOf({ responseJsonSchema: { type: 'object' } })).toEqual({
      type: 'json-schema',
      schema: { type: 'object' },
    })
    expect(outputOf({ responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['a'] } })).toEqual({
      type: 'text',
    })
  })

  test('what only a provider of this format can do is named, and kept for it', () => {
    const request = decode({
      cachedContent: 'cachedContents/1',
      tools: [{ functionDeclarations: [{ name: 'a' }] }, { google_search: {} }],
      generationConfig: {
        responseModalities: ['TEXT', 'IMAGE'],
        responseMimeType: 'text/x.enum',
        mediaResolution: 'LOW',
      },
      labels: { team: 'x' },
      contents: [{ parts: [{ text: 'Hi' }, { toolResponse: {} }] }],
    })
    expect(request.nativeOnly).toEqual([
      'cachedContent',
      'generationConfig.responseMimeType (text/x.enum)',
      'generationConfig.responseModalities',
      'tools[1] (googleSearch)',
      'contents[0].parts[1] (toolResponse)',
    ])
    expect(request.extensions['generate-content']).toMatchObject({
      cachedContent: 'cachedContents/1',
      labels: { team: 'x' },
      generationConfig: { mediaResolution: 'LOW' },
    })
  })
})
