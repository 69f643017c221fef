/** The periods of scheduled mails: across a new year, on a leap day, and to the millisecond. */
import { expect, test } from 'bun:test'
import { latestPeriod } from '@/accounts/scheduled-mails/periods'

test.each([
  ['week', '2026-03-09T00:00:00.000Z', '2026-03-02', '2026-03-08', '2026-02-23'],
  ['week', '2026-03-08T23:59:59.999Z', '2026-02-23', '2026-03-01', '2026-02-16'],
  ['week', '2027-01-01T12:00:00.000Z', '2026-12-21', '2026-12-27', '2026-12-14'],
  ['month', '2028-03-01T00:00:00.000Z', '2028-02-01', '2028-02-29', '2028-01-01'],
  ['month', '2028-02-29T23:59:59.999Z', '2028-01-01', '2028-01-31', '2027-12-01'],
  ['month', '2027-01-15T00:00:00.000Z', '2026-12-01', '2026-12-31', '2026-11-01'],
  ['day', '2028-03-01T00:00:00.000Z', '2028-02-29', '2028-02-29', '2028-02-28'],
  ['day', '2028-02-29T23:59:59.999Z', '2028-02-28', '2028-02-28', '2028-02-27'],
] as const)('the latest period of the kind %s that had ended at %s', (unit, at, from, to, before) => {
  expect(latestPeriod(unit, Date.parse(at))).toEqual({ unit, from, to, before })
})
