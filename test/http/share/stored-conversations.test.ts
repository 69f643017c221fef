/** A long stored conversation is only read for an account whose credit covers its lowest cost. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'

const TOKENS = 1_000_000
const WORDS = 'word '.repeat(80_000)

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

/** A customer with a stored conversation of 400 KB, of which a provider has counted a million tokens. */
async function customerWith(usd: string): Promise<Customer> {
  const customer = await gateway.customer(usd)
  const input = JSON.stringify([{ type: 'message', role: 'user', id: 'msg_1', content: WORDS }])
  await gateway.gateway.database.sql`
    INSERT INTO stored_responses
      (account_id, id, key_id, model, input, answer, bytes, created_at, expires_at, json_values, tokens, input_items, output_items)
    VALUES (${customer.accountId}, 'resp_long', 'key_1', 'svc/alpha', ${input}, '{"output":[]}', ${input.length}, now(),
      now() + interval '1 hour', 5, ${TOKENS}, 1, 0)`
  return customer
}

async function ask(path: string, { key }: Customer) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({
    model: 'svc/alpha',
    input: 'So?',
    previous_response_id: 'resp_long',
    max_output_tokens: 9,
  })
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

const PATHS = ['/v1/responses', '/v1/responses/input_tokens', '/v1/route?format=responses'] as const

describe('a conversation of a million tokens', () => {
  test.each(PATHS)(
    'a conversation of a million tokens is not read at %s for an account with a cent or nothing',
    async (path) => {
      const [poor, broke] = [await customerWith('0.01'), await customerWith('0')]
      expect((await ask(path, poor)).status).toBe(402)
      expect((await ask(path, broke)).status).toBe(402)
      // What was refused is not counted as read.
      for (let time = 0; time < 100; time++) expect((await ask(path, poor)).status).toBe(402)
    },
  )

  test.each(PATHS)(
    'a conversation of a million tokens is read at %s for an account with enough credit',
    async (path) => {
      expect((await ask(path, await customerWith('5'))).status).toBe(200)
    },
  )

  test('a conversation of a million tokens is read for free only within the account’s share', async () => {
    const customer = await customerWith('5')
    const statuses: number[] = []
    while (statuses.at(-1) !== 429 && statuses.length < 1_000) statuses.push((await ask(PATHS[1], customer)).status)
    // 32 MiB of 400 KB each, and what comes back of them meanwhile.
    expect(statuses.length).toBeGreaterThanOrEqual(80)
    expect(statuses.length).toBeLessThan(1_000)
    // Free requests beside it take what comes back, however slow the machine is.
    const isRefused = async () => {
      const beside = Array.from({ length: 60 }, () => ask(PATHS[1], customer))
      const { status } = await ask(PATHS[0], customer)
      await Promise.all(beside)
      return status === 429
    }
    await until(isRefused, 'a paid request to be refused as well')
  })
})
