/** Rules for a member's keys, in both stores: a key may use what account, member and key all allow, by every way it is loaded. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { createTestAccount } from '@test/accounts/test-account'
import { fc } from '@test/support/property'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { OPERATOR } from '@/accounts/audit'
import { allowedBy } from '@/accounts/policies/effective-limits'
import { changeKeyPolicy, changeMemberKeyPolicy, readMemberKeyPolicy } from '@/accounts/policies/key-policy'
import { type Allowed, EVERYTHING, narrower } from '@/ledger/allowed'
import type { KeyRules } from '@/people/keys/fields'

let fixture: Fixture
/** How many keys the ledger still takes before it can't be reached; undefined: it can. */
let takesYet: number | undefined

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase(), (ledger) => ({
    ...ledger,
    async setKeyState(state) {
      if (takesYet === 0) throw new Error('the store is away')
      if (takesYet !== undefined) takesYet -= 1
      return await ledger.setKeyState(state)
    },
  }))
})
afterAll(() => fixture.close())

/** A member of a new account. */
async function newMember(): Promise<{ accountId: string; userId: string }> {
  const accountId = await createTestAccount(fixture)
  await join(accountId, undefined, 'owner')
  return { accountId, userId: await join(accountId) }
}

async function join(accountId: string, userId: string = crypto.randomUUID(), role = 'developer'): Promise<string> {
  const { sql } = fixture.database
  await sql`INSERT INTO users (id, name, email) VALUES (${userId}, 'Test', ${`${userId}@example.test`}) ON CONFLICT DO NOTHING`
  await sql`INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${userId}, ${role})`
  return userId
}

async function newKey(accountId: string, createdBy?: string): Promise<string> {
  const made = await fixture.apiKeys.create({ accountId, name: 'k', ...(createdBy !== undefined && { createdBy }) })
  const { keyId } = made as { keyId: string }
  // From now on it has to be told: the ledger looks into the history no more.
  await fixture.ledger.readKey({ accountId, keyId })
  return keyId
}

const setRules = (of: { accountId: string; userId: string }, policy: Partial<KeyRules>) =>
  changeMemberKeyPolicy(fixture.database, fixture.ledger, { ...of, policy, by: OPERATOR })
const allowedOf = ({ allowedModels, allowedProviders, dataRules }: Allowed) => ({
  dataRules,
  allowedModels: allowedModels?.toSorted() ?? null,
  allowedProviders: allowedProviders?.toSorted() ?? null,
})

/** As the ledger has it, and as it would load it anew. */
async function known(accountId: string, keyId: string) {
  const [inLedger, inHistory] = await Promise.all([
    fixture.ledger.readKey({ accountId, keyId }),
    fixture.history.key(accountId, keyId),
  ])
  return { inLedger: inLedger && allowedOf(inLedger), inHistory: inHistory && allowedOf(inHistory) }
}

const both = (allowed: Allowed) => ({ inLedger: allowedOf(allowed), inHistory: allowedOf(allowed) })

test('for random rules in any order, a key may use what account, member and key all allow', async () => {
  const of = await newMember()
  const { accountId, userId } = of
  const keyId = await newKey(accountId, userId)
  const ids = (names: string[]) => fc.option(fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }), { nil: null })
  const rules = fc.record({
    ...{ allowedModels: ids(['m1', 'm2', 'm3']), allowedProviders: ids(['p1', 'p2', 'p3']) },
    ...{ zeroRetention: fc.boolean(), noTraining: fc.boolean(), regions: ids(['eu', 'us', 'ch']) },
  })
  const order = fc.shuffledSubarray(['account', 'member', 'key'] as const, { minLength: 3 })
  await fc.assert(
    fc.asyncProperty(rules, rules, rules, order, async (account, member, key, setting) => {
      const set = {
        account: () => changeKeyPolicy(fixture.database, fixture.ledger, { accountId, policy: account, by: OPERATOR }),
        member: () => setRules(of, member),
        key: () => fixture.apiKeys.change(keyId, key, accountId),
      }
      for (const one of setting) await set[one]()
      const bounds = narrower(allowedBy(account, 'account'), allowedBy(member, 'member'))
      expect(await known(accountId, keyId)).toEqual(both(narrower(bounds, allowedBy(key, 'key'))))
    }),
    { numRuns: 60 },
  )
})

describe('rules of a member', () => {
  test('a member’s rules apply to all of their keys and to no others', async () => {
    const of = await newMember()
    const { accountId, userId } = of
    const theirs = [await newKey(accountId, userId), await newKey(accountId, userId)]
    const others = [await newKey(accountId), await newKey(accountId, await join(accountId))]
    const rules = { allowedModels: ['m1'], allowedProviders: null }
    expect(await setRules(of, { allowedModels: ['m1'] })).toBe('updated')
    theirs.push(await newKey(accountId, userId))
    for (const keyId of theirs) expect(await known(accountId, keyId)).toEqual(both(rules))
    for (const keyId of others) expect(await known(accountId, keyId)).toEqual(both(EVERYTHING))
    expect(await readMemberKeyPolicy(fixture.database, of)).toEqual({
      ...{ ...rules, zeroRetention: false, noTraining: false, regions: null },
    })
  })

  test('a transferred key gets the new member’s rules; the rules end with the membership', async () => {
    const first = await newMember()
    const { accountId } = first
    const second = { accountId, userId: await join(accountId) }
    const keyId = await newKey(accountId, first.userId)
    await setRules(first, { allowedModels: ['m1'] })
    await setRules(second, { allowedProviders: ['p2'] })
    await fixture.apiKeys.transfer(keyId, accountId, second.userId, OPERATOR)
    expect(await known(accountId, keyId)).toEqual(both({ allowedModels: null, allowedProviders: ['p2'] }))
    await fixture.apiKeys.deactivate(keyId, accountId)
    const { sql } = fixture.database
    await sql`DELETE FROM memberships WHERE account_id = ${accountId} AND user_id = ${second.userId}`
    expect(await readMemberKeyPolicy(fixture.database, second)).toBeUndefined()
    expect(await setRules(second, { allowedModels: null })).toBe('unknown_member')
    // Whoever comes back is a new member: what was forbidden to the former one is said anew.
    await join(accountId, second.userId)
    await fixture.apiKeys.activate(keyId, accountId)
    expect(await known(accountId, keyId)).toEqual(both(EVERYTHING))
  })

  test('if the ledger was unreachable during a rule change, repeating the call updates the remaining keys', async () => {
    const of = await newMember()
    const keys = [await newKey(of.accountId, of.userId), await newKey(of.accountId, of.userId)]
    takesYet = 1
    const failed = await setRules(of, { allowedModels: ['m1'] }).catch((error: Error) => error.message)
    takesYet = undefined
    expect(failed).toBe('the store is away')
    const told = await Promise.all(keys.map((keyId) => known(of.accountId, keyId)))
    expect(told.filter(({ inLedger }) => inLedger?.allowedModels === null)).toHaveLength(1)
    expect(await setRules(of, { allowedModels: ['m1'] })).toBe('updated')
    for (const keyId of keys)
      expect(await known(of.accountId, keyId)).toEqual(both({ allowedModels: ['m1'], allowedProviders: null }))
  })

  test('concurrent changes of rules, owners and keys leave the ledger equal to the history', async () => {
    const first = await newMember()
    const { accountId } = first
    const second = { accountId, userId: await join(accountId) }
    const keys = await Promise.all([first, second, first].map(({ userId }) => newKey(accountId, userId)))
    await Promise.all([
      ...['m1', 'm2', 'm3'].map((model) => setRules(first, { allowedModels: [model] })),
      ...['p1', 'p2'].map((provider) => setRules(second, { allowedProviders: [provider] })),
      ...keys.map((keyId) => fixture.apiKeys.transfer(keyId, accountId, second.userId, OPERATOR)),
      ...keys.map((keyId) => fixture.apiKeys.transfer(keyId, accountId, first.userId, OPERATOR)),
      ...keys.map((keyId) => fixture.apiKeys.change(keyId, { allowedModels: ['m1', 'm2'] }, accountId)),
      newKey(accountId, first.userId),
    ])
    for (const { keyId } of await fixture.apiKeys.list(accountId)) {
      const { inLedger, inHistory } = await known(accountId, keyId)
      expect(inLedger).toEqual(inHistory)
    }
  })

  test('changes of a member’s rules are in the audit log with the former values', async () => {
    const of = await newMember()
    await setRules(of, { allowedModels: ['m1', 'm2'] })
    await setRules(of, { allowedProviders: ['p1'], regions: ['eu', 'ch'], noTraining: true })
    const entries = await fixture.database.sql<{ subject: string; details: object }[]>`
      SELECT subject, details FROM audit_entries WHERE action = 'member.key_policy' AND account_id = ${of.accountId}
      ORDER BY seq`
    const models = 'm1, m2'
    const open = { zeroRetention: false, noTraining: false, regions: 'every' }
    const before = { 'before.zeroRetention': false, 'before.noTraining': false, 'before.regions': 'every' }
    expect(entries.map(({ subject, details }) => ({ subject, ...details }))).toEqual([
      {
        ...{ subject: of.userId, allowedModels: models, allowedProviders: 'every' },
        ...{ 'before.allowedModels': 'every', 'before.allowedProviders': 'every', ...open, ...before },
      },
      {
        ...{ subject: of.userId, allowedModels: models, allowedProviders: 'p1' },
        ...{ 'before.allowedModels': models, 'before.allowedProviders': 'every', ...before },
        ...{ zeroRetention: false, noTraining: true, regions: 'eu, ch' },
      },
    ])
  })
})
