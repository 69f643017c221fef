/** Amounts, counts and times as the pages show them. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import {
  decimalsOf,
  formatBytes,
  formatCompact,
  formatDay,
  formatDuration,
  formatMoment,
  formatMoney,
  formatRelative,
} from '@/dashboard/format'

describe('formatMoney', () => {
  test.each([
    ['0', '$0.00'],
    ['12.5', '$12.50'],
    ['1234567.891', '$1,234,567.89'],
    ['-3.2', '−$3.20'],
    ['0.5', '$0.50'],
    ['0.0105', '$0.0105'],
    ['0.25', '$0.25'],
    ['0.000123456', '$0.000123'],
    ['0.000000001', '$0.000000001'],
  ])('formatMoney shows %s as %s', (usd, shown) => {
    expect(formatMoney(usd)).toBe(shown)
  })

  test('sizes have a unit and at most one decimal', () => {
    const sizes = [0, 999, 1_000, 1_234_567, 2_000_000_000_000].map(formatBytes)
    expect(sizes).toEqual(['0 B', '999 B', '1 kB', '1.2 MB', '2,000 GB'])
  })

  test('exact amounts keep every digit', () => {
    const amounts = fc.tuple(fc.nat(9_000_000), fc.stringMatching(/^\d{0,9}$/))
    fc.assert(
      fc.property(amounts, ([whole, fraction]) => {
        const usd = fraction === '' ? String(whole) : `${whole}.${fraction}`
        const digits = (text: string) => text.replace(/[$,]/g, '')
        expect(Number(digits(formatMoney(usd, { isExact: true })))).toBe(Number(usd))
        expect(Number(digits(formatMoney(usd)))).toBeLessThanOrEqual(Number(usd))
      }),
    )
  })
})

test('amounts in a column have their digits aligned', () => {
  const column = ['0.00008', '12.5', '-0.0105']
  const decimals = decimalsOf(column)
  expect(column.map((usd) => formatMoney(usd, { decimals }))).toEqual(['$0.00008', '$12.50000', '−$0.01050'])
  expect(decimalsOf(['3', '0.5'])).toBe(2)
  expect(decimalsOf(['1.000000001'], { isExact: true })).toBe(9)
})

test('counts beside each other have the same notation, up to a length limit', () => {
  expect([2_080, 4_873, 999_999].map(formatCompact)).toEqual(['2,080', '4,873', '999,999'])
  expect(formatCompact(1_234_567)).toBe('1.23M')
})

test('times within a minute show seconds if they differ only by these', () => {
  const [one, other] = ['2026-11-21T12:00:01Z', '2026-11-21T12:00:59Z']
  expect(formatMoment(one, { hasSeconds: true })).not.toBe(formatMoment(other, { hasSeconds: true }))
  expect(formatMoment(one)).toBe(formatMoment(other))
})

test('durations and intervals are rounded to readable values', () => {
  expect([formatDuration(12.4), formatDuration(999), formatDuration(1_840)]).toEqual(['12 ms', '999 ms', '1.8 s'])
  const now = Date.parse('2026-11-21T12:00:00Z')
  expect(formatRelative('2026-11-21T11:59:30Z', now)).toBe('just now')
  expect(formatRelative('2026-11-21T11:55:00Z', now)).toBe('5 minutes ago')
  expect(formatRelative('2026-11-23T12:00:00Z', now)).toBe('in 2 days')
})

test('a date without time is the same day in every time zone', () => {
  const script = "import { formatDay } from '@/dashboard/format'\nconsole.info(formatDay('2026-11-21'))"
  for (const zone of ['Pacific/Honolulu', 'UTC', 'Pacific/Auckland']) {
    const run = Bun.spawnSync(['env', `TZ=${zone}`, process.execPath, '-e', script])
    expect(run.stdout.toString().trim()).toBe('21 Nov 2026')
  }
  expect(formatDay('2026-11-21')).toBe('21 Nov 2026')
})
