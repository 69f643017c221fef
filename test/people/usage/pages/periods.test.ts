/** The periods of a statement: whole months and years in UTC, in any time zone of the viewer. */
import { expect, test } from 'bun:test'
import { daysOf } from '@/people/usage/pages/periods'

const NOTHING = { from: '', to: '' }

test.each([
  ['month', '2026-03-31T23:59:59Z', { from: '2026-03-01' }],
  ['last-month', '2026-03-31T12:00:00Z', { from: '2026-02-01', to: '2026-02-28' }],
  ['last-month', '2026-01-01T00:00:00Z', { from: '2025-12-01', to: '2025-12-31' }],
  ['quarter', '2026-01-15T00:00:00Z', { from: '2025-11-01' }],
  ['year', '2026-01-01T00:00:00Z', { from: '2026-01-01' }],
] as const)('the period %s at %s has the right days', (name, now, days) => {
  expect(daysOf(name, NOTHING, Date.parse(now))).toEqual(days)
})

test('a chosen period applies if its days are valid', () => {
  const now = Date.parse('2026-03-10T00:00:00Z')
  expect(daysOf('days', { from: '2026-01-05', to: '2026-01-09' }, now)).toEqual({
    from: '2026-01-05',
    to: '2026-01-09',
  })
  expect(daysOf('days', { from: '2026-01-05', to: '2026-01-01' }, now)).toEqual({ from: '2026-01-05' })
  expect(daysOf('days', { from: 'x', to: '' }, now)).toEqual({ from: '2026-03-01' })
})
