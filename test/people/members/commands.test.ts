/** The operator commands for organisations and their keys, run as processes on real stores. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Fixture, openFixture } from '@test/accounts/fixture'
import { run } from '@test/cli/run'
import { freshDatabase, startRedis, type TestServer } from '@test/support/stores'
import { createUser } from '@/accounts/users'

let redis: TestServer
let databaseUrl: string
let fixture: Fixture

beforeAll(async () => {
  redis = await startRedis()
  databaseUrl = await freshDatabase()
  fixture = await openFixture(redis.url, databaseUrl)
})
afterAll(async () => {
  await fixture.close()
  await redis.stop()
})

const command = (...words: string[]) => run(words, { REDIS_URL: redis.url, DATABASE_URL: databaseUrl })

async function newUser(email: string): Promise<{ userId: string; accountId: string }> {
  const created = await createUser(fixture.database, { email, password: 'correct horse battery staple' })
  const userId = created.kind === 'created' ? created.userId : expect.unreachable(created.kind)
  const [row] = await fixture.database.sql`SELECT account_id FROM memberships WHERE user_id = ${userId}`
  return { userId, accountId: row?.account_id }
}

test('an account becomes an organisation, and members join, change roles and leave', async () => {
  const ada = await newUser('ada@example.test')
  const grace = await newUser('grace@example.test')
  const { accountId } = ada
  const setMember = (email: string, role: string) =>
    command('account', 'set-member', '--account', accountId, '--email', email, '--role', role)
  expect(await setMember('grace@example.test', 'developer')).toMatchObject({ code: 1 })
  const organisation = ['--account', accountId, '--name', 'Example GmbH', '--country']
  expect((await command('account', 'organisation', ...organisation, 'Germany')).code).not.toBe(0)
  const { json } = await command('account', 'organisation', ...organisation, 'DE', '--vat-id', 'DE123456789')
  expect(json).toEqual({ accountId, kind: 'organisation', name: 'Example GmbH', country: 'DE', vatId: 'DE123456789' })
  expect((await command('account', 'organisation', ...organisation, 'DE')).code).not.toBe(0)

  const added = await setMember('Grace@example.test', 'developer')
  const rolesOf = (answer: { json: unknown }) =>
    (answer.json as { members: { userId: string; role: string }[] }).members.map(({ userId, role }) => [userId, role])
  expect(rolesOf(added)).toEqual([
    [ada.userId, 'owner'],
    [grace.userId, 'developer'],
  ])
  expect((await setMember('nobody@example.test', 'viewer')).code).not.toBe(0)
  expect((await setMember('ada@example.test', 'viewer')).code).not.toBe(0)
  expect((await setMember('ada@example.test', 'none')).code).not.toBe(0)

  const created = await fixture.apiKeys.create({ accountId, name: 'theirs', createdBy: grace.userId })
  const keyId = created.kind === 'created' ? created.keyId : ''
  const lowered = await setMember('grace@example.test', 'viewer')
  expect(lowered.json).toMatchObject({ revoked: [{ kind: 'api_key', id: keyId, name: 'theirs' }] })
  expect(rolesOf(await setMember('grace@example.test', 'admin'))).toContainEqual([grace.userId, 'admin'])
  expect(rolesOf(await setMember('grace@example.test', 'none'))).toEqual([[ada.userId, 'owner']])
  expect(rolesOf(await command('account', 'members', '--account', accountId))).toEqual([[ada.userId, 'owner']])

  // One that was made by command has no member yet.
  const made = await fixture.accounts.create({ email: 'empty@example.test', name: 'Empty' })
  const empty = ['--account', made.kind === 'created' ? made.accountId : '']
  await command('account', 'organisation', ...empty, '--name', 'Empty Ltd', '--country', 'IE')
  const set = (role: string) =>
    command('account', 'set-member', ...empty, '--email', 'grace@example.test', '--role', role)
  expect((await set('developer')).code).toBe(1)
  expect(rolesOf(await set('owner'))).toEqual([[grace.userId, 'owner']])
  const entries = await fixture.database.sql`SELECT action FROM audit_entries
    WHERE account_id = ${accountId} AND action LIKE 'member.%' ORDER BY seq`
  expect(entries.map(({ action }) => action)).toEqual([
    'member.add',
    'member.change_role',
    'member.change_role',
    'member.remove',
  ])
})

test('a key is transferred to a member by address, and gets tags', async () => {
  const [owner, other, stranger] = ['hedy', 'mary', 'joan'].map((name) => `${name}@example.test`) as [
    string,
    string,
    string,
  ]
  const { accountId } = await newUser(owner)
  const { userId } = await newUser(other)
  await newUser(stranger)
  await command('account', 'organisation', '--account', accountId, '--name', 'Example', '--country', 'AT')
  const setRole = (role: string) =>
    command('account', 'set-member', '--account', accountId, '--email', other, '--role', role)
  await setRole('viewer')
  const created = await fixture.apiKeys.create({ accountId, name: 'shared' })
  const keyId = created.kind === 'created' ? created.keyId : ''
  const transfer = (email: string, key = keyId) => command('key', 'transfer', '--key', key, '--email', email)
  expect((await transfer(stranger)).stderr).toContain('no member')
  expect((await transfer(other)).stderr).toContain('allows no keys')
  expect((await transfer(other, 'key_none')).stderr).toContain('no key of that id')
  await setRole('developer')
  expect((await transfer('MARY@example.test')).json).toEqual({ keyId, accountId, userId, status: 'active' })
  const tags = (list: string) => command('key', 'tags', '--key', keyId, '--set', list)
  for (const bad of ['team', 'Team=a', 'team=a,team=b', Array.from({ length: 9 }, (_, index) => `t${index}=1`).join()])
    expect((await tags(bad)).code).not.toBe(0)
  expect((await tags('team=search,env=prod')).json).toEqual({ keyId, tags: ['env=prod', 'team=search'] })
  expect((await command('key', 'show', keyId)).json).toMatchObject({ tags: ['env=prod', 'team=search'] })
  expect((await tags('none')).json).toEqual({ keyId, tags: null })
})
