/** Our evaluation prompts are many and balanced, and the scorer, not trained on them, separates easy from hard. */
import { describe, expect, test } from 'bun:test'
import { difficultyClass } from '@/routing/plan/choose'
import { difficultyOf } from '@/routing/plan/difficulty'
import { readFeatures } from '@/routing/plan/read-request'
import { labelledPrompts } from './prompts'

const PROMPTS = labelledPrompts('auto-smart')

function shareRight(prompts: typeof PROMPTS): number {
  const right = prompts.filter(
    ({ request, expected }) => difficultyClass(difficultyOf(readFeatures(request))) === expected,
  )
  return right.length / prompts.length
}

describe('the evaluation prompts', () => {
  test('there are at least 200 different evaluation prompts, half of them easy, of seven kinds', () => {
    expect(PROMPTS.length).toBeGreaterThanOrEqual(200)
    expect(new Set(PROMPTS.map((prompt) => `${prompt.text} ${prompt.kind}`)).size).toBe(PROMPTS.length)
    expect(PROMPTS.filter((prompt) => prompt.expected === 'easy')).toHaveLength(PROMPTS.length / 2)
    expect(new Set(PROMPTS.map((prompt) => prompt.kind)).size).toBe(7)
  })
})

describe('the scorer', () => {
  test('the scorer is right in four of five cases, and orders nine of ten pairs correctly', () => {
    expect(shareRight(PROMPTS)).toBeGreaterThanOrEqual(0.8)
    const [easy, hard] = (['easy', 'hard'] as const).map((label) =>
      PROMPTS.filter(({ expected }) => expected === label).map(({ request }) => difficultyOf(readFeatures(request))),
    )
    const pairs = (hard ?? []).flatMap((high) => (easy ?? []).map((low) => Number(high > low)))
    expect(pairs.reduce((sum, pair) => sum + pair, 0) / pairs.length).toBeGreaterThanOrEqual(0.9)
  })

  test.each([...new Set(PROMPTS.map((prompt) => prompt.kind))])(
    'the scorer is better than chance for prompts of %s',
    (kind) => {
      expect(shareRight(PROMPTS.filter((prompt) => prompt.kind === kind))).toBeGreaterThanOrEqual(0.6)
    },
  )
})
