/** Mails about a person's membership, written in the same step as the change; nobody can turn these off. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { by, COMPANY, newOrganisation, newUser } from '@test/accounts/members/people'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { changeAccountAddresses } from '@/accounts/addresses/addresses'
import { createApiKeys } from '@/accounts/api-keys'
import { writeMails } from '@/accounts/mails/outbox'
import { createManagementKeys, MAX_MANAGEMENT_KEYS } from '@/accounts/management/management-keys'
import { assert } from '@/lib/assert'
import { acceptInvitation } from '@/people/members/answer-invitation'
import { addMember, changeRole, removeMember } from '@/people/members/change-members'
import { invite } from '@/people/members/invitations'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
afterAll(() => fixture.close())

/** Kind and facts of the mails to an address, and none before them. */
async function mailsTo(email: string): Promise<[string, Record<string, unknown>][]> {
  const rows = await fixture.database.sql<{ kind: string; facts: Record<string, unknown> }[]>`
    DELETE FROM mails WHERE recipient = ${email} RETURNING kind, facts`
  return rows.map(({ kind, facts }) => [kind, facts])
}

test('a new role is mailed to its member, and a new owner to the former owners', async () => {
  const { accountId, people } = await newOrganisation(fixture)
  const { owner, viewer } = people
  const change = { accountId, userId: viewer.userId, by: by(owner) }
  await changeRole(fixture.database, change, 'developer')
  const changed = { accountName: COMPANY.name, by: owner.email }
  expect(await mailsTo(viewer.email)).toEqual([['role_changed', { ...changed, before: 'viewer', after: 'developer' }]])
  expect(await mailsTo(owner.email)).toEqual([])
  await changeRole(fixture.database, change, 'owner')
  expect((await mailsTo(viewer.email)).map(([kind]) => kind)).toEqual(['role_changed'])
  expect(await mailsTo(owner.email)).toEqual([['owner_added', { ...changed, owner: viewer.email }]])
})

test('refused and unchanged roles send no mail', async () => {
  const { accountId, people } = await newOrganisation(fixture)
  const { admin, developer, owner } = people
  expect(await changeRole(fixture.database, { accountId, userId: owner.userId, by: by(admin) }, 'viewer')).toEqual({
    kind: 'not_permitted',
  })
  await changeRole(fixture.database, { accountId, userId: developer.userId, by: by(owner) }, 'developer')
  for (const { email } of Object.values(people)) expect(await mailsTo(email)).toEqual([])
})

test('the end of a membership is mailed, and so is a membership that an operator gives', async () => {
  const { accountId, people } = await newOrganisation(fixture)
  const { owner, viewer } = people
  await removeMember(fixture.database, { accountId, userId: viewer.userId, by: by(owner) })
  expect(await mailsTo(viewer.email)).toEqual([['member_removed', { accountName: COMPANY.name, by: owner.email }]])
  const added = { accountId, email: viewer.email, role: 'owner', by: by(owner) } as const
  expect(await addMember(fixture.database, added)).toMatchObject({ kind: 'done' })
  expect((await mailsTo(viewer.email)).map(([kind]) => kind)).toEqual(['member_added'])
  expect((await mailsTo(owner.email)).map(([kind]) => kind)).toEqual(['owner_added'])
})

test('an invitation and its mail are written in one transaction; owners get a mail when an invited person becomes owner', async () => {
  const { accountId, people } = await newOrganisation(fixture)
  const person = await newUser(fixture)
  const facts = { accountName: COMPANY.name, invitedBy: 'Ada', role: 'owner', days: 7 }
  const asked = { email: person.email, role: 'owner' } as const
  const failing = invite(
    fixture.database,
    { accountId, by: by(people.owner), tell: () => Promise.reject(new Error('no outbox')) },
    asked,
  )
  await expect(failing).rejects.toThrow('no outbox')
  expect(await fixture.database.sql`SELECT FROM invitations WHERE account_id = ${accountId}`).toHaveLength(0)
  const outcome = await invite(
    fixture.database,
    {
      ...{ accountId, by: by(people.owner) },
      tell: (transaction, { email }) => writeMails(transaction, { kind: 'invitation', facts }, [email], { accountId }),
    },
    asked,
  )
  assert(outcome.kind === 'sent', outcome.kind)
  expect((await mailsTo(person.email)).map(([kind]) => kind)).toEqual(['invitation'])
  await acceptInvitation(fixture.database, { token: outcome.invitation.token, by: by(person) })
  expect((await mailsTo(people.owner.email)).map(([kind]) => kind)).toEqual(['owner_added'])
})

test('if the address list of an account changes, owners and admins get a mail', async () => {
  const { accountId, people } = await newOrganisation(fixture)
  const change = { accountId, addresses: ['203.0.113.0/24'], by: by(people.admin) }
  await changeAccountAddresses(fixture.database, fixture.ledger, change)
  const told = ['addresses_changed', { accountName: COMPANY.name, after: '203.0.113.0/24', by: people.admin.email }]
  for (const role of ['owner', 'admin'] as const) expect(await mailsTo(people[role].email)).toEqual([told as never])
  for (const role of ['developer', 'billing', 'viewer'] as const) expect(await mailsTo(people[role].email)).toEqual([])
})

test('if the address list of a key changes, the key’s member gets a mail too; without a change nobody does', async () => {
  const { accountId, people } = await newOrganisation(fixture)
  const { owner, admin, developer } = people
  const apiKeys = createApiKeys(fixture.database, fixture.ledger, 'svc')
  const made = await apiKeys.create({ accountId, name: 'ci', createdBy: developer.userId }, by(developer))
  assert(made.kind === 'created', made.kind)
  const list = { allowedAddresses: ['203.0.113.0/24'] }
  await apiKeys.change(made.keyId, list, accountId, by(admin))
  await apiKeys.change(made.keyId, { ...list, name: 'renamed' }, accountId, by(admin))
  const facts = { accountName: COMPANY.name, key: 'ci', after: '203.0.113.0/24', by: admin.email }
  for (const { email } of [owner, admin, developer])
    expect(await mailsTo(email)).toEqual([['key_addresses_changed', facts]])
  for (const { email } of [people.billing, people.viewer]) expect(await mailsTo(email)).toEqual([])
  await changeAccountAddresses(fixture.database, fixture.ledger, { accountId, addresses: null, by: by(admin) })
  for (const { email } of Object.values(people)) expect(await mailsTo(email)).toEqual([])
})

test('a new management key is mailed to owners and admins; a refused request sends no mail', async () => {
  const { accountId, people } = await newOrganisation(fixture)
  const { admin, owner } = people
  const keys = createManagementKeys(fixture.database, 'svc')
  const key = {
    accountId,
    name: 'terraform',
    scopes: ['keys:read'],
    expiresAtMs: null,
    createdBy: admin.userId,
  } as const
  for (let made = 0; made < MAX_MANAGEMENT_KEYS; made++) await keys.create(key, by(admin))
  const facts = { accountName: COMPANY.name, name: 'terraform', scopes: 'keys:read', by: admin.email }
  for (const { email } of [owner, admin]) {
    expect(await mailsTo(email)).toEqual(Array(MAX_MANAGEMENT_KEYS).fill(['management_key_made', facts]))
  }
  expect(await keys.create(key, by(admin))).toMatchObject({ kind: 'too_many_keys' })
  for (const { email } of Object.values(people)) expect(await mailsTo(email)).toEqual([])
})
