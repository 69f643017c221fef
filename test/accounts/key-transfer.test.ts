/** Transfers of keys between members: to whom, with which audit entry, and no activation for a member who left. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { request, settlement } from '@test/ledger/harness'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { createBudgets } from '@/accounts/budgets/budgets'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'
import { removeMember } from '@/people/members/change-members'
import { type Fixture, openFixture } from './fixture'
import { by, join, newOrganisation, newUser, type Organisation } from './members/people'

let fixture: Fixture
let organisation: Organisation
let keyId: string

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
beforeEach(async () => {
  organisation = await newOrganisation(fixture)
  const { accountId, people } = organisation
  const { userId } = people.developer
  const created = await fixture.apiKeys.create({ accountId, name: 'theirs', createdBy: userId }, by(people.developer))
  assert(created.kind === 'created', created.kind)
  keyId = created.keyId
})
afterAll(() => fixture.close())

function transfer(userId: string): Promise<{ kind: string }> {
  const { accountId, people } = organisation
  return fixture.apiKeys.transfer(keyId, accountId, userId, by(people.admin))
}

describe('a key', () => {
  test('a key can only be transferred to a member whose role allows keys', async () => {
    const { accountId, people } = organisation
    const stranger = await newUser(fixture)
    for (const { userId } of [people.billing, people.viewer, stranger]) {
      expect(await transfer(userId)).toEqual({ kind: 'no_owner' })
    }
    const { userId } = await join(fixture, accountId, 'developer')
    expect(await transfer(userId)).toMatchObject({ kind: 'updated', status: 'active' })
    expect(await fixture.apiKeys.find(accountId, keyId)).toMatchObject({ createdBy: userId, name: 'theirs' })
    const [entry] = await fixture.database.sql`SELECT actor_id, details FROM audit_entries
      WHERE action = 'key.transfer' AND subject = ${keyId}`
    expect(entry).toMatchObject({
      ...{ actor_id: people.admin.userId, details: { before: people.developer.userId, after: userId } },
    })
  })

  test('keys of other accounts, deleted keys and the playground key cannot be transferred', async () => {
    const { accountId, people } = organisation
    const other = await newOrganisation(fixture)
    const { admin } = other.people
    expect(await fixture.apiKeys.transfer(keyId, other.accountId, admin.userId, by(admin))).toEqual({
      ...{ kind: 'unknown_key' },
    })
    const playground = await fixture.apiKeys.playgroundKey(accountId)
    expect(await fixture.apiKeys.transfer(playground, accountId, people.admin.userId, by(people.admin))).toEqual({
      ...{ kind: 'built_in' },
    })
    await fixture.apiKeys.delete(keyId, accountId)
    expect(await transfer(people.admin.userId)).toEqual({ kind: 'deleted' })
  })

  test('if a key’s member has left, the key can only be activated for another member', async () => {
    const { accountId, people } = organisation
    const { userId } = people.developer
    await fixture.apiKeys.deactivate(keyId, accountId)
    expect(await removeMember(fixture.database, { accountId, userId, by: by(people.owner) })).toMatchObject({
      kind: 'done',
    })
    expect(await fixture.apiKeys.activate(keyId, accountId)).toEqual({ kind: 'no_owner' })
    expect(await transfer(people.admin.userId)).toMatchObject({ status: 'deactivated' })
    expect(await fixture.apiKeys.activate(keyId, accountId)).toMatchObject({ status: 'active' })
  })

  test('a key cannot be activated for a member whose removal has begun', async () => {
    const { accountId, people } = organisation
    for (let round = 0; round < 20; round++) {
      const { userId } = await join(fixture, accountId, 'developer')
      const created = await fixture.apiKeys.create({ accountId, name: `key ${round}`, createdBy: userId })
      assert(created.kind === 'created', created.kind)
      await fixture.apiKeys.deactivate(created.keyId, accountId)
      const [activated, removed] = await Promise.all([
        fixture.apiKeys.activate(created.keyId, accountId),
        removeMember(fixture.database, { accountId, userId, by: by(people.owner) }),
      ])
      expect(['updated has_keys', 'no_owner done']).toContain(`${activated.kind} ${removed.kind}`)
    }
  })
})

test('a request that runs during a transfer is charged to the former owner, the next request to the new one', async () => {
  const { accountId, people } = organisation
  const { database, ledger, credits } = fixture
  await credits.addCredit({ accountId, amount: nano(1_000), reference: `start ${accountId}` })
  const second = await join(fixture, accountId, 'developer')
  const first = people.developer
  for (const { userId } of [first, second]) {
    const limits = { total: nano(100) }
    const change = { accountId, scope: 'member' as const, scopeId: userId, limits, by: by(people.owner) }
    expect((await createBudgets(database, ledger).change(change)).kind).toBe('updated')
  }
  const spentOf = async ({ userId }: { userId: string }) => {
    const entry = (await ledger.readBudgets(accountId))?.entries.get(`member:${userId}`)
    return { spent: entry?.windows.total.spent, held: entry?.held }
  }
  const running = request({ accountId, keyId }, 30)
  expect((await ledger.reserve(running)).kind).toBe('reserved')
  expect(await transfer(second.userId)).toMatchObject({ kind: 'updated' })
  await ledger.settle(settlement(running, 20))
  const next = request({ accountId, keyId }, 30)
  expect((await ledger.reserve(next)).kind).toBe('reserved')
  await ledger.settle(settlement(next, 7))
  expect(await spentOf(first)).toMatchObject({ spent: 20, held: 0 })
  expect(await spentOf(second)).toMatchObject({ spent: 7, held: 0 })
})
