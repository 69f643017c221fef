/** The routes behind the API key pages: answers, refusals, and immediate effect on every gateway. */
import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { MAX_KEYS_PER_ACCOUNT } from '@/accounts/api-keys'
import { createCredits } from '@/accounts/credits'
import { nano } from '@/lib/money'
import type { KeyBody } from '@/people/keys/bodies'

const PATH = '/dashboard/api/a/:accountId/keys'
let gateway: TestGateway
let twin: TestGateway
let person: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))) })
  twin = await gateway.twin()
  person = await signUpPerson(gateway)
  const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
  await credits.addCredit({ accountId: person.viewer.accountId, amount: nano(10e9), reference: 'test' })
})
afterAll(() => gateway.stop())

type Created = { key: string; item: KeyBody }
type Refusal = { error: { message: string; type: string; param: string | null; code: string | null } }

async function create(body: object = {}, by = person): Promise<Created> {
  const { status, body: created } = await by.json('POST', PATH, { name: 'test', ...body })
  expect({ status, created }).toMatchObject({ status: 200 })
  return created as Created
}

async function list(by = person): Promise<KeyBody[]> {
  const { status, body } = await by.json('GET', `${PATH}?limit=100`)
  expect(status).toBe(200)
  return (body as { items: KeyBody[] }).items
}

async function call(key: string, at = gateway, model = 'svc/alpha'): Promise<number> {
  const response = await fetch(`${at.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  await response.text()
  return response.status
}

describe('creating', () => {
  test('S4: a new key is shown once and works; the list shows only its first and last characters', async () => {
    const { key, item } = await create({ name: '  Production  ' })
    expect(await call(key)).toBe(200)
    expect(item).toEqual({
      ...{ id: item.id, name: 'Production', prefix: key.slice(0, 8), lastFour: key.slice(-4), status: 'active' },
      createdBy: { userId: person.viewer.userId, name: person.viewer.name },
      ...{ builtIn: false, spentThisMonthUsd: '0', budgetUsed: null, lastUsedAt: null, createdAt: item.createdAt },
      ...{ endsAt: null, formerSecret: null, tags: null },
      limits: {
        ...{ requestsPerMinute: null, tokensPerMinute: null, concurrency: null, monthlyBudgetUsd: null },
        ...{ expiresAt: null, allowedModels: null, allowedProviders: null, allowedAddresses: null },
        ...{ zeroRetention: false, noTraining: false, regions: null },
      },
    })
    const answer = await person.json('GET', PATH)
    expect(answer.body).toMatchObject({
      ...{ nextCursor: null, maxKeys: MAX_KEYS_PER_ACCOUNT },
      defaults: { requestsPerMinute: 100_000, tokensPerMinute: 1_000_000_000, concurrency: 10_000 },
      ceilings: { requestsPerMinute: 100_000, tokensPerMinute: 1_000_000_000, concurrency: 10_000 },
    })
    const everything = JSON.stringify([answer.body, (await person.json('GET', `${PATH}/${item.id}`)).body])
    expect(everything).toContain(item.id)
    expect(everything).not.toContain(key.slice(8, -4))
    expect(gateway.logLines.join()).not.toContain(key.slice(8, -4))
  })

  test('a new key can have every limit, and the answer shows them', async () => {
    const limits = {
      ...{ requestsPerMinute: 5, tokensPerMinute: 10_000, concurrency: 2, monthlyBudgetUsd: '0.001' },
      ...{ expiresAt: '2999-01-01T00:00:00.000Z', allowedModels: ['svc/alpha'] },
    }
    const { item } = await create(limits)
    expect(item).toMatchObject({ limits, budgetUsed: 0 })
    const { ledger } = gateway.gateway.deps
    expect(await ledger.readKey({ accountId: person.viewer.accountId, keyId: item.id })).toMatchObject({
      ...{ requestsPerMinute: 5, tokensPerMinute: 10_000, concurrency: 2, monthlyBudget: nano(1_000_000) },
      ...{ expiresAtMs: Date.parse('2999-01-01T00:00:00Z'), allowedModels: ['svc/alpha'] },
    })
  })

  const bad: [name: string, body: object, param: string][] = [
    ['no name', { name: '' }, 'name'],
    ['a blank name', { name: '   ' }, 'name'],
    ['a name that is too long', { name: 'x'.repeat(201) }, 'name'],
    ['no requests', { requestsPerMinute: 0 }, 'requestsPerMinute'],
    ['half a token', { tokensPerMinute: 0.5 }, 'tokensPerMinute'],
    ['too much at once', { concurrency: 3_000_000_000 }, 'concurrency'],
    ['more requests than the account may send', { requestsPerMinute: 100_001 }, 'requestsPerMinute'],
    ['more tokens than the account may use', { tokensPerMinute: 1_000_000_001 }, 'tokensPerMinute'],
    ['more at once than the account may have', { concurrency: 10_001 }, 'concurrency'],
    ['a negative budget', { monthlyBudgetUsd: '-1' }, 'monthlyBudgetUsd'],
    ['a budget that is no amount', { monthlyBudgetUsd: 'ten' }, 'monthlyBudgetUsd'],
    ['a budget as a number', { monthlyBudgetUsd: 10 }, 'monthlyBudgetUsd'],
    ['a past expiry', { expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['an expiry that is no moment', { expiresAt: 'tomorrow' }, 'expiresAt'],
    ['an empty expiry', { expiresAt: '' }, 'expiresAt'],
    ['an empty budget', { monthlyBudgetUsd: '' }, 'monthlyBudgetUsd'],
    ['an unknown model', { allowedModels: ['svc/none'] }, 'allowedModels'],
    ['a tier', { allowedModels: ['auto-smart'] }, 'allowedModels'],
    ['no model at all', { allowedModels: [] }, 'allowedModels'],
    ['an unknown provider', { allowedProviders: ['provider1', 'nobody'] }, 'allowedProviders'],
    ['no provider at all', { allowedProviders: [] }, 'allowedProviders'],
    ['no region at all', { regions: [] }, 'regions'],
    ['a region that is none', { regions: ['E U'] }, 'regions'],
  ]
  test.each(bad)('creating a key with %s is refused, naming the field', async (_, body, param) => {
    const before = (await list()).length
    const { status, body: refusal } = await person.json('POST', PATH, { name: 'test', ...body })
    expect(status).toBe(400)
    expect((refusal as Refusal).error).toMatchObject({ param })
    expect((await list()).length).toBe(before)
  })

  test(`creating keys stops at ${MAX_KEYS_PER_ACCOUNT} keys`, async () => {
    const collector = await signUpPerson(gateway)
    const { accountId } = collector.viewer
    const { sql } = gateway.gateway.database
    await sql`INSERT INTO api_keys (id, account_id, name, key_hash, prefix, last_four)
      SELECT ${`${accountId}_`}::text || n, ${accountId}, 'k', encode(sha256((${accountId}::text || n)::bytea), 'hex'),
        'svc-aaaa', 'zzzz' FROM generate_series(1, ${MAX_KEYS_PER_ACCOUNT}::int) n`
    const { status, body } = await collector.json('POST', PATH, { name: 'one more' })
    expect(status).toBe(409)
    expect((body as Refusal).error.code).toBe('too_many_keys')
    expect((await list(collector)).length).toBe(MAX_KEYS_PER_ACCOUNT)
  })
})

describe('changing', () => {
  test('a key change keeps omitted fields, and applies on every gateway from the next request', async () => {
    const { key, item } = await create({ requestsPerMinute: 50 })
    for (const at of [gateway, twin]) expect(await call(key, at)).toBe(200)
    const changed = await person.json('PATCH', `${PATH}/${item.id}`, { name: 'Renamed', monthlyBudgetUsd: '0' })
    expect(changed).toMatchObject({
      status: 200,
      body: { name: 'Renamed', limits: { requestsPerMinute: 50, monthlyBudgetUsd: '0' }, budgetUsed: 1 },
    })
    for (const at of [twin, gateway]) expect(await call(key, at)).toBe(402)
    await person.json('PATCH', `${PATH}/${item.id}`, { monthlyBudgetUsd: null, requestsPerMinute: null })
    for (const at of [twin, gateway]) expect(await call(key, at)).toBe(200)
  })

  test('a change of the allowed models applies on every gateway from the next request', async () => {
    const { key, item } = await create()
    const change = (allowedModels: string[] | null) => person.json('PATCH', `${PATH}/${item.id}`, { allowedModels })
    for (const at of [gateway, twin]) expect(await call(key, at, 'auto-smart')).toBe(200)
    // Kept, although the catalogue no longer has it.
    await gateway.apiKeys.change(item.id, { allowedModels: ['svc/gone'] })
    expect((await change(['svc/gone'])).status).toBe(200)
    for (const at of [gateway, twin]) expect(await call(key, at)).toBe(403)
    expect(await change(null)).toMatchObject({ status: 200, body: { limits: { allowedModels: null } } })
    for (const at of [twin, gateway]) expect(await call(key, at)).toBe(200)
  })

  test('an empty or invalid key change is refused', async () => {
    const { item } = await create()
    for (const body of [{}, { status: 'active' }, { name: null }, { expiresAt: '2020-01-01' }]) {
      expect((await person.json('PATCH', `${PATH}/${item.id}`, body)).status).toBe(400)
    }
  })
})

describe('switching off and on, and deleting', () => {
  test('deactivating, activating or deleting a key applies on every gateway from the next request', async () => {
    const { key, item } = await create()
    for (const at of [gateway, twin]) expect(await call(key, at)).toBe(200)
    expect(await person.json('POST', `${PATH}/${item.id}/deactivate`, {})).toMatchObject({
      ...{ status: 200, body: { status: 'deactivated' } },
    })
    for (const at of [twin, gateway]) expect(await call(key, at)).toBe(401)
    expect((await list()).find(({ id }) => id === item.id)?.status).toBe('deactivated')
    expect(await person.json('POST', `${PATH}/${item.id}/activate`, {})).toMatchObject({ body: { status: 'active' } })
    for (const at of [twin, gateway]) expect(await call(key, at)).toBe(200)
    expect(await person.json('DELETE', `${PATH}/${item.id}`)).toMatchObject({ status: 200, body: { deleted: true } })
    for (const at of [twin, gateway]) expect(await call(key, at)).toBe(401)
    expect((await list()).map(({ id }) => id)).not.toContain(item.id)
    expect((await person.json('GET', `${PATH}/${item.id}`)).status).toBe(404)
    expect((await person.json('POST', `${PATH}/${item.id}/activate`, {})).status).toBe(404)
  })

  test('an API key after its end date is listed as expired', async () => {
    const { item } = await create()
    await gateway.apiKeys.change(item.id, { expiresAtMs: Date.now() - 1_000 })
    expect((await list()).find(({ id }) => id === item.id)?.status).toBe('expired')
  })
})

describe('a key’s page', () => {
  test('a key’s page has the ledger’s current figures, and usage by day from Postgres', async () => {
    const beganMs = Date.now()
    const { key, item } = await create({ monthlyBudgetUsd: '1.2' })
    for (let round = 0; round < 3; round++) expect(await call(key)).toBe(200)
    // 50 tokens at 1,000 nano-USD and 50 at 2,000, three times.
    const detail = await until(async () => {
      const { body } = await person.json('GET', `${PATH}/${item.id}`)
      const answer = body as { item: KeyBody; total: { requests: number }; days: { day: string; spentUsd: string }[] }
      return answer.total.requests === 3 && answer
    })
    expect(detail).toMatchObject({
      ...{ openRequests: 0, heldUsd: '0' },
      item: { spentThisMonthUsd: '0.00045', budgetUsed: 0.000375 },
      total: { requests: 3, errors: 0, spentUsd: '0.00045', inputTokens: 150, outputTokens: 150 },
    })
    expect(detail.days.length).toBe(30)
    expect(detail.days.at(-1)).toMatchObject({ day: new Date().toISOString().slice(0, 10), spentUsd: '0.00045' })
    expect(detail.days[0]).toMatchObject({ requests: 0, spentUsd: '0' })
    const listed = (await list()).find(({ id }) => id === item.id)
    expect(listed).toMatchObject({ spentThisMonthUsd: '0.00045', budgetUsed: 0.000375 })
    expect(Date.parse(listed?.lastUsedAt ?? '')).toBeGreaterThanOrEqual(beganMs)
  })

  test('a key’s spending of another month is not counted in this month', async () => {
    const { item } = await create()
    const { sql } = gateway.gateway.database
    await sql`UPDATE api_keys SET spent_month_nano = 5, spent_month = 202501 WHERE id = ${item.id}`
    expect((await list()).find(({ id }) => id === item.id)?.spentThisMonthUsd).toBe('0')
  })
})
