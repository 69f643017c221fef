/** Requested reasoning, encoded for generate-content providers. */
import { expect, test } from 'bun:test'
import { encode } from '@test/formats/generate-content/support'

test('requested reasoning is sent as a level', () => {
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

test('requested reasoning is sent as a budget, or omitted', () => {
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
