/** Counting tokens with a time budget: where it stops, and what it returns for the rest. */
import { describe, expect, test } from 'bun:test'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { countWithinBudget } from '@/catalog/count-within-budget'

const HAPPY = 'All happy families are alike; each unhappy family is unhappy in its own way. '

/** A clock that moves on by `stepMs` each time somebody looks. */
function steppingClock(stepMs: number): () => number {
  let time = 0
  return () => {
    time += stepMs
    return time
  }
}

describe('counting with a time budget', () => {
  test('token counting stops when its budget is used up, and returns where it stopped', () => {
    const text = 'word '.repeat(100_000)
    const half = countWithinBudget([HAPPY, text, text], steppingClock(1))
    expect(half.text).toBe(1)
    expect(half.character).toBeGreaterThan(20_000)
    const exact = encode(HAPPY).length + encode(text.slice(0, half.character)).length
    expect(half.tokens).toBeGreaterThanOrEqual(exact)
    expect(half.tokens).toBeLessThan(exact * 1.05)
    expect(countWithinBudget([text], steppingClock(1_000))).toEqual({ tokens: 0, text: 0, character: 0 })
    expect(countWithinBudget([], steppingClock(1))).toEqual({ tokens: 0, text: 0, character: 0 })
  })
})
