/** The requested reasoning of generate-content, decoded. */
import { expect, test } from 'bun:test'
import { decode } from '@test/formats/generate-content/support'

test('thinking settings are decoded: levels in any case, budgets, off and dynamic', () => {
  const reasoningOf = (thinkingConfig: object) => decode({ generationConfig: { thinkingConfig } as never }).reasoning
  expect(reasoningOf({ thinkingLevel: 'LOW', includeThoughts: false })).toEqual({ effort: 'low', visible: false })
  expect(reasoningOf({ thinkingLevel: 'minimal' })).toEqual({ effort: 'minimal' })
  expect(reasoningOf({ thinkingBudget: 0 })).toEqual({ effort: 'none' })
  expect(reasoningOf({ thinkingBudget: -1, includeThoughts: true })).toEqual({ budgetTokens: -1, visible: true })
  expect(reasoningOf({ thinkingBudget: 2048 })).toEqual({ budgetTokens: 2048 })
})
