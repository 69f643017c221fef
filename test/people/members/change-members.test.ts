/** Roles in an organisation: who may give which role, and that an owner always remains, also under concurrent changes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { by, COMPANY, join, newOrganisation, newUser, type User } from '@test/accounts/members/people'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { accountsOf, roleIn } from '@/accounts/members/memberships'
import { ACCOUNT_ROLES, type AccountRole } from '@/db/auth-schema'
import { assert } from '@/lib/assert'
import { MAX_OWNED_ACCOUNTS } from '@/people/members/admission'
import { changeRole, removeMember } from '@/people/members/change-members'
import { changeCompany, findKind, makeOrganisation } from '@/people/members/organisation'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
afterAll(() => fixture.close())

function entries(accountId: string): Promise<Record<string, unknown>[]> {
  return fixture.database.sql`SELECT action, actor_id, subject, details FROM audit_entries
    WHERE account_id = ${accountId} AND (action LIKE 'member.%' OR action LIKE 'account.make%') ORDER BY seq`.execute()
}

describe('an organisation', () => {
  test('an account becomes an organisation once, with an audit entry', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const again = await makeOrganisation(fixture.database, accountId, COMPANY, by(people.owner))
    expect(again).toEqual({ kind: 'organisation_already' })
    expect(await makeOrganisation(fixture.database, 'acct_none', COMPANY, by(people.owner))).toMatchObject({
      kind: 'unknown_account',
    })
    expect(await accountsOf(fixture.database, people.viewer.userId)).toContainEqual({
      ...{ accountId, name: COMPANY.name, kind: 'organisation', role: 'viewer' },
    })
    expect(await entries(accountId)).toMatchObject([
      { action: 'account.make_organisation', actor_id: people.owner.userId, details: COMPANY },
    ])
  })

  test('changed legal data have an audit entry with old and new values', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const moved = { name: 'Engines SAS', country: 'FR', vatId: 'FR12345678901' }
    expect(await changeCompany(fixture.database, accountId, moved, by(people.owner))).toEqual({ kind: 'done' })
    expect(await findKind(fixture.database, accountId)).toMatchObject({ name: moved.name, company: moved })
    const [entry] = await fixture.database.sql`SELECT details FROM audit_entries
      WHERE account_id = ${accountId} AND action = 'account.company'`
    expect(entry?.details).toEqual({
      ...moved,
      ...{ 'before.name': COMPANY.name, 'before.country': COMPANY.country, 'before.vatId': COMPANY.vatId },
    })
    const { accountId: personal } = await newUser(fixture)
    expect(await changeCompany(fixture.database, personal, moved, by(people.owner))).toEqual({
      kind: 'not_organisation',
    })
  })
})

describe('a role', () => {
  test('a member may give roles up to their own, with an audit entry', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const rank = { owner: 3, admin: 2, developer: 1, billing: 1, viewer: 0 }
    for (const giver of ACCOUNT_ROLES) {
      for (const before of ACCOUNT_ROLES) {
        for (const after of ACCOUNT_ROLES.filter((role) => role !== before)) {
          const { userId } = await join(fixture, accountId, before)
          const outcome = await changeRole(fixture.database, { accountId, userId, by: by(people[giver]) }, after)
          const isAllowed = rank[giver] >= 2 && rank[before] <= rank[giver] && rank[after] <= rank[giver]
          expect({ giver, before, after, outcome: outcome.kind }).toEqual({
            ...{ giver, before, after, outcome: isAllowed ? 'done' : 'not_permitted' },
          })
          expect(await roleIn(fixture.database.db, accountId, userId)).toBe(isAllowed ? after : before)
        }
      }
    }
    const changes = (await entries(accountId)).filter(({ action }) => action === 'member.change_role')
    expect(changes).toHaveLength(20 + 12)
  })

  test('members can lower their own role but not raise it', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const change = ({ userId, ...user }: User, role: AccountRole) =>
      changeRole(fixture.database, { accountId, userId, by: by({ userId, ...user }) }, role)
    expect(await change(people.admin, 'owner')).toEqual({ kind: 'own_promotion' })
    expect(await change(people.billing, 'developer')).toEqual({ kind: 'own_promotion' })
    expect(await change(people.admin, 'admin')).toMatchObject({ kind: 'done' })
    expect(await change(people.admin, 'viewer')).toMatchObject({ kind: 'done' })
    expect(await change(people.admin, 'admin')).toEqual({ kind: 'own_promotion' })
    expect(await change(people.owner, 'viewer')).toEqual({ kind: 'last_owner' })
  })

  test('a person may own a limited number of accounts', async () => {
    const person = await newUser(fixture)
    const { accountId, people } = await newOrganisation(fixture)
    for (let owned = 1; owned < MAX_OWNED_ACCOUNTS; owned++) {
      const { accountId: other } = await newUser(fixture)
      await fixture.database.sql`INSERT INTO memberships (account_id, user_id, role)
        VALUES (${other}, ${person.userId}, 'owner')`
    }
    await fixture.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${person.userId}, 'admin')`
    const change = { accountId, userId: person.userId, by: by(people.owner) }
    expect(await changeRole(fixture.database, change, 'owner')).toEqual({ kind: 'too_many_owned' })
  })

  test('if two owners demote each other at the same time, one of them remains owner, in 30 of 30 runs', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const pair = [people.owner, await join(fixture, accountId, 'owner')] as const
    for (let round = 0; round < 30; round++) {
      const [one, other] = pair
      const outcomes = await Promise.all([
        changeRole(fixture.database, { accountId, userId: other.userId, by: by(one) }, 'viewer'),
        round % 2 === 0
          ? changeRole(fixture.database, { accountId, userId: one.userId, by: by(other) }, 'viewer')
          : removeMember(fixture.database, { accountId, userId: one.userId, by: by(other) }),
      ])
      expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['done', 'not_permitted'])
      const owners = await fixture.database.sql`SELECT user_id FROM memberships
        WHERE account_id = ${accountId} AND role = 'owner'`
      expect(owners).toHaveLength(1)
      for (const { userId } of pair) {
        await fixture.database.sql`INSERT INTO memberships (account_id, user_id, role)
          VALUES (${accountId}, ${userId}, 'owner') ON CONFLICT (account_id, user_id) DO UPDATE SET role = 'owner'`
      }
    }
  })
})

describe('the end of a membership', () => {
  test('an admin or the member can end a membership, except the last owner’s', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const remove = (user: User, remover: User) =>
      removeMember(fixture.database, { accountId, userId: user.userId, by: by(remover) })
    expect(await remove(people.viewer, people.developer)).toEqual({ kind: 'not_permitted' })
    expect(await remove(people.owner, people.admin)).toEqual({ kind: 'not_permitted' })
    expect(await remove(people.owner, people.owner)).toEqual({ kind: 'last_owner' })
    expect(await remove(people.viewer, people.admin)).toMatchObject({ kind: 'done' })
    expect(await remove(people.viewer, people.admin)).toEqual({ kind: 'unknown_member' })
    expect(await remove(people.billing, people.billing)).toMatchObject({ kind: 'done' })
    expect((await entries(accountId)).slice(1)).toMatchObject([
      { action: 'member.remove', actor_id: people.admin.userId, subject: people.viewer.userId },
      { action: 'member.leave', actor_id: people.billing.userId, subject: people.billing.userId },
    ])
  })

  test('a member with active keys cannot be removed before the keys are deactivated', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const { userId } = people.developer
    const key = await fixture.apiKeys.create({ accountId, name: 'theirs', createdBy: userId }, by(people.developer))
    assert(key.kind === 'created', key.kind)
    const change = { accountId, userId, by: by(people.admin) }
    expect(await removeMember(fixture.database, change)).toEqual({ kind: 'has_keys', activeKeys: 1 })
    await fixture.apiKeys.deactivate(key.keyId, accountId, by(people.admin))
    expect(await removeMember(fixture.database, change)).toMatchObject({ kind: 'done' })
    expect(await fixture.apiKeys.find(accountId, key.keyId)).toMatchObject({ createdBy: userId })
  })

  test('a removed member has no active key, even if a key was created at the same time', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    for (let round = 0; round < 20; round++) {
      const { userId } = await join(fixture, accountId, 'developer')
      const [created, removed] = await Promise.all([
        fixture.apiKeys.create({ accountId, name: `key ${round}`, createdBy: userId }),
        removeMember(fixture.database, { accountId, userId, by: by(people.owner) }),
      ])
      const outcome = `${created.kind} ${removed.kind}`
      expect(['created has_keys', 'unknown_account done']).toContain(outcome)
    }
  })

  test('a founder who leaves gets a new account, and the organisation stays with another address', async () => {
    const { accountId, people } = await newOrganisation(fixture)
    const heir = await join(fixture, accountId, 'owner')
    const { owner } = people
    expect(await removeMember(fixture.database, { accountId, userId: owner.userId, by: by(owner) })).toMatchObject({
      kind: 'done',
    })
    const [own, ...others] = await accountsOf(fixture.database, owner.userId)
    expect(others).toEqual([])
    expect(own).toMatchObject({ kind: 'personal', role: 'owner' })
    expect(own?.accountId).not.toBe(accountId)
    expect(await fixture.accounts.find(accountId)).toMatchObject({ email: heir.email, name: COMPANY.name })
    expect(await fixture.accounts.findByEmail(owner.email)).toMatchObject({ accountId: own?.accountId })
    expect(await fixture.accounts.findByEmail(heir.email)).toMatchObject({ accountId: heir.accountId })
  })
})
