/** `GET /v1/key` of a whole gateway: the key's own settings and budgets, and no figures of others. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { test } from '@test/ledger/accounts/within-day'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { OPERATOR } from '@/accounts/audit'
import { createBudgets } from '@/accounts/budgets/budgets'
import { windowEnd } from '@/ledger/budgets'
import { formatUsd, nano } from '@/lib/money'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))) })
})
afterAll(() => gateway.stop())

/** A customer with a developer, who has a key. */
async function team(): Promise<{ customer: Customer; developer: { key: string; keyId: string; userId: string } }> {
  const customer = await gateway.customer('5')
  const { viewer } = await signUpPerson(gateway)
  const { accountId } = customer
  const { userId } = viewer
  await gateway.gateway.database.sql`
    INSERT INTO memberships (account_id, user_id, role) VALUES (${accountId}, ${userId}, 'developer')`
  const created = await gateway.apiKeys.create({ accountId, name: 'theirs', createdBy: userId })
  if (created.kind !== 'created') throw new Error(created.kind)
  return { customer, developer: { key: created.key, keyId: created.keyId, userId } }
}

async function readKey(key: string) {
  const response = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${key}` } })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

async function spend(key: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  expect(response.status).toBe(200)
  await response.body?.cancel()
  // The answer may arrive before its charge is written.
  await until(async () => {
    const { budgets } = (await readKey(key)).body as { budgets: { spent_usd: string | null }[] }
    return budgets.every(({ spent_usd: spent }) => spent !== '0')
  }, 'the settled charge')
}

test('a key without limits has no budgets', async () => {
  const { developer } = await team()
  expect(await readKey(developer.key)).toEqual({
    status: 200,
    body: {
      id: developer.keyId,
      expires_at: null,
      allowed_models: null,
      allowed_providers: null,
      data_rules: [],
      budgets: [],
    },
  })
})

test('the budget with the least remaining comes first, with its spending; the account’s budget has no figures', async () => {
  const { customer, developer } = await team()
  const { accountId } = customer
  const { keyId, userId } = developer
  const { database, deps } = gateway.gateway
  const budgets = createBudgets(database, deps.ledger)
  const set = async (scope: 'account' | 'member' | 'key', scopeId: string, limits: object) =>
    expect((await budgets.change({ accountId, scope, scopeId, limits, by: OPERATOR })).kind).toBe('updated')
  await set('account', accountId, { total: nano(3_000_000_000) })
  await set('member', userId, { week: nano(2_000_000_000) })
  await set('key', keyId, { day: nano(1_000_000_000) })
  await gateway.apiKeys.change(keyId, { monthlyBudget: nano(4_000_000_000) })
  await spend(developer.key)
  // 10 tokens in and 5 out, at 1,000 and 2,000 nano-USD.
  const cost = 20_000
  const budget = (scope: string, window: 'day' | 'week' | 'month', limit: number) => ({
    ...{ scope, window, limit_usd: String(limit), spent_usd: formatUsd(nano(cost)), held_usd: '0' },
    remaining_usd: formatUsd(nano(limit * 1_000_000_000 - cost)),
    resets_at: new Date(windowEnd(window, Date.now()) ?? 0).toISOString(),
  })
  const secret = { limit_usd: null, spent_usd: null, held_usd: null, remaining_usd: null }
  const { body } = await readKey(developer.key)
  expect(body.budgets).toEqual([
    budget('key', 'day', 1),
    budget('member', 'week', 2),
    { ...{ scope: 'account', window: 'total', resets_at: null }, ...secret },
    budget('key', 'month', 4),
  ])
  expect((await readKey(customer.key)).body.budgets).toEqual([
    { ...{ scope: 'account', window: 'total', resets_at: null }, ...secret },
  ])
})

test('without a key the key route is refused', async () => {
  expect((await readKey('sk-nobody')).status).toBe(401)
})
