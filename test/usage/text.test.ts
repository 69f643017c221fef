/** Texts of the usage pages: cells that no spreadsheet executes, amounts finer than a nano-USD, and cursors. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { parse } from 'csv-parse/sync'
import { priceLines } from '@/catalog/price-lines'
import type { Catalog, Pricing } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import { fromCursor, toCursor } from '@/console/usage-views/listed-record'
import { formatLineAmount, formatRounding, formatUnitPrice } from '@/console/usage-views/pico-text'
import { csvRow } from '@/lib/csv'
import { formatUsd, type Pico } from '@/lib/money'

describe('csvRow', () => {
  test('S14: csvRow keeps every text, with an apostrophe before spreadsheet formulas', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[=+\-@\t\r"',\n\r a]{0,8}$/))
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (cells) => {
        const [row] = parse(csvRow(cells), { record_delimiter: '\r\n' })
        expect(row).toEqual(cells.map((cell) => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)))
      }),
      { numRuns: 500 },
    )
  })

  test('csvRow writes numbers unchanged, and an empty cell for null', () => {
    expect(csvRow([-5, 0.5, { decimal: '-0.000000001' }, true, null, ''])).toBe('-5,0.5,-0.000000001,true,,\r\n')
  })
})

describe('the price lines of a usage record', () => {
  const count = fc.integer({ min: 0, max: 2_000_000 })
  const usage = fc.record({
    ...{ uncached: count, cacheRead: count, cacheWrite5m: count, cacheWrite1h: count, output: count },
    reasoning: fc.constant(0),
  })
  const price = fc.integer({ min: 0, max: 200_000_000 }).map((pico) => pico as Pico)
  const prices = fc.record({ input: price, cacheRead: price, cacheWrite5m: price, cacheWrite1h: price, output: price })
  const pricing: fc.Arbitrary<Pricing> = fc.record({
    base: prices,
    steps: fc
      .array(prices, { maxLength: 1 })
      .map((list) => list.map((step) => ({ aboveInputTokens: 200_000, prices: step }))),
  })

  test('the price lines and the rounding of a record add up to the charge exactly', () => {
    fc.assert(
      fc.property(usage, pricing, (used, priced) => {
        const catalog = { models: new Map([['svc/alpha', { pricing: priced }]]) } as unknown as Catalog
        const price = priceLines(catalog, 'svc/alpha', used)
        if (!price) throw new Error('the model is there')
        const parts = price.lines.map((line) => formatLineAmount(line.count, line.price))
        const rounding = formatRounding(price.lines, price.total)
        expect([...parts, rounding].reduce((sum, part) => sum + picoOf(part), 0n)).toBe(picoOf(formatUsd(price.total)))
        expect(picoOf(rounding)).toBeGreaterThanOrEqual(0n)
        expect(picoOf(rounding)).toBeLessThan(1_000n)
      }),
      { numRuns: 500 },
    )
  })

  test('a record of a removed model has no price lines', () => {
    const empty = { models: new Map() } as unknown as Catalog
    const none = { uncached: 1, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1, reasoning: 0 }
    expect(priceLines(empty, 'svc/gone', none)).toBeUndefined()
  })

  test('price lines have the price per million tokens, or per other unit', () => {
    const texts = [2_500_000, 100_000, 1, 0].map((price) => formatUnitPrice(price, 'token'))
    expect(texts).toEqual(['2.5', '0.1', '0.000001', '0'])
    expect(formatUnitPrice(40_000_000_000, 'image')).toBe('0.04')
  })
})

describe('a cursor', () => {
  test('a cursor that is written and read is the same', () => {
    const position = fc.record({
      atMicros: fc.integer({ min: 0, max: 253_402_300_799_999_000 / 1_000 }),
      seq: fc.maxSafeNat(),
      recordId: fc.stringMatching(/^[a-z0-9_:]{0,60}$/),
    })
    fc.assert(fc.property(position, (place) => expect(fromCursor(toCursor(place))).toEqual(place)))
  })

  test('any other text is refused as a cursor', () => {
    const made = fc.oneof(
      fc.string(),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
    )
    fc.assert(
      fc.property(made, (text) => {
        try {
          const place = fromCursor(text)
          expect(Number.isSafeInteger(place?.seq)).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

/** A decimal text of USD in pico-USD. */
function picoOf(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * 10n ** 12n + BigInt(fraction.padEnd(12, '0'))
}
