/** Rules for all keys of a member, on two whole gateways: for people, for programs, and for paid requests. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { send } from '@test/console/http/management/caller'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit } from '@test/usage/customer'
import type { AccountRole } from '@/db/auth-schema'

const CHAT = { messages: [{ role: 'user', content: 'Hi' }] }

let gateway: TestGateway
let twin: TestGateway
let owner: Person
let developer: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok', usageOf(10, 5))),
    catalog({ models, providers, tiers }) {
      providers.spare = { ...providers.provider1, keys: ['spare-secret-canary'] }
      models.push({ ...models[0], id: 'svc/beta' })
      models.push({ ...models[0], id: 'svc/gamma', targets: [{ provider: 'spare', model: 'gamma-upstream' }] })
      for (const tier of tiers) tier.candidates = ['svc/alpha', 'svc/beta']
    },
  })
  twin = await gateway.twin()
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  await owner.json('POST', '/dashboard/api/a/:accountId/organisation', { name: 'Engines Ltd', country: 'GB' })
  await addCredit(gateway, owner.viewer.accountId, '5')
  developer = await join('developer')
})

async function join(role: AccountRole): Promise<Person> {
  const person = await signUpPerson(gateway)
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${owner.viewer.accountId}, ${person.viewer.userId}, ${role})`
  return person
}

const at = (path: string) => `/dashboard/api/a/${owner.viewer.accountId}/${path}`
const rulesOf = ({ viewer }: Person) => at(`members/${viewer.userId}/key-policy`)
const setRules = (policy: object) => owner.json('PUT', rulesOf(developer), policy)

async function newKey(person: Person, more: object = {}): Promise<{ key: string; id: string }> {
  const { status, body } = await person.json('POST', at('keys'), { name: 'mine', ...more })
  expect(status).toBe(200)
  const { key, item } = body as { key: string; item: { id: string } }
  return { key, id: item.id }
}

type Answer = { status: number; code: unknown }

async function ask(key: string, model: string, at = gateway): Promise<Answer> {
  const { status, body } = await send(at, key, 'POST', '/v1/chat/completions', { model, ...CHAT })
  return { status, code: (body as { error?: { code?: unknown } }).error?.code }
}

const OK: Answer = { status: 200, code: undefined }
const NO_MODEL: Answer = { status: 403, code: 'model_not_allowed' }
const NO_PROVIDER: Answer = { status: 403, code: 'provider_not_allowed' }

describe('rules for the keys of a member', () => {
  test('a member’s key rules apply on every gateway from the next request on, until removed', async () => {
    const theirs = await newKey(developer)
    const own = await newKey(owner)
    const service = await newKey(owner, { isService: true, monthlyBudgetUsd: null })
    const everywhere = (key: string, model: string) => Promise.all([gateway, twin].map((one) => ask(key, model, one)))
    expect(await everywhere(theirs.key, 'svc/beta')).toEqual([OK, OK])
    expect((await setRules({ allowedModels: ['svc/alpha', 'svc/gamma'] })).body).toEqual({
      ...{ allowedModels: ['svc/alpha', 'svc/gamma'], allowedProviders: null },
      ...{ zeroRetention: false, noTraining: false, regions: null },
    })
    expect(await everywhere(theirs.key, 'svc/beta')).toEqual([NO_MODEL, NO_MODEL])
    expect(await everywhere(theirs.key, 'svc/alpha')).toEqual([OK, OK])
    expect((await setRules({ allowedProviders: ['provider1'] })).status).toBe(200)
    expect(await everywhere(theirs.key, 'svc/gamma')).toEqual([NO_PROVIDER, NO_PROVIDER])
    for (const { key } of [own, service])
      for (const model of ['svc/beta', 'svc/gamma']) expect(await everywhere(key, model)).toEqual([OK, OK])
    await setRules({ allowedModels: null, allowedProviders: null })
    for (const model of ['svc/beta', 'svc/gamma']) expect(await everywhere(theirs.key, model)).toEqual([OK, OK])
  })

  test('a member’s key rules narrow the account’s, and a key narrows both', async () => {
    const { key } = await newKey(developer, { allowedModels: ['svc/beta', 'svc/gamma'] })
    await setRules({ allowedModels: ['svc/alpha', 'svc/beta'] })
    await owner.json('PUT', at('key-policy'), { allowedProviders: ['provider1'] })
    expect((await send(gateway, key, 'GET', '/v1/key')).body).toMatchObject({
      ...{ allowed_models: ['svc/beta'], allowed_providers: ['provider1'] },
    })
    expect(await Promise.all(['svc/alpha', 'svc/beta', 'svc/gamma'].map((model) => ask(key, model)))).toEqual([
      ...[NO_MODEL, OK, NO_MODEL],
    ])
    const planned = await send(gateway, key, 'POST', '/v1/route', { model: 'svc/alpha', ...CHAT })
    expect(planned).toMatchObject({ status: 403, body: { error: { code: 'model_not_allowed' } } })
    const { message } = (planned.body as { error: { message: string } }).error
    expect(message).toContain('its member or its account')
    for (const hidden of ['svc/beta', 'svc/gamma']) expect(message).not.toContain(hidden)
  })

  test('a member’s key rules apply in the playground and to the model choice of tiers', async () => {
    const play = async (person: Person, model: string) => {
      const { status, body } = await person.json('POST', at('playground/chat'), { model, ...CHAT })
      const { error, model: answered } = body as { error?: { code?: unknown }; model?: string }
      return { status, code: error?.code, answered }
    }
    await setRules({ allowedModels: ['svc/beta'], allowedProviders: ['provider1'] })
    expect(await play(developer, 'svc/alpha')).toMatchObject(NO_MODEL)
    expect(await play(developer, 'svc/beta')).toMatchObject({ status: 200, answered: 'svc/beta' })
    const tiers = [...gateway.gateway.deps.catalog.current.tiers.keys()]
    expect(tiers.length).toBeGreaterThan(0)
    for (const tier of tiers) expect(await play(developer, tier)).toMatchObject({ status: 200, answered: 'svc/beta' })
    for (const model of ['svc/alpha', 'svc/gamma']) expect((await play(owner, model)).status).toBe(200)
    // The account's own rules narrow them there as well.
    await owner.json('PUT', at('key-policy'), { allowedModels: ['svc/alpha'] })
    for (const model of ['svc/alpha', 'svc/beta']) expect(await play(developer, model)).toMatchObject(NO_MODEL)
  })

  test('a transferred key has its new member’s rules from the next request on', async () => {
    const { key, id } = await newKey(developer)
    await setRules({ allowedModels: ['svc/alpha'] })
    expect(await ask(key, 'svc/beta')).toEqual(NO_MODEL)
    const transfer = ({ viewer }: Person) => owner.json('POST', at(`keys/${id}/transfer`), { userId: viewer.userId })
    expect((await transfer(owner)).status).toBe(200)
    expect(await ask(key, 'svc/beta')).toEqual(OK)
    expect((await transfer(developer)).status).toBe(200)
    expect(await ask(key, 'svc/beta', twin)).toEqual(NO_MODEL)
  })

  test('a member’s key rules end with the membership, and do not return', async () => {
    const { key, id } = await newKey(developer)
    await setRules({ allowedModels: ['svc/alpha'] })
    const { userId } = developer.viewer
    expect((await owner.json('DELETE', at(`members/${userId}`))).status).toBe(200)
    expect((await ask(key, 'svc/alpha')).status).toBe(401)
    expect((await owner.json('GET', rulesOf(developer))).status).toBe(404)
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${owner.viewer.accountId}, ${userId}, 'developer')`
    expect((await owner.json('POST', at(`keys/${id}/activate`), {})).status).toBe(200)
    expect(await ask(key, 'svc/beta')).toEqual(OK)
  })
})

describe('permissions', () => {
  test('owners and admins set key rules; members see their own, and members who see all usage see those of others', async () => {
    const [admin, billing, viewer, other] = await Promise.all(
      (['admin', 'billing', 'viewer', 'developer'] as const).map(join),
    )
    const people = { owner, admin, billing, viewer, other, developer } as Record<string, Person>
    const statuses = async (method: string, body?: object) =>
      Object.fromEntries(
        await Promise.all(
          Object.entries(people).map(async ([name, person]) => [
            name,
            (await person.json(method, rulesOf(developer), body)).status,
          ]),
        ),
      )
    expect(await statuses('PUT', { allowedModels: ['svc/alpha'] })).toEqual({
      ...{ owner: 200, admin: 200, billing: 403, viewer: 403, other: 403, developer: 403 },
    })
    expect(await statuses('GET')).toEqual({
      ...{ owner: 200, admin: 200, billing: 200, viewer: 200, other: 404, developer: 200 },
    })
  })

  test('invalid key rules are refused', async () => {
    const invalid = [
      {},
      { allowedModels: [] },
      { allowedModels: ['svc/none'] },
      { allowedProviders: ['nobody'] },
      { maxKeyAgeDays: 30 },
    ]
    for (const policy of invalid) expect([policy, (await setRules(policy)).status]).toEqual([policy, 400])
  })

  test('key rules for a non-member are refused', async () => {
    const stranger = await signUpPerson(gateway)
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', { allowedModels: null }],
    ] as const) {
      expect(await owner.json(method, rulesOf(stranger), body)).toMatchObject({
        ...{ status: 404, body: { error: { code: 'member_not_found' } } },
      })
    }
  })
})

describe('rules wider than other rules', () => {
  const refusal = (param: string, of: string) => ({
    ...{ status: 400, body: { error: { param, message: expect.stringContaining(`is beyond the rules for ${of}.`) } } },
  })

  test('a key’s rules beyond those of member and account are refused', async () => {
    await setRules({ allowedModels: ['svc/alpha', 'svc/gamma'] })
    await owner.json('PUT', at('key-policy'), { allowedProviders: ['provider1'] })
    const make = (lists: object) => developer.json('POST', at('keys'), { name: 'wide', ...lists })
    expect(await make({ allowedModels: ['svc/beta'] })).toMatchObject(
      refusal('allowedModels', 'all keys of its member'),
    )
    expect(await make({ allowedProviders: ['spare'] })).toMatchObject(
      refusal('allowedProviders', 'all keys of this account'),
    )
    const { id } = await newKey(developer, { allowedModels: ['svc/alpha'] })
    const change = { allowedModels: ['svc/alpha', 'svc/beta'] }
    expect(await owner.json('PATCH', at(`keys/${id}`), change)).toMatchObject(
      refusal('allowedModels', 'all keys of its member'),
    )
    // Neither a key of another member nor one of the account's own is bound by them.
    await newKey(owner, change)
    await newKey(owner, { ...change, isService: true, monthlyBudgetUsd: null })
  })

  test('a member’s key rules beyond the account’s are refused; existing ones may stay', async () => {
    await setRules({ allowedModels: ['svc/beta'] })
    await owner.json('PUT', at('key-policy'), { allowedModels: ['svc/alpha'] })
    expect((await setRules({ allowedModels: ['svc/alpha', 'svc/beta'] })).status).toBe(200)
    expect((await setRules({ allowedModels: ['svc/alpha'] })).status).toBe(200)
    expect(await setRules({ allowedModels: ['svc/beta'] })).toMatchObject(
      refusal('allowedModels', 'all keys of this account'),
    )
  })
})
