/** Amounts, counts and moments as people read them. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatDay, formatDuration, formatMoney, formatRelative } from '@/dashboard/format'

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
  ])('%s is %s', (usd, shown) => {
    expect(formatMoney(usd)).toBe(shown)
  })

  test('keeps every digit where it is to be exact, and never shows more than there is', () => {
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

test('durations and distances are rounded to what is worth reading', () => {
  expect([formatDuration(12.4), formatDuration(999), formatDuration(1_840)]).toEqual(['12 ms', '999 ms', '1.8 s'])
  const now = Date.parse('2026-11-21T12:00:00Z')
  expect(formatRelative('2026-11-21T11:59:30Z', now)).toBe('just now')
  expect(formatRelative('2026-11-21T11:55:00Z', now)).toBe('5 minutes ago')
  expect(formatRelative('2026-11-23T12:00:00Z', now)).toBe('in 2 days')
})

test('a day without an hour is the same day everywhere', () => {
  const script = "import { formatDay } from '@/dashboard/format'\nconsole.info(formatDay('2026-11-21'))"
  for (const zone of ['Pacific/Honolulu', 'UTC', 'Pacific/Auckland']) {
    const run = Bun.spawnSync(['env', `TZ=${zone}`, process.execPath, '-e', script])
    expect(run.stdout.toString().trim()).toBe('21 Nov 2026')
  }
  expect(formatDay('2026-11-21')).toBe('21 Nov 2026')
})
