/** The text of an answer that is kept for counting: each block's text, up to a limit. */
import { expect, test } from 'bun:test'
import { KeptText } from '@/gateway/charge/kept-text'

test('texts of interleaved blocks are kept separately and joined', () => {
  const kept = new KeptText()
  for (let index = 0; index < 200; index++) {
    expect(kept.add(0, `a${index} `)).toBe(true)
    expect(kept.add(1, `b${index} `)).toBe(true)
  }
  const words = (letter: string) => Array.from({ length: 200 }, (_, index) => `${letter}${index} `).join('')
  expect(kept.texts()).toEqual([words('a'), words('b')])
  kept.add(1, 'more')
  expect(kept.texts()).toEqual([words('a'), `${words('b')}more`])
})

test('the meter keeps at most a million characters of text', () => {
  const kept = new KeptText()
  expect(kept.add(0, 'x'.repeat(999_999))).toBe(true)
  expect(kept.add(0, 'yy')).toBe(false)
  expect(kept.texts().join('')).toBe('x'.repeat(999_999))
})
