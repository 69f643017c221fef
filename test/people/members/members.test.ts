/** The routes of members and organisations: answers, refusals, and that the end of a membership applies from the next request on. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type JsonAnswer, type Person, signUpPerson } from '@test/support/person'
import { chatStream, eventStream, usageOf } from '@test/support/upstream'
import { addCredit, ask, flushed } from '@test/usage/customer'
import { eventsRoutes } from '@/console/http/events-routes'
import type { AccountRole } from '@/db/auth-schema'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => eventStream(...chatStream(['Hello'], usageOf(50, 50))) })
})
afterAll(() => gateway.stop())

const COMPANY = { name: 'Analytical Engines Ltd', country: 'GB', vatId: 'GB 123 4567 89' }

/** The paths of somebody's account, whoever asks. */
const within = ({ viewer }: Person) => `/dashboard/api/a/${viewer.accountId}`

async function newOrganisation(): Promise<Person> {
  const owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  expect(await owner.json('POST', `${within(owner)}/organisation`, COMPANY)).toMatchObject({
    ...{ status: 200, body: COMPANY },
  })
  return owner
}

async function join(owner: Person, role: AccountRole, name = 'Charles Babbage'): Promise<Person> {
  const person = await signUpPerson(gateway, { name })
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${owner.viewer.accountId}, ${person.viewer.userId}, ${role})`
  return person
}

function refusal({ status, body }: JsonAnswer): string {
  const { code } = (body as { error: { code: string | null } }).error
  return `${status} ${code}`
}

describe('a personal account', () => {
  test('a personal account becomes an organisation during use, and keeps balance, keys and history', async () => {
    const owner = await signUpPerson(gateway)
    const { accountId } = owner.viewer
    await addCredit(gateway, accountId, '5')
    const created = await owner.json('POST', `${within(owner)}/keys`, { name: 'in use' })
    const { key } = created.body as { key: string }
    const requests: Promise<string>[] = []
    for (let sent = 0; sent < 10; sent++) requests.push(ask(gateway, key, { stream: true }))
    const made = owner.json('POST', `${within(owner)}/organisation`, COMPANY)
    for (let sent = 0; sent < 10; sent++) requests.push(ask(gateway, key, { stream: true }))
    expect((await made).status).toBe(200)
    const ids = await Promise.all(requests)
    await flushed(gateway, accountId)
    const { body: usage } = await owner.json('GET', `${within(owner)}/usage?limit=100`)
    const booked = (usage as { items: { requestId: string }[] }).items.map(({ requestId }) => requestId)
    expect(booked.toSorted()).toEqual(ids.toSorted())
    const { body: keys } = await owner.json('GET', `${within(owner)}/keys`)
    expect(keys).toMatchObject({ items: [{ name: 'in use', status: 'active' }] })
    // 50 tokens in at 1 USD, 50 out at 2 USD per million, twenty times.
    expect(await gateway.balance(accountId)).toMatchObject({ available: 5e9 - 20 * 150_000, held: 0 })
    expect((await owner.json('GET', '/dashboard/api/session/me')).body).toMatchObject({
      accounts: [{ accountId, name: COMPANY.name, kind: 'organisation', role: 'owner' }],
    })
  })

  test('a personal account becomes an organisation once, by its owner, with name and country', async () => {
    const owner = await newOrganisation()
    expect(refusal(await owner.json('POST', `${within(owner)}/organisation`, COMPANY))).toBe('409 organisation_already')
    const other = await signUpPerson(gateway)
    for (const wrong of [
      {},
      { name: 'A Ltd' },
      { ...COMPANY, name: ' ' },
      { ...COMPANY, name: 'two\nlines' },
      { ...COMPANY, country: 'gb' },
      { ...COMPANY, country: 'GBR' },
      { ...COMPANY, country: 'ZZ' },
      { ...COMPANY, vatId: '<b>' },
    ]) {
      const { status } = await other.json('POST', `${within(other)}/organisation`, wrong)
      expect({ wrong, status }).toEqual({ wrong, status: 400 })
    }
    const { country, name } = COMPANY
    expect((await other.json('POST', `${within(other)}/organisation`, { country, name })).body).toEqual({
      ...{ country, name, vatId: null },
    })
  })

  test('a personal account lists its one member, and its members cannot be changed', async () => {
    const owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
    const { userId, email } = owner.viewer
    const { body } = await owner.json('GET', `${within(owner)}/members`)
    expect(body).toMatchObject({
      ...{ kind: 'personal', company: null, nextCursor: null, maxMembers: 500 },
      items: [{ userId, name: 'Ada Lovelace', email, role: 'owner', isSelf: true, activeKeys: 0 }],
    })
    const member = `${within(owner)}/members/${userId}`
    expect(refusal(await owner.json('DELETE', member))).toBe('409 not_organisation')
    expect(refusal(await owner.json('PATCH', member, { role: 'viewer' }))).toBe('409 not_organisation')
  })
})

describe('a role', () => {
  test('members change roles up to their own', async () => {
    const owner = await newOrganisation()
    const admin = await join(owner, 'admin')
    const viewer = await join(owner, 'viewer')
    const change = (by: Person, whom: Person, role: unknown) =>
      by.json('PATCH', `${within(owner)}/members/${whom.viewer.userId}`, { role })
    expect(await change(admin, viewer, 'developer')).toMatchObject({ status: 200, body: { role: 'developer' } })
    expect(refusal(await change(admin, viewer, 'owner'))).toBe('403 not_permitted')
    expect(refusal(await change(admin, owner, 'admin'))).toBe('403 not_permitted')
    expect(refusal(await change(admin, admin, 'owner'))).toBe('403 not_permitted')
    expect(refusal(await change(viewer, viewer, 'admin'))).toBe('403 not_permitted')
    expect(refusal(await change(owner, owner, 'viewer'))).toBe('409 last_owner')
    for (const role of ['king', '', null, ['owner'], 'owner,admin']) {
      expect((await change(owner, viewer, role)).status).toBe(400)
    }
    const stranger = await signUpPerson(gateway)
    expect(refusal(await change(owner, stranger, 'viewer'))).toBe('404 member_not_found')
    const { body } = await admin.json('GET', `${within(owner)}/members`)
    expect((body as { items: { role: string; isSelf: boolean }[] }).items).toMatchObject([
      { role: 'owner', isSelf: false },
      { role: 'admin', isSelf: true },
      { role: 'developer', isSelf: false },
    ])
  })

  test('a changed role applies from the next request on', async () => {
    const owner = await newOrganisation()
    const person = await join(owner, 'viewer')
    const make = () => person.json('POST', `${within(owner)}/keys`, { name: 'mine' })
    const change = (role: AccountRole) =>
      owner.json('PATCH', `${within(owner)}/members/${person.viewer.userId}`, { role })
    expect((await make()).status).toBe(403)
    await change('developer')
    expect((await make()).status).toBe(200)
    await change('billing')
    expect((await make()).status).toBe(403)
  })
})

test('if a member gets a role without keys, the keys are deactivated or kept, as chosen', async () => {
  const owner = await newOrganisation()
  await addCredit(gateway, owner.viewer.accountId, '5')
  const person = await join(owner, 'developer')
  const path = `${within(owner)}/members/${person.viewer.userId}`
  const make = async (who: typeof person) =>
    (await who.json('POST', `${within(owner)}/keys`, { name: 'nightly' })).body as { key: string; item: { id: string } }
  const [one, others] = [await make(person), await make(owner)]
  const kept = await owner.json('PATCH', path, { role: 'viewer', credentials: 'keep' })
  expect(kept.body).toEqual({ role: 'viewer', revoked: [] })
  await ask(gateway, one.key)
  const off = (id: string) => person.json('POST', `${within(owner)}/keys/${id}/deactivate`, {})
  expect((await off(others.item.id)).status).toBe(403)
  expect((await off(one.item.id)).status).toBe(200)
  await expect(ask(gateway, one.key)).rejects.toThrow('the request failed with 401')
  await owner.json('PATCH', path, { role: 'developer' })
  const two = await make(person)
  const revoked = await owner.json('PATCH', path, { role: 'viewer' })
  expect(revoked.body).toMatchObject({ role: 'viewer', revoked: [{ kind: 'api_key', id: two.item.id }] })
  await expect(ask(gateway, two.key)).rejects.toThrow('the request failed with 401')
})

test('the management key of a removed admin cannot make admins', async () => {
  const owner = await newOrganisation()
  const admin = await join(owner, 'admin')
  const body = { name: 'robot', scopes: ['members:write'] }
  const { key } = (await admin.json('POST', `${within(owner)}/management-keys`, body)).body as { key: string }
  const person = await join(owner, 'viewer')
  const promote = async (role: string) =>
    (
      await fetch(`${gateway.url}/v1/members/${person.viewer.userId}`, {
        method: 'PATCH',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ role }),
      })
    ).status
  expect(await promote('billing')).toBe(200)
  expect((await owner.json('DELETE', `${within(owner)}/members/${admin.viewer.userId}`)).status).toBe(200)
  expect(await promote('admin')).toBe(401)
})

describe('a member who is removed', () => {
  test('a removed member is refused at once; their keys are deactivated and listed by name', async () => {
    const owner = await newOrganisation()
    const { accountId } = owner.viewer
    await addCredit(gateway, accountId, '5')
    const person = await join(owner, 'developer', 'Grace Hopper')
    const { userId } = person.viewer
    const { body: created } = await person.json('POST', `${within(owner)}/keys`, { name: 'nightly' })
    const { key } = created as { key: string }
    await ask(gateway, key)
    const path = `${within(owner)}/members/${userId}`
    const listed = [{ kind: 'api_key', name: 'nightly', roles: ['owner', 'admin', 'developer'] }]
    expect((await owner.json('GET', `${path}/credentials`)).body).toMatchObject({ items: listed })
    expect((await person.json('GET', `${path}/credentials`)).body).toMatchObject({ items: listed })
    const foreign = `${within(owner)}/members/${owner.viewer.userId}/credentials`
    expect((await person.json('GET', foreign)).status).toBe(403)
    expect((await owner.json('DELETE', `${path}?credentials=all`)).status).toBe(400)
    expect(await owner.json('DELETE', path)).toMatchObject({ status: 200, body: { removed: true, revoked: listed } })
    for (const route of ['keys', 'members', 'usage']) {
      expect((await person.json('GET', `${within(owner)}/${route}`)).status).toBe(404)
    }
    expect((await person.json('GET', '/dashboard/api/session/me')).body).toMatchObject({ accounts: [{}] })
    await expect(ask(gateway, key)).rejects.toThrow('the request failed with 401')
    const { body: keys } = await owner.json('GET', `${within(owner)}/keys`)
    expect(keys).toMatchObject({
      items: [{ name: 'nightly', status: 'deactivated', createdBy: { userId, name: 'Grace Hopper' } }],
    })
    await flushed(gateway, accountId)
    expect((await owner.json('GET', `${within(owner)}/usage/totals`)).body).toMatchObject({ requests: 1 })
    // What they leave is for somebody else: until then it stays off.
    const [item] = (keys as { items: { id: string }[] }).items
    const atKey = (verb: string, body: object = {}) =>
      owner.json('POST', `${within(owner)}/keys/${item?.id}/${verb}`, body)
    expect(refusal(await atKey('activate'))).toBe('409 key_without_owner')
    expect(refusal(await atKey('transfer', { userId }))).toBe('409 key_without_owner')
    expect(await atKey('transfer', { userId: owner.viewer.userId })).toMatchObject({
      ...{ status: 200, body: { status: 'deactivated', createdBy: { userId: owner.viewer.userId } } },
    })
    expect((await atKey('activate')).status).toBe(200)
    await ask(gateway, key)
  })

  test('a removed member gets no more events of the account', async () => {
    const owner = await newOrganisation()
    const person = await join(owner, 'admin')
    const app = eventsRoutes({ ...gateway.gateway.deps.dashboard, sessionCheckMs: 5 })
    const { cookie } = person
    const events = await app.handle(new Request(`${gateway.url}${within(owner)}/events`, { headers: { cookie } }))
    expect(events.status).toBe(200)
    expect((await owner.json('DELETE', `${within(owner)}/members/${person.viewer.userId}`)).status).toBe(200)
    expect(await events.text()).toContain('event: signed-out')
  })

  test('a member may leave an account', async () => {
    const owner = await newOrganisation()
    const person = await join(owner, 'viewer')
    expect(refusal(await person.json('DELETE', `${within(owner)}/members/${owner.viewer.userId}`))).toBe(
      '403 not_permitted',
    )
    const leave = () => person.json('DELETE', `${within(owner)}/members/${person.viewer.userId}`)
    expect((await leave()).status).toBe(200)
    expect((await leave()).status).toBe(404)
    expect(refusal(await owner.json('DELETE', `${within(owner)}/members/${owner.viewer.userId}`))).toBe(
      '409 last_owner',
    )
  })
})

test('a person works in three accounts at once, each separate', async () => {
  const person = await newOrganisation()
  const others = [await newOrganisation(), await newOrganisation()]
  const accounts = [person.viewer.accountId, ...others.map(({ viewer }) => viewer.accountId)]
  for (const accountId of accounts.slice(1)) {
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${person.viewer.userId}, 'admin')`
  }
  const keyOf = (accountId: string, round: number) => `${accountId} ${round}`
  await Promise.all(
    accounts.flatMap((accountId) =>
      [0, 1, 2].map((round) =>
        person.json('POST', `/dashboard/api/a/${accountId}/keys`, { name: keyOf(accountId, round) }),
      ),
    ),
  )
  const lists = await Promise.all(
    accounts.map(async (accountId) => (await person.json('GET', `/dashboard/api/a/${accountId}/keys`)).body),
  )
  for (const [index, accountId] of accounts.entries()) {
    const { items } = lists[index] as { items: { name: string }[] }
    expect(items.map(({ name }) => name).toSorted()).toEqual([0, 1, 2].map((round) => keyOf(accountId, round)))
  }
  const { body } = await person.json('GET', '/dashboard/api/session/me')
  expect((body as { accounts: { accountId: string }[] }).accounts.map(({ accountId }) => accountId)).toEqual(accounts)
})

test('an owner changes the legal data, and receipts show them', async () => {
  const owner = await newOrganisation()
  const changed = { name: 'Engines SAS', country: 'FR', vatId: 'FR12345678901' }
  expect(await owner.json('PUT', `${within(owner)}/organisation`, changed)).toMatchObject({
    status: 200,
    body: changed,
  })
  const { body: order } = await owner.json('POST', `${within(owner)}/orders`, { method: 'deposit', amountUsd: '25' })
  const { body } = await owner.json('GET', `${within(owner)}/orders/${(order as { orderId: string }).orderId}`)
  expect(body).toMatchObject({ customer: { name: 'Engines SAS', country: 'FR', vatId: 'FR12345678901' } })
  const wrong = { ...changed, country: 'XX' }
  expect((await owner.json('PUT', `${within(owner)}/organisation`, wrong)).status).toBe(400)
})

test('a personal account has no legal data to change', async () => {
  const owner = await signUpPerson(gateway)
  const refused = await owner.json('PUT', `${within(owner)}/organisation`, COMPANY)
  expect(refusal(refused)).toBe('409 not_organisation')
})
