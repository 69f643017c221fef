/** The routes of invitations: answers, refusals, mails, and that every invalid link gets the same answer. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { loggedToken } from '@test/console/http/support'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type JsonAnswer, type Person, signUpPerson } from '@test/support/person'
import type { AccountRole } from '@/db/auth-schema'

const NAME = 'Engines Ltd'
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
afterAll(() => gateway.stop())

async function newOrganisation(): Promise<Person> {
  const owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  await owner.json('POST', '/dashboard/api/a/:accountId/organisation', { name: NAME, country: 'GB' })
  return owner
}

async function verifiedPerson(): Promise<Person> {
  const person = await signUpPerson(gateway, { name: 'Charles Babbage' })
  await gateway.gateway.database.sql`UPDATE users SET email_verified = true WHERE id = ${person.viewer.userId}`
  return person
}

function send(owner: Person, email: unknown, role: unknown = 'developer'): Promise<JsonAnswer> {
  return owner.json('POST', '/dashboard/api/a/:accountId/invitations', { email, role })
}

/** Invites somebody, and returns the token of their mail. */
async function invited(owner: Person, person: Person, role: AccountRole = 'developer'): Promise<string> {
  expect((await send(owner, person.email, role)).status).toBe(200)
  return loggedToken(gateway, person.email, 'invitation')
}

function tell(person: Person, verb: 'show' | 'accept' | 'decline', token: unknown): Promise<JsonAnswer> {
  return person.json('POST', `/dashboard/api/invitations/${verb}`, { token })
}

function refusal({ status, body }: JsonAnswer): string {
  return `${status} ${(body as { error: { code: string | null } }).error.code}`
}

/** Whatever of an answer could tell one refusal from another. */
function shape({ status, body }: JsonAnswer): unknown {
  const { request_id: _, ...error } = (body as { error: Record<string, unknown> }).error
  return { status, error }
}

describe('an invitation', () => {
  test('an invitation is shown to its person, and makes them a member', async () => {
    const owner = await newOrganisation()
    const { accountId } = owner.viewer
    const person = await verifiedPerson()
    const token = await invited(owner, person)
    const { body } = await owner.json('GET', '/dashboard/api/a/:accountId/invitations')
    expect(body).toMatchObject({
      items: [{ email: person.email, role: 'developer', invitedBy: 'Ada Lovelace', isExpired: false }],
    })
    expect(JSON.stringify(body)).not.toContain(token)
    expect((await tell(person, 'show', token)).body).toEqual({
      ...{ accountName: NAME, role: 'developer', invitedBy: 'Ada Lovelace' },
    })
    expect((await person.json('GET', `/dashboard/api/a/${accountId}/keys`)).status).toBe(404)
    expect(await tell(person, 'accept', token)).toMatchObject({ status: 200, body: { accountId } })
    expect((await person.json('GET', `/dashboard/api/a/${accountId}/keys`)).status).toBe(200)
    expect((await owner.json('GET', '/dashboard/api/a/:accountId/invitations')).body).toMatchObject({ items: [] })
    expect(refusal(await send(owner, person.email))).toBe('409 already_member')
  })

  test('stolen, expired, revoked, declined, used and unknown invitations get the same answer', async () => {
    const owner = await newOrganisation()
    const { sql } = gateway.gateway.database
    const [person, thief] = [await verifiedPerson(), await verifiedPerson()]
    const answers: JsonAnswer[] = []
    const stolen = await invited(owner, person)
    for (const verb of ['show', 'accept', 'decline'] as const) answers.push(await tell(thief, verb, stolen))
    expect((await tell(person, 'decline', stolen)).status).toBe(200)
    answers.push(await tell(person, 'accept', stolen))
    const expired = await invited(owner, person)
    await sql`UPDATE invitations SET expires_at = now() WHERE email = ${person.email} AND state = 'pending'`
    answers.push(await tell(person, 'accept', expired))
    const revoked = await invited(owner, person)
    const { body } = await owner.json('GET', '/dashboard/api/a/:accountId/invitations')
    const [{ invitationId } = { invitationId: '' }] = (body as { items: { invitationId: string }[] }).items
    await owner.json('POST', `/dashboard/api/a/:accountId/invitations/${invitationId}/revoke`, {})
    answers.push(await tell(person, 'accept', revoked))
    const used = await invited(owner, person)
    expect((await tell(person, 'accept', used)).status).toBe(200)
    answers.push(await tell(person, 'accept', used), await tell(person, 'accept', 'x'.repeat(32)))
    const [first] = answers.map(shape)
    expect(first).toMatchObject({ status: 410, error: { code: 'invitation_invalid' } })
    expect(answers.map(shape)).toEqual(answers.map(() => first))
  })

  test('before confirming their address, a person does not see whether an invitation link is valid; then they can accept', async () => {
    const owner = await newOrganisation()
    const person = await signUpPerson(gateway)
    const token = await invited(owner, person)
    for (const text of [token, 'x'.repeat(32)]) {
      expect(refusal(await tell(person, 'accept', text))).toBe('403 email_not_verified')
    }
    await gateway.gateway.database.sql`UPDATE users SET email_verified = true WHERE id = ${person.viewer.userId}`
    expect((await tell(person, 'accept', token)).status).toBe(200)
  })

  test('inviting has the same answer whether or not the address has signed up', async () => {
    const owner = await newOrganisation()
    const known = await send(owner, (await verifiedPerson()).email)
    const unknown = await send(owner, `${crypto.randomUUID()}@example.test`)
    expect([known.status, Object.keys(known.body as object)]).toEqual([
      ...[unknown.status, Object.keys(unknown.body as object)],
    ])
  })

  test('an invitation is resent three times an hour, each time with a new link', async () => {
    const owner = await newOrganisation()
    const person = await verifiedPerson()
    const { body } = await send(owner, person.email)
    const { invitationId } = body as { invitationId: string }
    const tokens = [await loggedToken(gateway, person.email, 'invitation')]
    const again = () => owner.json('POST', `/dashboard/api/a/:accountId/invitations/${invitationId}/resend`, {})
    for (const _ of [1, 2, 3]) {
      expect((await again()).status).toBe(200)
      tokens.push(await loggedToken(gateway, person.email, 'invitation'))
    }
    expect(refusal(await again())).toBe('429 too_many_attempts')
    expect(new Set(tokens).size).toBe(4)
    expect(refusal(await tell(person, 'accept', tokens[0]))).toBe('410 invitation_invalid')
    expect((await tell(person, 'accept', tokens[3])).status).toBe(200)
  })

  test('thirty requests at once with one request key send one mail, and the invited person joins once', async () => {
    const owner = await newOrganisation()
    const person = await verifiedPerson()
    const { sql } = gateway.gateway.database
    const press = async (who: Person, path: string, body: object) => {
      const request = { method: 'POST', headers: { 'idempotency-key': path, 'content-type': 'application/json' } }
      const answers = await Promise.all(
        Array.from({ length: 30 }, async () => {
          const response = await who.fetch(path, { ...request, body: JSON.stringify(body) })
          return { status: response.status, body: await response.text() }
        }),
      )
      const done = new Set(answers.filter(({ status }) => status === 200).map((answer) => answer.body))
      expect([done.size, answers.filter(({ status }) => status !== 200 && status !== 409)]).toEqual([1, []])
      return JSON.parse([...done][0] ?? '')
    }
    const mails = async () => {
      const [row] = await sql`SELECT count(*)::int FROM mails WHERE recipient = ${person.email}`
      return row?.count
    }
    const at = `/dashboard/api/a/${owner.viewer.accountId}/invitations`
    const before = await mails()
    const { invitationId } = await press(owner, at, { email: person.email, role: 'developer' })
    expect(await mails()).toBe(before + 1)
    const [{ tokenHash } = { tokenHash: '' }] =
      await sql`SELECT token_hash AS "tokenHash" FROM invitations WHERE id = ${invitationId}`
    await press(owner, `${at}/${invitationId}/resend`, {})
    expect(await mails()).toBe(before + 2)
    const [again] = await sql`SELECT token_hash FROM invitations WHERE id = ${invitationId}`
    expect(again?.token_hash).not.toBe(tokenHash)
    const token = await loggedToken(gateway, person.email, 'invitation')
    await press(person, '/dashboard/api/invitations/accept', { token })
    const joined =
      await sql`SELECT 1 FROM audit_entries WHERE action = 'member.join' AND subject = ${person.viewer.userId}`
    expect(joined.length).toBe(1)
  })

  test('an address gets ten invitations an hour from all senders together', async () => {
    const owners = [await newOrganisation(), await newOrganisation()] as const
    const email = `${crypto.randomUUID()}@example.test`
    for (let sent = 0; sent < 10; sent++) expect((await send(owners[sent < 5 ? 0 : 1], email)).status).toBe(200)
    expect(refusal(await send(owners[0], email))).toBe('429 too_many_attempts')
  })

  test('a resent invitation counts towards the ten invitations of its address', async () => {
    const email = `${crypto.randomUUID()}@example.test`
    const statuses: number[] = []
    for (let organisation = 0; organisation < 3; organisation++) {
      const owner = await newOrganisation()
      const { status, body } = await send(owner, email)
      const { invitationId } = body as { invitationId: string }
      const path = `/dashboard/api/a/:accountId/invitations/${invitationId}/resend`
      statuses.push(status)
      for (let again = 0; again < 3; again++) statuses.push((await owner.json('POST', path, {})).status)
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429])
    const { sql } = gateway.gateway.database
    const [sent] = await sql`SELECT count(*)::int FROM mails WHERE recipient = ${email}`
    expect(sent).toEqual({ count: 10 })
  })

  test('a refused invitation does not count for other senders', async () => {
    const [alone, owner] = [await signUpPerson(gateway), await newOrganisation()]
    const member = await verifiedPerson()
    await tell(member, 'accept', await invited(owner, member))
    const email = `${crypto.randomUUID()}@example.test`
    for (let refused = 0; refused < 10; refused++)
      expect(refusal(await send(alone, email))).toBe('409 not_organisation')
    for (let refused = 0; refused < 10; refused++)
      expect(refusal(await send(owner, member.email))).toBe('409 already_member')
    expect((await send(owner, email)).status).toBe(200)
    expect((await send(await newOrganisation(), member.email)).status).toBe(200)
  })

  test('an invitation is refused for invalid addresses and roles', async () => {
    const owner = await newOrganisation()
    const invalid = [
      ['an invalid address', 'nobody', 'viewer'],
      ['an address with a line break', 'a@example.test\nbcc: b@example.test', 'viewer'],
      ['several addresses', ['a@example.test', 'b@example.test'], 'viewer'],
      ['an unknown role', 'a@example.test', 'king'],
      ['no role', 'a@example.test', null],
    ]
    for (const [what, email, role] of invalid)
      expect([what, (await send(owner, email, role)).status]).toEqual([what, 400])
  })

  test('an invitation is refused in a personal account, and above one’s own role', async () => {
    const alone = await signUpPerson(gateway)
    expect(refusal(await send(alone, 'a@example.test'))).toBe('409 not_organisation')
    const owner = await newOrganisation()
    const admin = await verifiedPerson()
    await tell(admin, 'accept', await invited(owner, admin, 'admin'))
    const path = `/dashboard/api/a/${owner.viewer.accountId}/invitations`
    const asOwner = await admin.json('POST', path, { email: 'b@example.test', role: 'owner' })
    expect(refusal(asOwner)).toBe('403 not_permitted')
    expect((await admin.json('POST', path, { email: 'b@example.test', role: 'admin' })).status).toBe(200)
  })
})

test('without mail nobody can be invited', async () => {
  const owner = await newOrganisation()
  const { parts } = gateway.gateway.deps.dashboard.auth
  const { mails } = parts
  parts.mails = undefined
  expect(refusal(await send(owner, 'a@example.test'))).toBe('403 mail_not_configured')
  parts.mails = mails
})
