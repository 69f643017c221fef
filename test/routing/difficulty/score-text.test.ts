/** The trained difficulty scorer: its scores, their reasons, and its bounded reading. */
import { describe, expect, test } from 'bun:test'
import { sampleTexts } from '@/routing/difficulty/sample'
import { explainText, scoreText } from '@/routing/difficulty/score-text'

function scoreOf(text: string): number {
  const sample = sampleTexts([text])
  return scoreText(sample.text, sample.chars).sum
}

const HARD = 'Prove that every compact Hausdorff space is normal, and say where each assumption is used.'

describe('the difficulty score', () => {
  test.each([[`Fix the spelling: ${HARD}`], [`Translate into French: "${HARD}"`], [`Shorten this: '${HARD}'`]])(
    'the score is lower if the hard text is only the material: %s',
    (text) => {
      expect(scoreOf(text)).toBeLessThan(scoreOf(HARD))
    },
  )

  test('a hard task scores higher than small talk, in several scripts', () => {
    expect(
      scoreOf('Design a payment ledger for many regions, and explain how it stays consistent when links break.'),
    ).toBeGreaterThan(scoreOf('What should I cook tonight?'))
    expect(scoreOf('请设计一个分布式事务系统，并证明其在网络分区下的一致性，分析各种权衡。')).toBeGreaterThan(
      scoreOf('今天星期几？'),
    )
    expect(
      scoreOf('Спроектируйте распределённую базу данных и обоснуйте выбор модели согласованности.'),
    ).toBeGreaterThan(scoreOf('Какая столица Франции?'))
  })

  test('the score of a text is the same in every call, whatever was scored between', () => {
    const first = scoreOf(HARD)
    scoreOf('Hello!')
    expect(scoreOf(HARD)).toBe(first)
  })

  test('the score of a text of a megabyte depends only on its two ends and its length', () => {
    const ends = (middle: string) => `Explain this.\n\n${'a '.repeat(900)}${middle}${' b'.repeat(900)}\n\nWhy?`
    expect(scoreOf(ends('x'.repeat(1_000_000)))).toBe(scoreOf(ends('prove it '.repeat(125_000).slice(0, 1_000_000))))
  })
})

describe('the reasons', () => {
  test('the reasons of a score name words and traits of the text, the largest effect first', () => {
    const reasons = explainText(HARD, HARD.length, 8)
    expect(reasons).toHaveLength(8)
    const sizes = reasons.map(({ effect }) => Math.abs(effect))
    expect(sizes).toEqual(sizes.toSorted((left, right) => right - left))
    expect(reasons.some(({ because }) => because.startsWith('“'))).toBe(true)
  })

  test('the effects of all reasons add up to the score without its bias', () => {
    const sums = [HARD, `Translate: "${HARD}"`, 'Hi!'].map((text) => {
      const effects = explainText(text, text.length, Number.MAX_SAFE_INTEGER)
      return scoreText(text, text.length).sum - effects.reduce((sum, { effect }) => sum + effect, 0)
    })
    const [bias] = sums
    for (const sum of sums) expect(sum).toBeCloseTo(bias ?? Number.NaN, 4)
  })

  test('the reasons of a score mark words of the material', () => {
    const text = `Translate: "${HARD}"`
    const reasons = explainText(text, text.length, 50).map(({ because }) => because)
    expect(reasons).toContain('“Translate”')
    expect(reasons.some((because) => because.startsWith('in the material: “'))).toBe(true)
  })
})
