/** That of what holds for all keys of an account and what is a key's own, the narrower holds. */
import { expect, test } from 'bun:test'
import { effectiveLimits } from '@/accounts/policies/effective-limits'
import { EVERYTHING } from '@/ledger/allowed'

const DAY_MS = 86_400_000
const OPEN = { ...EVERYTHING, maxKeyAgeDays: null }
type Age = Parameters<typeof effectiveLimits>[2]
const young: Age = { createdAtMs: 0, secretSinceMs: null, isBuiltIn: false }
const own = (ids: string[] | null = null, expiresAtMs: number | null = null) => ({
  allowedModels: ids,
  allowedProviders: ids?.map((id) => `by ${id}`) ?? null,
  expiresAtMs,
})

test.each([
  [null, null, null],
  [null, ['a'], ['a']],
  [['a', 'b'], null, ['a', 'b']],
  [['a', 'b'], ['b', 'c'], ['b']],
  [['a'], ['c'], []],
])('models %j of the account and %j of the key are %j, and providers likewise', (ofAccount, ofKey, both) => {
  const policy = { ...own(ofAccount), maxKeyAgeDays: null }
  expect(effectiveLimits(own(ofKey), policy, young)).toEqual(own(both))
})

test('the end is the earlier of both, by age since the text was made', () => {
  const policy = { ...OPEN, maxKeyAgeDays: 10 }
  const end = (limits: ReturnType<typeof own>, age = young) => effectiveLimits(limits, policy, age).expiresAtMs
  expect(end(own())).toBe(10 * DAY_MS)
  expect(end(own(null, 3 * DAY_MS))).toBe(3 * DAY_MS)
  expect(end(own(null, 30 * DAY_MS))).toBe(10 * DAY_MS)
  expect(end(own(), { ...young, secretSinceMs: 5 * DAY_MS })).toBe(15 * DAY_MS)
  expect(end(own(), { ...young, isBuiltIn: true })).toBeNull()
  expect(effectiveLimits(own(), OPEN, young)).toEqual(own())
})
