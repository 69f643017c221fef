/** Credentials of members end with the role that allows them: each credential × each role before × each role after, or none. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { by, join, newOrganisation, type Organisation, type User } from '@test/accounts/members/people'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { createManagementKeys } from '@/accounts/management/management-keys'
import { ACCOUNT_ROLES, type AccountRole } from '@/db/auth-schema'
import { CREDENTIAL_KINDS, type CredentialKind } from '@/people/members/credentials'
import { invite } from '@/people/members/invitations'
import { createMembers } from '@/people/members/members'

/** As it was decided, beside the table that the product goes by. */
const HOLDERS: Readonly<Record<CredentialKind, string>> = {
  api_key: 'owner admin developer',
  management_key: 'owner admin',
  invitation: 'owner admin',
  service_key: 'owner admin developer billing viewer nobody',
}
const AFTER = [...ACCOUNT_ROLES, 'nobody'] as const
const holds = (role: string, kind: CredentialKind) => HOLDERS[kind].split(' ').includes(role)

let fixture: Fixture
let organisation: Organisation
let members: ReturnType<typeof createMembers>
let managementKeys: ReturnType<typeof createManagementKeys>

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
  organisation = await newOrganisation(fixture)
  members = createMembers(fixture.database, fixture.apiKeys)
  managementKeys = createManagementKeys(fixture.database, 'svc')
})
afterAll(() => fixture.close())

type Held = { id: string; works(): Promise<boolean> }

/** Makes one as a member of this role does. */
async function make(kind: CredentialKind, user: User): Promise<Held> {
  const { accountId } = organisation
  const { userId } = user
  if (kind === 'management_key') {
    const key = { accountId, name: 'robot', scopes: [], expiresAtMs: null, createdBy: userId }
    const made = await managementKeys.create(key, by(user))
    if (made.kind !== 'created') throw new Error(made.kind)
    return { id: made.keyId, works: async () => (await managementKeys.identify(made.key)) !== undefined }
  }
  if (kind === 'invitation') {
    const asked = { email: `${crypto.randomUUID()}@example.test`, role: 'viewer' as const }
    const sent = await invite(fixture.database, { accountId, by: by(user) }, asked)
    if (sent.kind !== 'sent') throw new Error(sent.kind)
    const { invitationId: id } = sent.invitation
    const works = async () => (await members.invitations.list(accountId)).some((one) => one.invitationId === id)
    return { id, works }
  }
  const made = await fixture.apiKeys.create(
    { accountId, name: 'key', ...(kind === 'api_key' && { createdBy: userId }) },
    by(user),
  )
  if (made.kind !== 'created') throw new Error(made.kind)
  const { keyId } = made
  return { id: keyId, works: async () => (await fixture.ledger.readKey({ accountId, keyId }))?.status === 'active' }
}

async function become(user: User, after: (typeof AFTER)[number], fate: 'revoke' | 'keep') {
  const change = { accountId: organisation.accountId, userId: user.userId, by: by(organisation.people.owner) }
  const outcome = await (after === 'nobody' ? members.remove(change, fate) : members.changeRole(change, after, fate))
  if (outcome.kind !== 'done') throw new Error(outcome.kind)
  return outcome.revoked
}

const cases = CREDENTIAL_KINDS.flatMap((kind) =>
  ACCOUNT_ROLES.filter(
    (before) => before !== 'owner' && (kind === 'service_key' ? holds(before, 'management_key') : holds(before, kind)),
  ).flatMap((before) =>
    AFTER.filter((after) => after !== before && after !== 'owner').map((after) => ({ kind, before, after })),
  ),
)

describe('the credentials of a member', () => {
  test.each(cases)(
    'a credential ($kind) made as $before works after a change to $after only if that role may have it',
    async ({ kind, before, after }) => {
      const { accountId } = organisation
      const user = await join(fixture, accountId, before)
      const held = await make(kind, user)
      const listed = { kind, id: held.id, name: expect.any(String), roles: expect.any(Array) }
      const [found] = await members.credentials(accountId, user.userId)
      expect(found).toEqual(listed)
      expect(found?.roles.map(String)).toEqual(ACCOUNT_ROLES.filter((role) => holds(role, kind)))
      expect(await held.works()).toBe(true)
      const revoked = await become(user, after, 'revoke')
      expect(await held.works()).toBe(holds(after, kind))
      expect(revoked).toEqual(holds(after, kind) ? [] : [listed])
      const audit = await fixture.database.sql`SELECT actor_id FROM audit_entries
      WHERE subject = ${held.id} AND action IN ('key.deactivate', 'management_key.revoke', 'invitation.revoke')`
      expect([...audit]).toEqual(holds(after, kind) ? [] : [{ actor_id: organisation.people.owner.userId }])
    },
  )
})

describe('credentials that the admin chose to keep', () => {
  test.each([
    ['api_key', 'viewer', true],
    ['api_key', 'nobody', false],
    ['management_key', 'viewer', true],
    ['management_key', 'nobody', true],
    ['invitation', 'viewer', false],
    ['invitation', 'nobody', false],
  ] as const)(
    'a credential (%s) still works after a change to %s if the admin keeps it: %p',
    async (kind, after, isKept) => {
      const user = await join(fixture, organisation.accountId, 'admin')
      const held = await make(kind, user)
      await become(user, after, 'keep')
      expect(await held.works()).toBe(isKept)
    },
  )
})

describe('a member cannot get credentials beyond their role', () => {
  const others = ACCOUNT_ROLES.filter((role) => !holds(role, 'api_key'))
  test.each(others)(
    'a member with the role %s gets no new, activated or transferred key, and no management key',
    async (role) => {
      const { accountId, people } = organisation
      const user = await join(fixture, accountId, 'developer')
      const { id } = await make('api_key', user)
      await become(user, role, 'revoke')
      const { apiKeys } = fixture
      expect(await apiKeys.create({ accountId, name: 'new', createdBy: user.userId })).toEqual({ kind: 'no_owner' })
      expect(await apiKeys.activate(id, accountId)).toEqual({ kind: 'no_owner' })
      const other = await make('api_key', people.developer)
      expect(await apiKeys.transfer(other.id, accountId, user.userId, by(people.owner))).toEqual({ kind: 'no_owner' })
      const key = { accountId, name: 'robot', scopes: [], expiresAtMs: null, createdBy: user.userId }
      expect(await managementKeys.create(key, by(user))).toEqual({ kind: 'not_permitted' })
    },
  )
})

test('a key that is created during a role change ends with the change or is refused', async () => {
  const { accountId } = organisation
  for (let round = 0; round < 10; round++) {
    const user = await join(fixture, accountId, 'developer')
    const making = Array.from({ length: 4 }, (_, index) =>
      fixture.apiKeys.create({ accountId, name: `key ${index}`, createdBy: user.userId }),
    )
    const changed = become(user, 'viewer' satisfies AccountRole, 'revoke')
    const made = await Promise.all(making)
    await changed
    for (const one of made) {
      if (one.kind !== 'created') continue
      expect((await fixture.ledger.readKey({ accountId, keyId: one.keyId }))?.status).toBe('deactivated')
    }
  }
})
