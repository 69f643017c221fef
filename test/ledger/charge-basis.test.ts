/** The charge basis of each usage record: why its charge is, or is not, the price of the provider's counts. */
import { expect, test } from 'bun:test'
import { usageRecord } from '@test/usage/sample-records'
import { CHARGE_BASES, type ChargeBasis, chargeBasis } from '@/ledger/charge-basis'
import type { RequestFacts, UsageRecord } from '@/ledger/usage-record'

const CASES: [facts: Partial<RequestFacts>, kind: UsageRecord['kind'], basis: ChargeBasis][] = [
  [{}, 'settle', 'provider'],
  [{ rule: 'disconnect_usage' }, 'settle', 'provider'],
  [{ rule: 'broken_usage', flags: [] }, 'settle', 'provider'],
  [{ flags: ['overrun', 'forced'] }, 'settle', 'provider'],
  [{ hasUnpricedUsage: true }, 'settle', 'unpriced'],
  [{ isReclassified: true, hasUnpricedUsage: true }, 'settle', 'reclassified'],
  [{ isReclassified: true, flags: ['estimated'] }, 'settle', 'relayed'],
  [{ flags: ['estimated'] }, 'settle', 'relayed'],
  [{ rule: 'broken_usage', flags: ['estimated'], hasUnpricedUsage: true }, 'settle', 'relayed'],
  [{ rule: 'counted', flags: ['estimated'] }, 'settle', 'counted'],
  [{ rule: 'broken_counted', flags: ['estimated'] }, 'settle', 'counted'],
  [{ rule: 'disconnect_counted', flags: ['estimated'] }, 'settle', 'counted'],
  [{ rule: 'hangup_input', flags: ['estimated'] }, 'settle', 'counted'],
  [{ rule: 'hangup_free', flags: ['estimated'] }, 'settle', 'forgiven'],
  [{ rule: 'disconnect_counted', flags: ['estimated', 'clamped'] }, 'settle', 'clamped'],
  [{ flags: ['clamped'] }, 'settle', 'clamped'],
  [{ rule: 'expired', flags: ['estimated', 'clamped'] }, 'expire', 'expired'],
  [{ rule: 'unreadable' }, 'expire', 'expired'],
  [{ rule: 'unreadable' }, 'settle', 'unreadable'],
  [{}, 'late', 'late'],
]

test.each(CASES)('a usage record %o of the kind %s has the charge basis %s', (facts, kind, basis) => {
  expect(chargeBasis(usageRecord({ kind, facts: { flags: [], ...facts } }))).toBe(basis)
})

test('every charge basis occurs in the test’s table', () => {
  expect(new Set(CASES.map(([, , basis]) => basis))).toEqual(new Set(CHARGE_BASES))
})
