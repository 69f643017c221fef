/**
 * Budgets when a request is reserved: the output limit is lowered first, and a refusal names the budget, but no
 * figures that its caller may not see.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import { OPERATOR } from '@/accounts/audit'
import { createBudgets } from '@/accounts/budgets/budgets'
import type { BudgetScope, BudgetWindow } from '@/ledger/budgets'
import { nano } from '@/lib/money'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

const LITTLE = 20_000_000

/** A key with much credit, and a budget of its account or its own. */
async function customer(scope: Exclude<BudgetScope, 'member'>, window: BudgetWindow, limit = LITTLE): Promise<string> {
  const { accountId, keyId, key } = await gateway.customer('10')
  const { database, deps } = gateway.gateway
  const scopeId = scope === 'key' ? keyId : accountId
  const change = { accountId, scope, scopeId, limits: { [window]: nano(limit) }, by: OPERATOR }
  expect(await createBudgets(database, deps.ledger).change(change)).toEqual({ kind: 'updated' })
  return key
}

test('the output limit is lowered to what the smallest budget covers', async () => {
  const poor = await gateway.customer('0.02')
  const cap = (await ask(poor.key)).headers.get('x-svc-max-output-tokens')
  expect(Number(cap)).toBeGreaterThan(256)
  const keys = [(await gateway.customer('10', { monthlyBudget: nano(LITTLE) })).key]
  for (const window of ['day', 'week', 'total'] as const)
    for (const scope of ['account', 'key'] as const) keys.push(await customer(scope, window))
  for (const key of keys) {
    const answer = await ask(key)
    expect([answer.status, answer.headers.get('x-svc-max-output-tokens')]).toEqual([200, cap])
  }
})

test('a refusal shows a key its own budget figures, not the account’s', async () => {
  const own = await (await ask(await customer('key', 'day', 0))).json()
  expect(own).toMatchObject({
    error: {
      code: 'budget_exceeded',
      scope: 'key',
      window: 'day',
      limitUsd: 0,
      spentUsd: 0,
      heldUsd: 0,
      transient: false,
    },
  })
  const refused = await ask(await customer('account', 'total', 0))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([402, null])
  const { error } = (await refused.json()) as { error: object }
  expect(error).toMatchObject({ code: 'budget_exceeded', scope: 'account', window: 'total', resetsAt: null })
  expect(Object.keys(error).filter((name) => /^(limit|spent|held)Usd$/.test(name))).toEqual([])
})

test('a budget refusal has the shape of every format', async () => {
  const key = await customer('account', 'week', 0)
  const hi = { model: 'svc/alpha', max_tokens: 300, messages: [{ role: 'user', content: 'hi' }] }
  const contents = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
  const asked: [string, object][] = [
    ['/v1/chat/completions', hi],
    ['/v1/messages', hi],
    ['/v1/responses', { model: 'svc/alpha', input: 'hi' }],
    ['/v1beta/models/svc/alpha:generateContent', contents],
  ]
  for (const [path, body] of asked) {
    const answer = await post(path, key, body)
    const text = await answer.text()
    expect([path, answer.status]).toEqual([path, 402])
    expect(text).toContain('weekly budget of this account')
    expect(text).toMatch(/budget_exceeded/i)
  }
})

function ask(key: string): Promise<Response> {
  return post('/v1/chat/completions', key, { model: 'svc/alpha', messages: [{ role: 'user', content: 'hi' }] })
}

function post(path: string, key: string, body: object): Promise<Response> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  return fetch(`${gateway.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}
