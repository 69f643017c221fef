/** Effective limits of a key: the narrowest of the account's, the member's and its own. */
import { describe, expect, test } from 'bun:test'
import { effectiveLimits } from '@/accounts/policies/effective-limits'
import { EVERYTHING } from '@/ledger/allowed'
import type { KeyRules } from '@/people/keys/fields'

const DAY_MS = 86_400_000
const NO_DATA_RULES = { zeroRetention: false, noTraining: false, regions: null }
const OPEN = { ...EVERYTHING, ...NO_DATA_RULES, maxKeyAgeDays: null }
type Age = Parameters<typeof effectiveLimits>[3]
const young: Age = { createdAtMs: 0, secretSinceMs: null, isBuiltIn: false }
const allowing = (ids: string[] | null = null, expiresAtMs: number | null = null) => ({
  allowedModels: ids,
  allowedProviders: ids?.map((id) => `by ${id}`) ?? null,
  expiresAtMs,
})
const own = (...allowed: Parameters<typeof allowing>) => ({ ...allowing(...allowed), ...NO_DATA_RULES })

describe('a member’s key may use the models and providers that account, member and key all allow', () => {
  const LISTS = [null, [], ['a'], ['b', 'a'], ['b', 'c'], ['a', 'b', 'c']]
  const isIn = (id: string, list: string[] | null) => list === null || list.includes(id)

  test.each(LISTS.map((list) => [list] as const))(
    'with an account that allows %j, a key may use exactly what account, member and key allow',
    (ofAccount) => {
      for (const ofMember of LISTS) {
        for (const ofKey of LISTS) {
          const lists = [ofAccount, ofMember, ofKey]
          const policy = { ...own(ofAccount), maxKeyAgeDays: null }
          const found = effectiveLimits(own(ofKey), policy, own(ofMember), young)
          const { allowedModels, allowedProviders } = found
          expect(allowedModels === null).toBe(lists.every((list) => list === null))
          for (const id of ['a', 'b', 'c', 'd']) {
            const isAllowed = lists.every((list) => isIn(id, list))
            expect(allowedModels?.includes(id) ?? true).toBe(isAllowed)
            expect(allowedProviders?.includes(`by ${id}`) ?? true).toBe(isAllowed)
          }
        }
      }
    },
  )

  test('a service key may use the models and providers that account and key both allow', () => {
    expect(effectiveLimits(own(['a', 'b']), { ...own(['b', 'c']), maxKeyAgeDays: null }, null, young)).toEqual(
      allowing(['b']),
    )
  })
})

test('content rules of account, member and key apply together, each with the name of its level', () => {
  const rules = (changes: Partial<KeyRules>) => ({ ...own(), ...changes })
  const ofAccount = { ...rules({ zeroRetention: true, regions: ['eu'] }), maxKeyAgeDays: null }
  const ofMember = rules({ noTraining: true, regions: ['eu', 'ch'] })
  const { dataRules } = effectiveLimits(rules({ zeroRetention: true }), ofAccount, ofMember, young)
  expect(dataRules).toEqual([
    { kind: 'zero-retention', from: 'account' },
    { kind: 'regions', regions: ['eu'], from: 'account' },
    { kind: 'no-training', from: 'member' },
    { kind: 'regions', regions: ['eu', 'ch'], from: 'member' },
    { kind: 'zero-retention', from: 'key' },
  ])
})

test('a key ends at its own end date or at the maximum age of its text, whichever is earlier', () => {
  const policy = { ...OPEN, maxKeyAgeDays: 10 }
  const end = (limits: ReturnType<typeof own>, age = young) => effectiveLimits(limits, policy, null, age).expiresAtMs
  expect(end(own())).toBe(10 * DAY_MS)
  expect(end(own(null, 3 * DAY_MS))).toBe(3 * DAY_MS)
  expect(end(own(null, 30 * DAY_MS))).toBe(10 * DAY_MS)
  expect(end(own(), { ...young, secretSinceMs: 5 * DAY_MS })).toBe(15 * DAY_MS)
  expect(end(own(), { ...young, isBuiltIn: true })).toBeNull()
  expect(effectiveLimits(own(), OPEN, null, young)).toEqual(allowing())
})
