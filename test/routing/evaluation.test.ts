/** The evaluation's prompts stay many and balanced, and the router keeps telling easy from hard ones it was not tuned on. */
import { describe, expect, test } from 'bun:test'
import { difficultyClass } from '@/routing/plan/choose'
import { difficultyOf } from '@/routing/plan/difficulty'
import { readFeatures } from '@/routing/plan/read-request'
import { createOwnCueRemover } from './own-cues'
import { labelledPrompts } from './prompts'

const PROMPTS = labelledPrompts('auto-smart')
const REPORT = PROMPTS.filter((prompt) => prompt.half === 'report')
const removeOwnCues = createOwnCueRemover(PROMPTS.map((prompt) => prompt.text))
const WITHOUT_OWN = labelledPrompts('auto-smart', removeOwnCues)
/** How much better a list of words may look for having been read beside the prompts. */
const MAX_BY_HEART = 0.06

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

  test('is so without the words that only the prompt at hand holds', () => {
    expect(shareRight(WITHOUT_OWN.filter((prompt) => prompt.half === 'report'))).toBeGreaterThanOrEqual(0.8)
  })

  test.each([...new Set(REPORT.map((prompt) => prompt.kind))])('is better than chance by far at %s', (kind) => {
    expect(shareRight(REPORT.filter((prompt) => prompt.kind === kind))).toBeGreaterThanOrEqual(0.65)
  })
})

describe('the list of words', () => {
  test.each(['tuning', 'report'] as const)('knows hardly a prompt of the %s half by heart', (half) => {
    const share = (prompts: typeof PROMPTS) => shareRight(prompts.filter((prompt) => prompt.half === half))
    expect(share(PROMPTS) - share(WITHOUT_OWN)).toBeLessThanOrEqual(MAX_BY_HEART)
  })

  test('is judged without what one prompt alone holds, and with what another holds as well', () => {
    const remove = createOwnCueRemover([
      'Analyse the kernel.',
      'An analysis, please.',
      '请证明, 分析',
      'Translate: 分析',
    ])
    expect(remove('Analyse the kernel.')).toBe('Analyse the zzzzzz.')
    expect(remove('An analysis, please.')).toBe('An analysis, zzzzzz.')
    expect(remove('请证明, 分析')).toBe('请口口, 分析')
    expect(remove('Translate: 分析')).toBe('zzzzzzzzz: 分析')
  })
})
