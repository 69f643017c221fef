/** The evaluation's prompts stay many and balanced, and the router keeps telling easy from hard ones it was not tuned on. */
import { describe, expect, test } from 'bun:test'
import { difficultyClass } from '@/routing/plan/choose'
import { difficultyOf } from '@/routing/plan/difficulty'
import { readFeatures } from '@/routing/plan/read-request'
import { labelledPrompts } from './prompts'

const PROMPTS = labelledPrompts('auto-smart')
const REPORT = PROMPTS.filter((prompt) => prompt.half === 'report')

function shareRight(prompts: typeof PROMPTS): number {
  const right = prompts.filter(
    ({ request, expected }) => difficultyClass(difficultyOf(readFeatures(request))) === expected,
  )
  return right.length / prompts.length
}

describe('the prompts', () => {
  test('are at least 200, all different, half of them easy, in seven kinds', () => {
    expect(PROMPTS.length).toBeGreaterThanOrEqual(200)
    expect(new Set(PROMPTS.map((prompt) => `${prompt.text} ${prompt.kind}`)).size).toBe(PROMPTS.length)
    expect(PROMPTS.filter((prompt) => prompt.expected === 'easy')).toHaveLength(PROMPTS.length / 2)
    expect(new Set(PROMPTS.map((prompt) => prompt.kind)).size).toBe(7)
  })
})

describe('on the half it was not tuned on, the router', () => {
  test('is right four times out of five at least', () => {
    expect(shareRight(REPORT)).toBeGreaterThanOrEqual(0.8)
  })

  test.each([...new Set(REPORT.map((prompt) => prompt.kind))])('is better than chance by far at %s', (kind) => {
    expect(shareRight(REPORT.filter((prompt) => prompt.kind === kind))).toBeGreaterThanOrEqual(0.65)
  })
})
