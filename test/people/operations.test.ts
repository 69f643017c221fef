/** Declared operations: each is served everywhere that its declaration says, and audited under its name. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { run as runCommand } from '@test/cli/run'
import { makeManagementKey } from '@test/console/http/management/caller'
import { dashboardRoutesOf, fillPath } from '@test/console/http/routes'
import { loggedToken } from '@test/console/http/support'
import { storeBatch } from '@test/people/batches/stored'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { ACCOUNT_PREFIX } from '@/console/http/guard'
import { ACCOUNT_OPERATIONS, MANAGED_OPERATIONS } from '@/people/all-operations'
import { ANSWER_OPERATIONS } from '@/people/members/operations'
import { type AnyOperation, commandsOf, placeOf } from '@/people/operation'
import { ORDER_OPERATIONS } from '@/people/orders/operations'
import { GUIDE_TABLES } from './guide-tables'

type Declared = Pick<AnyOperation<never>, 'name' | 'path' | 'may' | 'scope' | 'takes' | 'commands' | 'isUnaudited'>

const OPERATIONS: readonly Declared[] = ACCOUNT_OPERATIONS
/** Those on orders need a provider to be performed: `orders/operations.test.ts`. */
const ON_ORDERS: ReadonlySet<string> = new Set(ORDER_OPERATIONS.map(({ name }) => name))
const below = (prefix: string) => (operation: Pick<Declared, 'name' | 'path'>) => ({ ...operation, prefix })
/** Answers to invitations are of a person; one of them only shows. */
const CHANGES = [...OPERATIONS.map(below(ACCOUNT_PREFIX)), ...ANSWER_OPERATIONS.map(below('/dashboard/api'))].filter(
  ({ path, name }) => !path.startsWith('GET ') && name !== 'invitation.show' && !ON_ORDERS.has(name),
)
const COMPANY = { name: 'Engines Ltd', country: 'GB' }

/** Bodies of the operations that need one. `userId` is the second member. */
const BODIES: Record<string, (userId: string) => object> = {
  'key.create': () => ({ name: 'made' }),
  'key.change': () => ({ name: 'changed' }),
  'key.transfer': (userId) => ({ userId }),
  'account.key_policy': () => ({ maxKeyAgeDays: 30 }),
  'budget.change': () => ({ dayUsd: '5' }),
  'budget.grant': () => ({ window: 'day', usd: '1' }),
  'account.make_organisation': () => COMPANY,
  'account.company': () => ({ ...COMPANY, vatId: 'GB 123' }),
  'member.change_role': () => ({ role: 'viewer' }),
  'member.key_policy': () => ({ allowedProviders: ['provider1'] }),
  'invitation.create': () => ({ email: 'new@example.test', role: 'viewer' }),
  'account.member_policy': () => ({ developersSeeAllUsage: true }),
  'account.alerts': () => ({ firstUsd: '12' }),
  'account.alerts.choose': () => ({ kind: 'budget', isWanted: false }),
  'alert_address.add': () => ({ email: 'new@example.test' }),
  'alert_address.ask_again': () => ({ email: 'again@example.test' }),
  'alert_address.remove': () => ({ email: 'removed@example.test' }),
  'account.addresses': () => ({ allowedAddresses: ['0.0.0.0/0', '::/0'] }),
  'management_key.create': () => ({ name: 'robot', scopes: [] }),
  'account.stored_hours': () => ({ hours: 24 }),
}

type Prepared = { person?: Person; names?: Record<string, string>; body?: object }

/** What must be there first for operations that the owner doesn't perform on the second member. */
const PREPARED: Record<string, () => Promise<Prepared>> = {
  'account.make_organisation': async () => ({ person: await signUpPerson(gateway) }),
  'member.change_role': async () => ({ names: { userId: (await join()).viewer.userId } }),
  'member.remove': async () => ({ names: { userId: (await join()).viewer.userId } }),
  'invitation.resend': async () => ({ names: await invite('again@example.test') }),
  'invitation.revoke': async () => ({ names: await invite('no-more@example.test') }),
  'management_key.revoke': async () => ({ names: { id: (await makeManagementKey(owner)).id } }),
  'batch.cancel': runningBatch,
  'member.join': invitee,
  'invitation.decline': invitee,
}

let gateway: TestGateway
let owner: Person
let second: Person
let accountId: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
  owner = await signUpPerson(gateway)
  accountId = owner.viewer.accountId
  await owner.json('POST', '/dashboard/api/a/:accountId/organisation', COMPANY)
  second = await join()
})
afterAll(() => gateway.stop())

/** A new member. */
async function join(): Promise<Person> {
  const person = await signUpPerson(gateway)
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${person.viewer.userId}, 'developer')`
  return person
}

async function invite(email: string): Promise<{ invitationId: string }> {
  const { body } = await owner.json('POST', '/dashboard/api/a/:accountId/invitations', { email, role: 'viewer' })
  return body as { invitationId: string }
}

/** A batch of the owner, which no gateway runs. */
async function runningBatch(): Promise<Prepared> {
  const made = await gateway.apiKeys.create({ accountId, name: 'nightly', createdBy: owner.viewer.userId })
  if (made.kind !== 'created') throw new Error(made.kind)
  const lines = [{ customId: 'one', state: 'waiting' }] as const
  return { names: { id: await storeBatch(gateway, { accountId, keyId: made.keyId, status: 'in_progress', lines }) } }
}

/** Somebody who has the mail of an invitation. */
async function invitee(): Promise<Prepared> {
  const person = await signUpPerson(gateway)
  await gateway.gateway.database.sql`UPDATE users SET email_verified = true WHERE id = ${person.viewer.userId}`
  await invite(person.email)
  return { person, body: { token: await loggedToken(gateway, person.email, 'invitation') } }
}

test('each operation has a unique name, and a unique method with path', () => {
  expect(new Set(OPERATIONS.map(({ name }) => name)).size).toBe(OPERATIONS.length)
  expect(new Set(OPERATIONS.map(({ path }) => path)).size).toBe(OPERATIONS.length)
})

test.each(OPERATIONS)('$name is a dashboard route for members with its permission', (operation) => {
  const { method, place } = placeOf(operation)
  const path = ACCOUNT_PREFIX + place
  const routes = dashboardRoutesOf(gateway).filter((route) => route.path === path && route.method === method)
  expect(routes).toEqual([{ method, path, may: operation.may }])
})

test.each(OPERATIONS)('$name is a route of the management API if it has a scope', (operation) => {
  const { method, place } = placeOf(operation)
  const isNamed = MANAGED_OPERATIONS.some((offered) => offered.method === method && offered.path === place)
  expect(isNamed).toBe(operation.scope !== undefined)
  const routes = gateway.gateway.app.routes.filter((route) => route.method === method && route.path === `/v1${place}`)
  if (isNamed) expect(routes).toHaveLength(1)
})

test.each(commandsOf(OPERATIONS))('the command $words performs its operation', async ({ words, help }) => {
  const { stdout } = await runCommand([...words.split(' '), '--help'], {})
  expect(stdout.toLowerCase()).toContain(help.toLowerCase())
})

test.each(GUIDE_TABLES)('the guide’s page $page lists the declared operations', async ({ page, table }) => {
  expect(await Bun.file(page).text()).toContain(table)
})

test.each(CHANGES)(
  '$name, sent twice with one request key, happens once and is in the audit log',
  async (operation) => {
    const made = await gateway.apiKeys.create({ accountId, name: 'one', createdBy: owner.viewer.userId })
    if (made.kind !== 'created') throw new Error(made.kind)
    // Only a deactivated key is activated, and only a limit is granted more.
    if (operation.name === 'key.activate') await gateway.apiKeys.deactivate(made.keyId, accountId)
    if (operation.name === 'budget.grant')
      await owner.json('PUT', `/dashboard/api/a/${accountId}/budgets/key/${made.keyId}`, { dayUsd: '5' })
    const { person = owner, names, body: own } = (await PREPARED[operation.name]?.()) ?? {}
    const { sql } = gateway.gateway.database
    for (const email of ['again@example.test', 'removed@example.test'])
      await sql`INSERT INTO alert_addresses (account_id, email, token_hash, confirm_until)
        VALUES (${accountId}, ${email}, ${crypto.randomUUID()}, now() + interval '1 day') ON CONFLICT DO NOTHING`
    const [{ seq: before } = { seq: 0 }] = await sql`SELECT max(seq) AS seq FROM audit_entries`
    const { method, place } = placeOf(operation)
    const body = method === 'DELETE' ? undefined : (own ?? BODIES[operation.name]?.(second.viewer.userId) ?? {})
    const headers = { 'idempotency-key': operation.name, ...(body && { 'content-type': 'application/json' }) }
    const ids = { id: made.keyId, scope: 'key', scopeId: made.keyId, userId: second.viewer.userId, ...names }
    const send = async () => {
      const path = fillPath(operation.prefix + place, { accountId: person.viewer.accountId, ...ids })
      const response = await person.fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      return { status: response.status, text: await response.text() }
    }
    const first = await send()
    expect(first.status).toBe(200)
    expect(await send()).toEqual(first)
    const entries = await sql`SELECT action, actor_id FROM audit_entries WHERE seq > ${before}`
    const entry = { action: operation.name, actor_id: person.viewer.userId }
    expect([...entries]).toEqual('isUnaudited' in operation && operation.isUnaudited ? [] : [entry])
  },
)
