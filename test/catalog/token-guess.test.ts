/** The quick guess of token counts, compared with the tokenizer. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { TokenGuess } from '@/catalog/token-guess'
import { exactTokens } from './exact-tokens'

const KINDS: readonly [string, string][] = [
  [
    'prose',
    'Credit is prepaid in USD. Before a provider is called, the most that the request can cost is reserved.'.repeat(9),
  ],
  [
    'JSON',
    JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id: `usr_${id * 7_919}`, amount: id * 3.17, ok: true }))),
  ],
  ['CSV', Array.from({ length: 90 }, (_, row) => `${row},2025-01-${10 + (row % 20)},${row * 13.37}`).join('\n')],
  ['hex', Array.from({ length: 400 }, (_, index) => ((index * 2_654_435_761) >>> 8).toString(16)).join('')],
  [
    'base64',
    Buffer.from(Array.from({ length: 1_500 }, (_, index) => (index * 197 + index * index) % 256)).toString('base64'),
  ],
  ['Chinese', '人工智能正在改变我们的生活方式。近年来，越来越多的企业开始采用大型语言模型。'.repeat(8)],
  ['Thai', 'ปัญญาประดิษฐ์กำลังเปลี่ยนแปลงวิถีชีวิตของเรา เทคโนโลยีพัฒนาอย่างรวดเร็ว'.repeat(8)],
]

describe('a guess', () => {
  test.each(KINDS)('the guessed token count for %s is within a factor of two', (_, text) => {
    const guess = new TokenGuess()
    guess.add(text)
    const counted = exactTokens(text)
    expect(guess.tokens).toBeGreaterThan(counted / 2)
    expect(guess.tokens).toBeLessThan(counted * 2)
  })

  test('the guessed token count does not depend on how the text was split', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (pieces) => {
        const [whole, cut] = [new TokenGuess(), new TokenGuess()]
        whole.add(pieces.join(''))
        for (const piece of pieces) cut.add(piece)
        expect(cut.tokens).toBe(whole.tokens)
      }),
    )
  })
})
