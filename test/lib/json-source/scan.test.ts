/** Scanning JSON text before it is parsed: its depth and its number of values. Numbers are in as-written.test.ts. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { type JsonValue, parseJson } from '@/lib/json'
import { inspectJson } from '@/lib/json-source/scan'

function isDeeper(text: string, depth: number): boolean {
  return inspectJson(text, { depth, values: Number.POSITIVE_INFINITY }).breach === 'depth'
}

function depthOf(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** The plain way to say it, which reads each character. */
function isDeeperByWalk(text: string, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index)
    if (inString && character === '\\') index++
    else if (character === '"') inString = !inString
    else if (!inString && '[{'.includes(character) && ++depth > limit) return true
    else if (!inString && ']}'.includes(character)) depth--
  }
  return false
}

describe('the depth of JSON', () => {
  test('the depth of JSON is that of the parsed value', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(8), (text, limit) => {
        expect(isDeeper(text, limit)).toBe(depthOf(parseJson(text)) > limit)
      }),
      { numRuns: 2000 },
    )
  })

  test('the depth of JSON equals a character by character count for any text', () => {
    const far = fc.constantFrom('x'.repeat(31), 'y'.repeat(40), ' '.repeat(64))
    const sign = fc.constantFrom('[', '{', ']', '}', '"', '\\', '\\"', '\\\\', ':', 'ä')
    const pieces = fc.array(fc.oneof({ weight: 1, arbitrary: far }, { weight: 4, arbitrary: sign }), {
      maxLength: 80,
      size: 'max',
    })
    const text = pieces.map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), fc.nat(6), (some, limit) => {
        expect(isDeeper(some, limit)).toBe(isDeeperByWalk(some, limit))
      }),
      { numRuns: 5000 },
    )
  })

  test('brackets inside strings do not count for the depth of JSON', () => {
    expect(isDeeper(JSON.stringify({ text: '[[[{{{"[[\\"[[' }), 1)).toBe(false)
  })

  test('S9: the depth of 200,000 brackets is found without a parse', () => {
    expect(isDeeper('['.repeat(200_000), 64)).toBe(true)
    expect(isDeeper('{"a":'.repeat(200_000), 64)).toBe(true)
  })
})

describe('the number of values in JSON', () => {
  test('the number of values is commas plus opening brackets plus one', () => {
    const breach = (text: string, values: number) => inspectJson(text, { depth: 9, values }).breach
    expect([breach('[0,0]', 3), breach('[0,0]', 2)]).toEqual([undefined, 'values'])
    expect([breach('[{},{}]', 5), breach('[{},{}]', 4)]).toEqual([undefined, undefined])
    expect(breach(`[${'",,,,"'}]`, 2)).toBeUndefined()
  })
})
