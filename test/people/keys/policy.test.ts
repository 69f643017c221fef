/** Service keys, and rules for all keys of an account, in a whole gateway: when keys are made and when requests are paid. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'

const KEYS = '/dashboard/api/a/:accountId/keys'
const POLICY = '/dashboard/api/a/:accountId/key-policy'

let gateway: TestGateway
let customer: SignedInCustomer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok', usageOf(10, 5))),
    catalog({ models, providers }) {
      providers.spare = { ...providers.provider1, keys: ['spare-secret-canary'] }
      models.push({ ...models[0], id: 'svc/beta' })
      models.push({ ...models[0], id: 'svc/gamma', targets: [{ provider: 'spare', model: 'gamma-upstream' }] })
    },
  })
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  customer = await signUpCustomer(gateway, '5')
})

async function ask(key: string, model = 'svc/alpha'): Promise<{ status: number; code: unknown }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const body = (await response.json()) as { error?: { code?: unknown } }
  return { status: response.status, code: body.error?.code }
}

const setPolicy = (policy: object) => customer.person.json('PUT', POLICY, policy)
const sql = () => gateway.gateway.database.sql

describe('a service key', () => {
  test('a service key belongs to the account, with a budget or explicitly without', async () => {
    const { person } = customer
    const bare = await person.json('POST', KEYS, { name: 'robot', isService: true })
    expect(bare).toMatchObject({ status: 400, body: { error: { code: 'budget_required', param: 'monthlyBudgetUsd' } } })
    for (const monthlyBudgetUsd of ['5', null]) {
      const made = await person.json('POST', KEYS, { name: 'robot', isService: true, monthlyBudgetUsd })
      expect(made).toMatchObject({ status: 200, body: { item: { createdBy: null, limits: { monthlyBudgetUsd } } } })
    }
    expect((await person.json('POST', KEYS, { name: 'mine' })).body).toMatchObject({
      item: { createdBy: { userId: person.viewer.userId } },
    })
  })

  test('a developer cannot make a service key', async () => {
    const developer = await signUpPerson(gateway)
    await sql()`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${customer.accountId}, ${developer.viewer.userId}, 'developer')`
    const path = KEYS.replace(':accountId', customer.accountId)
    const body = { name: 'robot', isService: true, monthlyBudgetUsd: '1' }
    expect(await developer.json('POST', path, body)).toMatchObject({
      status: 403,
      body: { error: { param: 'isService' } },
    })
  })
})

describe('rules for all keys', () => {
  test('the account’s model list applies from the next request, to known and reloaded keys', async () => {
    expect((await ask(customer.key, 'svc/beta')).status).toBe(200)
    expect((await setPolicy({ allowedModels: ['svc/alpha'] })).body).toEqual({
      ...{ allowedModels: ['svc/alpha'], allowedProviders: null, maxKeyAgeDays: null },
      ...{ zeroRetention: false, noTraining: false, regions: null },
    })
    expect(await ask(customer.key, 'svc/beta')).toEqual({ status: 403, code: 'model_not_allowed' })
    expect((await ask(customer.key)).status).toBe(200)
    const later = await gateway.apiKeys.create({
      accountId: customer.accountId,
      name: 'later',
      allowedModels: ['svc/beta'],
    })
    const { key } = later as { key: string }
    for (const model of ['svc/alpha', 'svc/beta']) expect((await ask(key, model)).status).toBe(403)
    await setPolicy({ allowedModels: null })
    expect((await ask(customer.key, 'svc/beta')).status).toBe(200)
    expect((await ask(key, 'svc/beta')).status).toBe(200)
    const entries =
      await sql()`SELECT FROM audit_entries WHERE action = 'account.key_policy' AND account_id = ${customer.accountId}`
    expect(entries.length).toBe(2)
  })

  test('the account’s provider list applies from the next request, to every key and the playground', async () => {
    const { person, accountId, key } = customer
    const chat = { model: 'svc/gamma', messages: [{ role: 'user', content: 'Hi' }] }
    const play = () => person.json('POST', '/dashboard/api/a/:accountId/playground/chat', chat)
    expect([(await ask(key, 'svc/gamma')).status, (await play()).status]).toEqual([200, 200])
    expect((await setPolicy({ allowedProviders: ['provider1'] })).body).toMatchObject({
      allowedProviders: ['provider1'],
    })
    expect(await ask(key, 'svc/gamma')).toEqual({ status: 403, code: 'provider_not_allowed' })
    expect(await play()).toMatchObject({ status: 403, body: { error: { code: 'provider_not_allowed' } } })
    expect((await ask(key)).status).toBe(200)
    // The key's own list is narrower still: of both nothing is left.
    const later = await gateway.apiKeys.create({ accountId, name: 'later', allowedProviders: ['spare'] })
    for (const model of ['svc/alpha', 'svc/gamma'])
      expect((await ask((later as { key: string }).key, model)).status).toBe(403)
    await setPolicy({ allowedProviders: null })
    expect((await ask((later as { key: string }).key, 'svc/gamma')).status).toBe(200)
    const [entry] = await sql()<{ details: object }[]>`SELECT details FROM audit_entries
      WHERE action = 'account.key_policy' AND account_id = ${accountId} ORDER BY seq`
    expect(entry?.details).toMatchObject({ allowedProviders: 'provider1', 'before.allowedProviders': 'every' })
  })

  test('a provider removed from the catalogue stays in account and key lists until it is deleted there; unknown providers are refused', async () => {
    const { person, accountId, keyId } = customer
    await sql()`UPDATE accounts SET allowed_providers = '{provider1,gone}' WHERE id = ${accountId}`
    await sql()`UPDATE api_keys SET allowed_providers = '{gone}' WHERE id = ${keyId}`
    expect((await setPolicy({ allowedProviders: ['gone', 'provider1', 'spare'] })).status).toBe(200)
    expect(await setPolicy({ allowedProviders: ['gone', 'other'] })).toMatchObject({
      ...{
        status: 400,
        body: { error: { param: 'allowedProviders', message: "The provider 'other' does not exist." } },
      },
    })
    const change = (allowedProviders: string[]) => person.json('PATCH', `${KEYS}/${keyId}`, { allowedProviders })
    expect(await change(['gone', 'spare'])).toMatchObject({
      ...{ status: 200, body: { limits: { allowedProviders: ['gone', 'spare'] } } },
    })
    expect((await change(['spare'])).status).toBe(200)
    expect((await change(['spare', 'gone'])).status).toBe(400)
  })

  test.each([
    ['allowedModels', ['svc/alpha'], 'svc/beta'],
    ['allowedProviders', ['provider1'], 'spare'],
  ])('a key may only narrow %s', async (list, allowed, other) => {
    await setPolicy({ [list]: allowed })
    const wider = { name: 'wider', [list]: [...allowed, other] }
    expect(await customer.person.json('POST', KEYS, wider)).toMatchObject({
      ...{ status: 400, body: { error: { param: list, message: expect.stringContaining(`'${other}'`) } } },
    })
    expect((await customer.person.json('POST', KEYS, { name: 'same', [list]: allowed })).status).toBe(200)
  })

  test('a key beyond the maximum age is refused until it is rotated', async () => {
    const { keyId, key, person } = customer
    await sql()`UPDATE api_keys SET created_at = now() - interval '10 days' WHERE id = ${keyId}`
    expect((await setPolicy({ maxKeyAgeDays: 30 })).status).toBe(200)
    expect((await ask(key)).status).toBe(200)
    await setPolicy({ maxKeyAgeDays: 5 })
    expect((await ask(key)).status).toBe(401)
    const { body } = await person.json('GET', `${KEYS}/${keyId}`)
    expect(body).toMatchObject({ item: { status: 'expired', limits: { expiresAt: null }, endsAt: expect.any(String) } })
    const rotated = await person.json('POST', `${KEYS}/${keyId}/rotate`, { overlap: '0' })
    expect((await ask((rotated.body as { key: string }).key)).status).toBe(200)
    await setPolicy({ maxKeyAgeDays: null })
  })

  test('invalid rules are refused', async () => {
    const invalid = [
      { maxKeyAgeDays: 0 },
      { maxKeyAgeDays: 4000 },
      { allowedModels: [] },
      { allowedModels: ['svc/none'] },
      { allowedProviders: [] },
      { allowedProviders: ['provider1', 'nobody'] },
      { regions: [] },
      { regions: ['EU 1'] },
      { zeroRetention: null },
      {},
    ]
    for (const policy of invalid) expect([policy, (await setPolicy(policy)).status]).toEqual([policy, 400])
  })
})
