/** Invitations in the database: valid once, for one confirmed address, and never for more than their sender may still give. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import {
  by,
  COMPANY,
  join,
  newOrganisation,
  newUser,
  type Organisation,
  type User,
} from '@test/accounts/members/people'
import { freshDatabase, redisUrl } from '@test/support/stores'
import { roleIn } from '@/accounts/members/memberships'
import { ACCOUNT_ROLES, type AccountRole } from '@/db/auth-schema'
import { assert } from '@/lib/assert'
import { MAX_MEMBERS } from '@/people/members/admission'
import { acceptInvitation, declineInvitation, readInvitation } from '@/people/members/answer-invitation'
import { changeRole, removeMember } from '@/people/members/change-members'
import {
  invite,
  listInvitations,
  MAX_A_DAY,
  MAX_PENDING,
  resendInvitation,
  revokeInvitation,
} from '@/people/members/invitations'

let fixture: Fixture

beforeAll(async () => {
  fixture = await openFixture(await redisUrl(), await freshDatabase())
})
afterAll(() => fixture.close())

type Sent = { invitationId: string; token: string }

async function send(
  { accountId, people }: Organisation,
  email: string,
  role: AccountRole,
  sender?: User,
): Promise<Sent> {
  const outcome = await invite(fixture.database, { accountId, by: by(sender ?? people.owner) }, { email, role })
  assert(outcome.kind === 'sent', outcome.kind)
  return outcome.invitation
}

const accept = (user: User, token: string) => acceptInvitation(fixture.database, { token, by: by(user) })
const read = (user: User, token: string) => readInvitation(fixture.database, { token, by: by(user) })
const decline = (user: User, token: string) => declineInvitation(fixture.database, { token, by: by(user) })
const roleOf = (accountId: string, { userId }: User) => roleIn(fixture.database.db, accountId, userId)
const INVALID = { kind: 'invalid' } as const

describe('an invitation', () => {
  test('an accepted invitation adds one member and an audit entry', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    const person = await newUser(fixture)
    const { token, invitationId } = await send(organisation, person.email.toUpperCase(), 'developer')
    expect(token).toMatch(/^[0-9A-Za-z]{32}$/)
    expect(await read(person, token)).toMatchObject({
      ...{ kind: 'open', invitation: { accountName: COMPANY.name, role: 'developer' } },
    })
    expect(await accept(person, token)).toEqual({ kind: 'accepted', accountId })
    expect(await roleOf(accountId, person)).toBe('developer')
    for (const answer of [accept, read, decline]) expect(await answer(person, token)).toEqual(INVALID)
    const entries = await fixture.database.sql`SELECT action, actor_id, subject FROM audit_entries
      WHERE account_id = ${accountId} AND action IN ('invitation.create', 'member.join') ORDER BY seq`
    expect([...entries]).toMatchObject([
      { action: 'invitation.create', actor_id: people.owner.userId, subject: invitationId },
      { action: 'member.join', actor_id: person.userId, subject: person.userId },
    ])
    const [row] = await fixture.database.sql`SELECT * FROM invitations WHERE id = ${invitationId}`
    expect(JSON.stringify(row)).not.toContain(token)
  })

  test('an invitation accepted several times at once adds one member; a simultaneous revocation leaves at most one', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    for (let round = 0; round < 20; round++) {
      const person = await newUser(fixture)
      const { token, invitationId } = await send(organisation, person.email, 'viewer')
      const inviting = { accountId, by: by(people.owner) }
      const [revoked, ...accepted] = await Promise.all([
        revokeInvitation(fixture.database, inviting, invitationId),
        ...[1, 2, 3].map(() => accept(person, token)),
      ])
      const won = accepted.filter(({ kind }) => kind === 'accepted').length
      expect(won).toBe(revoked.kind === 'done' ? 0 : 1)
      expect(await roleOf(accountId, person)).toBe(won === 1 ? 'viewer' : undefined)
    }
  })

  test('stolen, expired, revoked, declined, replaced and unknown invitations are refused with the same answer', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    const { sql } = fixture.database
    const inviting = { accountId, by: by(people.owner) }
    const person = await newUser(fixture)
    const thief = await newUser(fixture)
    const first = await send(organisation, person.email, 'admin')
    expect(await accept(thief, first.token)).toEqual(INVALID)
    const second = await send(organisation, person.email, 'admin')
    expect(await accept(person, first.token)).toEqual(INVALID)
    await sql`UPDATE invitations SET expires_at = now() WHERE id = ${second.invitationId}`
    expect(await accept(person, second.token)).toEqual(INVALID)
    expect(await listInvitations(fixture.database, accountId)).toMatchObject([{ isExpired: true }])
    const again = await resendInvitation(fixture.database, inviting, second.invitationId)
    assert(again.kind === 'sent', again.kind)
    expect(await accept(person, second.token)).toEqual(INVALID)
    expect(await read(person, again.invitation.token)).toMatchObject({ kind: 'open' })
    expect(await revokeInvitation(fixture.database, inviting, second.invitationId)).toEqual({ kind: 'done' })
    expect(await accept(person, again.invitation.token)).toEqual(INVALID)
    const third = await send(organisation, person.email, 'admin')
    expect(await decline(person, third.token)).toEqual({ kind: 'declined' })
    for (const token of [third.token, 'x'.repeat(32), '']) expect(await accept(person, token)).toEqual(INVALID)
    expect(await listInvitations(fixture.database, accountId)).toEqual([])
    for (const id of [third.invitationId, 'invt_none']) {
      for (const change of [revokeInvitation, resendInvitation]) {
        expect(await change(fixture.database, inviting, id)).toEqual({ kind: 'unknown_invitation' })
      }
    }
    expect(await roleOf(accountId, person)).toBeUndefined()
  })
})

describe('the inviter’s rights', () => {
  test('the inviter’s role must allow the invited role when inviting', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    for (const sender of ACCOUNT_ROLES) {
      for (const role of ACCOUNT_ROLES) {
        const email = `${sender}-${role}@example.test`
        const outcome = await invite(fixture.database, { accountId, by: by(people[sender]) }, { email, role })
        const isAllowed = sender === 'owner' || (sender === 'admin' && role !== 'owner')
        expect({ sender, role, outcome: outcome.kind }).toEqual({
          ...{ sender, role, outcome: isAllowed ? 'sent' : 'not_permitted' },
        })
        if (outcome.kind !== 'sent') continue
        const { invitationId } = outcome.invitation
        const changing = { accountId, by: by(people.viewer) }
        expect(await revokeInvitation(fixture.database, changing, invitationId)).toEqual({ kind: 'not_permitted' })
        expect(await resendInvitation(fixture.database, changing, invitationId)).toEqual({ kind: 'not_permitted' })
      }
    }
  })

  test('an invitation has no effect after its inviter was demoted or removed', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    const second = await join(fixture, accountId, 'owner')
    const [toOwner, toAdmin, toViewer] = await Promise.all([newUser(fixture), newUser(fixture), newUser(fixture)])
    const owner = await send(organisation, toOwner.email, 'owner', second)
    const admin = await send(organisation, toAdmin.email, 'admin', second)
    const viewer = await send(organisation, toViewer.email, 'viewer', second)
    const demoting = { accountId, userId: second.userId, by: by(people.owner) }
    await changeRole(fixture.database, demoting, 'admin')
    expect(await accept(toOwner, owner.token)).toEqual(INVALID)
    expect(await accept(toAdmin, admin.token)).toMatchObject({ kind: 'accepted' })
    await removeMember(fixture.database, demoting)
    expect(await accept(toViewer, viewer.token)).toEqual(INVALID)
    // They are revoked with the role that sent them: somebody who may invites anew.
    const inviting = { accountId, by: by(people.admin) }
    for (const { invitationId } of [viewer, owner])
      expect(await resendInvitation(fixture.database, inviting, invitationId)).toEqual({ kind: 'unknown_invitation' })
    const again = await send(organisation, toViewer.email, 'viewer', people.admin)
    expect(await accept(toViewer, again.token)).toMatchObject({ kind: 'accepted' })
  })
})

describe('limits of invitations and members', () => {
  test('open invitations and invitations in a day are limited; a replacement counts as one', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId, people } = organisation
    const inviting = { accountId, by: by(people.owner) }
    const { sql } = fixture.database
    await sql`INSERT INTO invitations (id, account_id, email, role, token_hash, invited_by, expires_at)
      SELECT ${accountId} || n, ${accountId}, n || '@many.example.test', 'viewer', ${accountId} || n,
        ${people.owner.userId}, now() + interval '1 day' FROM generate_series(1, ${MAX_PENDING - 1}) n`
    const both = await Promise.all(
      ['one', 'two'].map((name) =>
        invite(fixture.database, inviting, { email: `${name}@example.test`, role: 'viewer' }),
      ),
    )
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['sent', 'too_many_pending'])
    const replaced = { email: '1@many.example.test', role: 'developer' } as const
    expect(await invite(fixture.database, inviting, replaced)).toMatchObject({ kind: 'sent' })
    await sql`UPDATE invitations SET expires_at = now() WHERE account_id = ${accountId}`
    const left = MAX_A_DAY - (MAX_PENDING + 1)
    for (let sent = 0; sent < left; sent++) {
      await send(organisation, 'over-and-over@example.test', 'viewer')
    }
    const outcome = await invite(fixture.database, inviting, { email: 'late@example.test', role: 'viewer' })
    expect(outcome).toEqual({ kind: 'too_many_a_day' })
    await sql`UPDATE invitations SET created_at = now() - interval '25 hours' WHERE account_id = ${accountId}`
    expect(await invite(fixture.database, inviting, { email: 'late@example.test', role: 'viewer' })).toMatchObject({
      kind: 'sent',
    })
  })

  test('an account has a limited number of members', async () => {
    const organisation = await newOrganisation(fixture)
    const { accountId } = organisation
    const { sql } = fixture.database
    await sql`INSERT INTO users (id, name, email) SELECT ${accountId} || n, 'n', lower(${accountId} || n) || '@example.test'
      FROM generate_series(6, ${MAX_MEMBERS - 1}) n`
    await sql`INSERT INTO memberships (account_id, user_id, role) SELECT ${accountId}, id, 'viewer' FROM users
      WHERE starts_with(id, ${accountId})`
    const people = await Promise.all([newUser(fixture), newUser(fixture)])
    const outcomes = []
    for (const person of people) {
      const { token } = await send(organisation, person.email, 'viewer')
      outcomes.push(await accept(person, token))
    }
    expect(outcomes).toEqual([{ kind: 'accepted', accountId }, { kind: 'too_many_members' }])
  })
})
