/** Money: every sum equals exact arithmetic on big integers, and every amount is the same after writing and reading. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { AssertionError } from '@/lib/assert'
import {
  costNano,
  formatPrice,
  formatUsd,
  MAX_NANO,
  MAX_PICO_PER_TOKEN,
  type Nano,
  nano,
  nanoToUsd,
  type Pico,
  parseUsd,
  priceToPico,
} from '@/lib/money'

const amounts = fc
  .oneof(fc.integer({ min: -1e6, max: 1e6 }), fc.maxSafeInteger())
  .map((value) => value % (MAX_NANO + 1))
const prices = fc.oneof(fc.nat(1000), fc.integer({ min: 0, max: MAX_PICO_PER_TOKEN })).map((value) => value as Pico)
const counts = fc.oneof(fc.nat(10), fc.nat(2_000_000), fc.maxSafeInteger().map(Math.abs))

function exactCost(lines: readonly (readonly [number, number])[]): bigint {
  const total = lines.reduce((sum, [tokens, price]) => sum + BigInt(tokens) * BigInt(price), 0n)
  const rounded = total / 1000n + (total % 1000n > 0n ? 1n : 0n)
  return rounded > BigInt(MAX_NANO) ? BigInt(MAX_NANO) : rounded
}

function costOf(lines: readonly (readonly [number, Pico])[]): Nano {
  return costNano(
    lines.map(([tokens]) => tokens),
    lines.map(([, price]) => price),
  )
}

describe('the cost of tokens', () => {
  test('the cost of tokens is exact, rounded up once, and saturates', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(counts, prices), { maxLength: 5 }), (lines) => {
        expect(BigInt(costOf(lines))).toBe(exactCost(lines))
      }),
      { numRuns: 5000 },
    )
  })

  test('the cost of tokens is exact beyond the exact range of floating point', () => {
    const nearLimit = fc.integer({ min: Number.MAX_SAFE_INTEGER - 5000, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(nearLimit, fc.nat(3000), (tokens, more) => {
        const lines: [number, Pico][] = [
          [tokens, 1 as Pico],
          [more, 1 as Pico],
        ]
        expect(BigInt(costOf(lines))).toBe(exactCost(lines))
      }),
    )
  })

  test('the cost of tokens never falls when a count grows', () => {
    fc.assert(
      fc.property(counts, fc.nat(1000), prices, (tokens, more, price) => {
        fc.pre(Number.isSafeInteger(tokens + more))
        expect(costNano([tokens + more], [price])).toBeGreaterThanOrEqual(costNano([tokens], [price]))
      }),
    )
  })

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('the cost of tokens refuses %p', (tokens) => {
    expect(() => costNano([tokens], [1 as Pico])).toThrow(AssertionError)
  })
})

describe('amounts as text', () => {
  test('an amount that is written and read is the same', () => {
    fc.assert(fc.property(amounts, (amount) => expect(parseUsd(formatUsd(nano(amount + 0)))).toBe(nano(amount + 0))))
  })

  test('an amount is read from its digits', () => {
    const digits = fc.tuple(fc.nat(8_999_999), fc.nat(999_999_999))
    fc.assert(
      fc.property(digits, ([whole, fraction]) => {
        const text = `${whole}.${String(fraction).padStart(9, '0')}`
        expect(BigInt(parseUsd(text) ?? -1)).toBe(BigInt(text.replace('.', '')))
      }),
    )
  })

  test.each([
    '',
    '-',
    '.5',
    '5.',
    '1e3',
    ' 1',
    '1,5',
    '0.0000000001',
    '9000000.000000001',
    '99999999999',
    'NaN',
    '１',
    '--1',
  ])('an amount is refused: %p', (text) => {
    expect(parseUsd(text)).toBeUndefined()
  })

  test('amounts that are read and written keep every digit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (pico) => {
        const text = formatPrice(pico as Pico)
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
        expect(priceToPico(Number(text))).toBe(pico as Pico)
      }),
    )
  })

  test('no amount is written as minus zero', () => {
    expect(Object.is(parseUsd('-0.0'), 0)).toBe(true)
  })

  test('amounts become JSON numbers only in the API', () => {
    expect(nanoToUsd(nano(10_500_000_000))).toBe(10.5)
    expect(formatUsd(nano(-1))).toBe('-0.000000001')
  })

  test.each([0.5, Number.NaN, MAX_NANO + 1, -MAX_NANO - 1])('%p is not an amount', (value) => {
    expect(() => nano(value)).toThrow(AssertionError)
  })
})

describe('prices', () => {
  test('prices are read digit by digit, down to a pico-USD per token', () => {
    fc.assert(
      fc.property(fc.nat(999_999), fc.nat(999_999), (whole, fraction) => {
        const text = `${whole}.${String(fraction).padStart(6, '0')}`
        expect(priceToPico(Number(text))).toBe((whole * 1_000_000 + fraction) as Pico)
      }),
    )
  })

  test.each([-0.000001, 0.0000001, 1.0000001, Number.NaN, Number.POSITIVE_INFINITY, 1_000_000.000001])(
    'the price %p is refused',
    (usd) => {
      expect(priceToPico(usd)).toBeUndefined()
    },
  )

  test('prices are written exactly as read', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (pico) => {
        const text = formatPrice(pico as Pico)
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
        expect(priceToPico(Number(text))).toBe(pico as Pico)
      }),
    )
  })

  test('no price is written as minus zero', () => {
    expect(Object.is(priceToPico(-0), 0)).toBe(true)
  })
})
