/** `POST /v1/route`: the plan of a request in any format, without cost. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'

let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('Hello')),
    catalog(file) {
      const [alpha] = file.models
      const pricing = { inputPer1mTokens: 5, outputPer1mTokens: 10, cacheReadPer1mTokens: 0.5 }
      file.models.push(
        { ...alpha, id: 'svc/plain', capabilities: [] },
        { ...alpha, id: 'svc/dear', pricing: { ...pricing, cacheWritePer1mTokens: 6, cacheWrite1hPer1mTokens: 10 } },
      )
      file.tiers = [{ ...file.tiers[0], candidates: ['svc/alpha', 'svc/plain', 'svc/dear'], strategy: 'smart' }]
    },
  })
  customer = await gateway.customer('2')
})
afterAll(() => gateway.stop())

type Plan = {
  requested: string
  reason: string
  hold_usd: number
  estimated_input_tokens: number
  targets: {
    model: string
    provider: string
    available: boolean
    usual_latency_ms: number | null
    usual_tokens_per_second: number | null
  }[]
  models: { model: string; hold_usd: number; estimated_cost_usd: number }[]
  passed_over: { model: string; requirements: string[]; reasons: string[] }[]
  tier: { id: string; ranking: { model: string }[] } | null
}

async function ask(body: unknown, query = '', headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/route${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { response, status: response.status, body: (await response.json()) as Plan & Record<string, unknown> }
}

const USER = [{ role: 'user', content: 'Hi' }]
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hi' }] }]

describe('a plan', () => {
  const bodies: [name: string, query: string, body: Record<string, unknown>][] = [
    ['chat-completions', '', { messages: USER, max_tokens: 100 }],
    ['messages, by its shape', '', { messages: USER, system: 'Be brief.', max_tokens: 100 }],
    ['messages, by name', '?format=messages', { messages: USER, max_tokens: 100 }],
    ['generate-content', '', { contents: CONTENTS, generationConfig: { maxOutputTokens: 100 } }],
  ]
  test.each(bodies)('/v1/route shows the plan of a %s body', async (_, query, body) => {
    const { status, body: plan } = await ask({ ...body, model: 'svc/alpha', fallback: ['svc/dear'] }, query)
    expect(status).toBe(200)
    expect(plan).toMatchObject({ requested: 'svc/alpha', tier: null, passed_over: [] })
    expect(plan.reason).toStartWith('requested')
    expect(plan.targets).toEqual([
      {
        model: 'svc/alpha',
        provider: 'provider1',
        available: true,
        usual_latency_ms: null,
        usual_tokens_per_second: null,
      },
      {
        model: 'svc/dear',
        provider: 'provider1',
        available: true,
        usual_latency_ms: null,
        usual_tokens_per_second: null,
      },
    ])
    const [cheap, dear] = plan.models
    // A hundred output tokens at 2 and 10 USD per million, and the input.
    expect(cheap?.hold_usd).toBeGreaterThan(0.0002)
    expect(dear?.hold_usd).toBeGreaterThan(0.001)
    expect(plan.hold_usd).toBe(dear?.hold_usd as number)
    expect(cheap?.estimated_cost_usd).toBeGreaterThan(0)
    expect(cheap?.estimated_cost_usd).toBeLessThan(cheap?.hold_usd as number)
  })

  test('a plan shows the tier’s analysis of the request, and the skipped models', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
    const { body: plan } = await ask({ model: 'auto-smart', messages: USER, tools })
    expect(plan.tier).toMatchObject({ id: 'auto-smart', strategy: 'smart', kind: 'tools' } as Record<string, unknown>)
    expect(plan.tier?.ranking.map(({ model }) => model).toSorted()).toEqual(['svc/alpha', 'svc/dear'])
    expect(plan.passed_over).toMatchObject([{ model: 'svc/plain', requirements: ['tools'] }])
  })

  test('requesting a plan costs nothing, reserves nothing and calls no provider', async () => {
    const before = await gateway.balance(customer.accountId)
    await ask({ model: 'auto-smart', messages: USER })
    expect(await gateway.balance(customer.accountId)).toEqual(before)
    expect(before).toMatchObject({ held: 0, spent: 0 })
    expect(gateway.upstream.calls).toHaveLength(0)
  })

  test('an account without credit gets a plan, whatever its cost', async () => {
    const poor = await gateway.customer('0')
    const headers = { authorization: `Bearer ${poor.key}` }
    const { status } = await ask({ model: 'svc/dear', messages: USER }, '', headers)
    expect(status).toBe(200)
  })
})

describe('a refusal', () => {
  test('an unknown model is refused in the format of the body', async () => {
    const one = await ask({ model: 'svc/none', messages: USER })
    expect([one.status, one.body.error]).toMatchObject([404, { code: 'model_not_found', param: 'model' }])
    const two = await ask({ model: 'svc/none', messages: USER, max_tokens: 5, stop_sequences: ['x'] })
    expect([two.status, two.body]).toMatchObject([404, { type: 'error', error: { type: 'not_found_error' } }])
    const three = await ask({ model: 'models/svc/none', contents: CONTENTS })
    expect([three.status, three.body.error]).toMatchObject([404, { code: 404, status: 'NOT_FOUND' }])
  })

  test('a refused plan has the requirement that excluded each model', async () => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }]
    const { status, body } = await ask({ model: 'svc/plain', messages: USER, max_tokens: 5, tools })
    expect([status, body]).toMatchObject([400, { type: 'error', error: { type: 'invalid_request_error' } }])
    expect(JSON.stringify(body)).toContain('svc/plain')
  })

  test.each([
    ['a generate-content body without a model', { contents: CONTENTS }, '', 400],
    ['an unknown format', { model: 'svc/alpha', messages: USER }, '?format=other', 400],
    ['a body of another format than it states', { model: 'svc/alpha', contents: CONTENTS }, '?format=messages', 400],
  ])('a plan of %s is refused', async (_, body, query, status) => {
    expect((await ask(body, query)).status).toBe(status)
  })

  test('a plan is refused without a key, and with a deactivated key', async () => {
    const none = await ask({ model: 'svc/alpha', messages: USER }, '', { authorization: 'Bearer svc-unknown' })
    expect([none.status, none.body.error]).toMatchObject([401, { code: 'invalid_api_key' }])
    const leaver = await gateway.customer('1')
    await gateway.apiKeys.deactivate(leaver.keyId)
    const left = await ask({ model: 'svc/alpha', messages: USER }, '', { authorization: `Bearer ${leaver.key}` })
    expect(left.status).toBe(401)
  })
})
