/** The requirements of a request, and the models that they rule out. */
import { describe, expect, test } from 'bun:test'
import { modelOf, providerOf, requestOf } from '@test/routing/world'
import type { FileBlock, UserBlock } from '@/chat/request'
import { readRequirements, ruledOut, wantsReasoning } from '@/routing/plan/requirements'

const provider = providerOf('p1')
const TEXT_ONLY = modelOf('svc/plain', [provider], { capabilities: new Set() })
const IMAGE: UserBlock = { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' } }

function needsOf(...content: UserBlock[]): string[] {
  return [...readRequirements(requestOf({ turns: [{ role: 'user', content }] })).capabilities].sort()
}

function file(source: FileBlock['source']): UserBlock {
  return { type: 'file', source }
}

describe('readRequirements', () => {
  test('plain text requires no capability', () => {
    expect(needsOf({ type: 'text', text: 'Hi' })).toEqual([])
  })

  test('each kind of content requires its capability', () => {
    expect(needsOf(IMAGE)).toEqual(['images'])
    expect(needsOf({ type: 'audio', mediaType: 'audio/wav', data: 'AAAA' })).toEqual(['audio'])
    expect(needsOf(file({ type: 'base64', mediaType: 'application/pdf', data: 'AAAA' }))).toEqual(['files'])
    expect(needsOf(file({ type: 'url', url: 'https://example.test/x' }))).toEqual(['files'])
    expect(needsOf(file({ type: 'base64', mediaType: 'image/png', data: 'AAAA' }))).toEqual(['images'])
    expect(needsOf(file({ type: 'base64', mediaType: 'audio/mp3', data: 'AAAA' }))).toEqual(['audio'])
    expect(needsOf(file({ type: 'text', text: 'x', mediaType: 'text/plain' }))).toEqual([])
  })

  test('an image inside a tool result is found', () => {
    const result: UserBlock = { type: 'tool-result', callId: 'c', content: [IMAGE as never], isError: false }
    expect(needsOf(result)).toEqual(['images', 'tools'])
  })

  test('tools, a schema and thinking are requirements; JSON mode is none', () => {
    const { capabilities } = readRequirements(
      requestOf({
        tools: [{ name: 'look' }],
        output: { type: 'json-schema', schema: {} },
        reasoning: { effort: 'high' },
      }),
    )
    expect([...capabilities].sort()).toEqual(['json-schema', 'reasoning', 'tools'])
    expect(readRequirements(requestOf({ output: { type: 'json' } })).capabilities.size).toBe(0)
  })

  test('effort or a budget requires thinking; turning thinking off does not', () => {
    expect(wantsReasoning(undefined)).toBe(false)
    expect(wantsReasoning({ visible: true })).toBe(false)
    expect(wantsReasoning({ effort: 'none' })).toBe(false)
    expect(wantsReasoning({ effort: 'minimal' })).toBe(false)
    expect(wantsReasoning({ budgetTokens: 0 })).toBe(false)
    expect(wantsReasoning({ effort: 'low' })).toBe(true)
    expect(wantsReasoning({ budgetTokens: -1 })).toBe(true)
  })
})

describe('ruledOut, the reasons against a model', () => {
  test('ruledOut names each missing capability, and whether it is certain', () => {
    const request = requestOf({
      turns: [{ role: 'user', content: [IMAGE, { type: 'audio', mediaType: 'audio/wav', data: 'AAAA' }] }],
      tools: [{ name: 'look' }],
      output: { type: 'json-schema', schema: {} },
      reasoning: { effort: 'high' },
    })
    const unmet = ruledOut(TEXT_ONLY, readRequirements(request))
    const firm = unmet.filter((item) => item.isFirm).map((item) => item.requirement)
    const soft = unmet.filter((item) => !item.isFirm).map((item) => item.requirement)
    expect(firm.sort()).toEqual(['images', 'json-schema', 'tools'])
    expect(soft.sort()).toEqual(['audio', 'reasoning'])
    expect(unmet.find((item) => item.requirement === 'images')?.detail).toBe('does not support images')
  })

  test('a model with all capabilities is not ruled out', () => {
    const request = requestOf({ tools: [{ name: 'look' }], reasoning: { effort: 'high' } })
    expect(ruledOut(modelOf('svc/all', [provider]), readRequirements(request))).toEqual([])
  })

  test('a model below the requested output limit comes later, but is not ruled out', () => {
    const model = modelOf('svc/small', [provider], { maxOutputTokens: 1_000 })
    const over = ruledOut(model, readRequirements(requestOf({ maxOutputTokens: 1_001 })))
    expect(over).toEqual([
      { requirement: 'max-output', isFirm: false, detail: 'writes at most 1000 output tokens, not 1001' },
    ])
    expect(ruledOut(model, readRequirements(requestOf({ maxOutputTokens: 1_000 })))).toEqual([])
  })

  test('a model is ruled out unless input plus output limit fit into its context', () => {
    const model = modelOf('svc/short', [provider], { contextLength: 1_000, maxOutputTokens: 1_000 })
    const long = requestOf({}, 'word '.repeat(1_200))
    expect(ruledOut(model, readRequirements(long)).map((item) => item.requirement)).toEqual(['context-length'])
    const half = requestOf({}, 'word '.repeat(400))
    expect(ruledOut(model, readRequirements(half))).toEqual([])
    const withOutput = requestOf({ maxOutputTokens: 900 }, 'word '.repeat(400))
    expect(ruledOut(model, readRequirements(withOutput)).map((item) => item.requirement)).toEqual(['context-length'])
  })

  test('a request that is too long only by estimate is not ruled out', () => {
    const model = modelOf('svc/short', [provider], { contextLength: 1_000 })
    const request = requestOf({}, 'x'.repeat(4_400))
    const requirements = readRequirements(request)
    expect(requirements.inputTokens).toBeGreaterThan(1_000)
    expect(ruledOut(model, requirements)).toEqual([])
  })
})
