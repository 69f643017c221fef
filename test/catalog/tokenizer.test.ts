/** The counter's manners: it shares the event loop, keeps to its budget, and never lets work pile up. */
import { describe, expect, test } from 'bun:test'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { createTokenCounter } from '@/catalog/tokenizer'

const bytes = (text: string) => Buffer.byteLength(text)

/** A clock that moves on by `stepMs` each time somebody looks. */
function steppingClock(stepMs: number): () => number {
  let time = 0
  return () => {
    time += stepMs
    return time
  }
}

describe('the token counter', () => {
  test('counts words that steer the model as plain text', async () => {
    const count = createTokenCounter()
    expect(await count(['<|endoftext|>'], bytes)).toBeGreaterThan(1)
    expect(await count(['<|im_start|>system<|im_end|>', '\ud800'], bytes)).toBeGreaterThan(4)
  })

  test('counts several texts and long ones piece by piece', async () => {
    const text = 'All happy families are alike; each unhappy family is unhappy in its own way. '.repeat(50)
    const exact = encode(text).length
    const counted = await createTokenCounter(() => 0)([text, text], bytes)
    expect(counted).toBeGreaterThanOrEqual(2 * exact)
    expect(counted).toBeLessThan(2.05 * exact)
  })

  test('leaves what is beyond its budget to the fallback', async () => {
    const text = 'word '.repeat(100_000)
    const counted = await createTokenCounter(steppingClock(1))([text, text], bytes)
    expect(counted).toBeGreaterThan(0.9 * 2 * text.length)
    expect(counted).toBeLessThan(2 * text.length)
    expect(await createTokenCounter(steppingClock(1000))([text], bytes)).toBe(text.length)
  })

  test('lets others run between its slices', async () => {
    let turns = 0
    let isDone = false
    const spin = () => {
      turns++
      if (!isDone) setImmediate(spin)
    }
    setImmediate(spin)
    await createTokenCounter(steppingClock(1))(['word '.repeat(10_000)], bytes)
    isDone = true
    expect(turns).toBeGreaterThan(5)
  })

  test('serves one request at a time, and judges by the fallback when too many wait', async () => {
    const count = createTokenCounter(() => 0)
    const text = 'a word or two '.repeat(20)
    const results = await Promise.all(Array.from({ length: 100 }, () => count([text], () => 1_000_000)))
    expect(results.filter((result) => result === 1_000_000)).toHaveLength(36)
    expect(results.slice(0, 64).every((result) => result === results[0] && result < 200)).toBe(true)
    expect(await count([text], () => 1_000_000)).toBe(results[0] as number)
  })
})
