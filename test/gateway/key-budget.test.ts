/** A key whose monthly budget is below a model's longest answer: served like an account with that balance. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import { nano } from '@/lib/money'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

const LITTLE = nano(20_000_000)

test('the output limit is lowered to the key’s budget, and the answer’s header says so', async () => {
  const { key } = await gateway.customer('10', { monthlyBudget: LITTLE })
  const answer = await ask(key)
  expect(answer.status).toBe(200)
  const cap = Number(answer.headers.get('x-svc-max-output-tokens'))
  expect(cap).toBeGreaterThan(256)
  const poor = await gateway.customer('0.02')
  const asPoor = await ask(poor.key)
  expect(asPoor.headers.get('x-svc-max-output-tokens')).toBe(String(cap))
})

test('the account’s balance decides if it is smaller than the budget', async () => {
  const { key } = await gateway.customer('0.02', { monthlyBudget: nano(1_000_000_000) })
  const answer = await ask(key)
  expect([answer.status, Number(answer.headers.get('x-svc-max-output-tokens')) > 256]).toEqual([200, true])
})

test('a request whose own limit exceeds the budget is refused with the needed and remaining amounts', async () => {
  const { key } = await gateway.customer('10', { monthlyBudget: LITTLE })
  const answer = await ask(key, { max_tokens: 30_000 })
  expect(answer.status).toBe(402)
  const { error } = (await answer.json()) as { error: { code: string; message: string } }
  expect(error).toMatchObject({ code: 'key_budget_exceeded', remainingUsd: 0.02, transient: false })
  expect(error.message).toContain('0.02 USD are left')
})

function ask(key: string, more: Record<string, unknown> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'hi' }], ...more }),
  })
}
