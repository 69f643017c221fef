/** Routing preferences in `/v1/route`, in holds and in the documentation. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import SwaggerParser from '@apidevtools/swagger-parser'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'

let gateway: TestGateway
let customer: Customer
let isBroken = false

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => (isBroken ? new Response(null, { status: 500 }) : Response.json(chatCompletion('Hello'))),
    catalog(file) {
      const [alpha] = file.models
      const provider1 = file.providers.provider1 as Record<string, unknown>
      const dear = { inputPer1mTokens: 5, outputPer1mTokens: 10 }
      Object.assign(file.providers, { second: { ...provider1 } })
      const targets = [
        { provider: 'provider1', model: 'm' },
        { provider: 'second', model: 'm' },
      ]
      file.models.push(
        { ...alpha, id: 'svc/weak', quality: 0.4, targets },
        { ...alpha, id: 'svc/strong', quality: 0.9, pricing: dear },
      )
      file.tiers = [{ ...file.tiers[0], candidates: ['svc/weak', 'svc/strong'], strategy: 'smart' }]
    },
  })
  customer = await gateway.customer('2')
})
afterAll(() => gateway.stop())

type Plan = {
  hold_usd: number
  targets: { model: string; provider: string; usual_tokens_per_second: number | null }[]
  models: { model: string; hold_usd: number }[]
  passed_over: { model: string; requirements: string[]; reasons: string[] }[]
  preferences: Record<string, unknown> | null
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  return await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

async function planOf(body: unknown, headers: Record<string, string> = {}): Promise<Plan> {
  const response = await post('/v1/route', body, headers)
  expect(response.status).toBe(200)
  return (await response.json()) as Plan
}

const USER = [{ role: 'user', content: 'Hi' }]
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const BODIES: [name: string, body: Record<string, unknown>][] = [
  ['chat-completions', { messages: USER, max_tokens: 100 }],
  ['messages', { messages: USER, system: 'Be brief.', max_tokens: 100 }],
  ['generate-content', { contents: CONTENTS, generationConfig: { maxOutputTokens: 100 } }],
]

describe.each(BODIES)('/v1/route with a body of %s', (_, body) => {
  test('/v1/route shows preferences and the targets that they excluded', async () => {
    const svc = { quality: 0.2, max_price: { prompt: 2 }, providers: { ignore: ['provider1'] }, sort: 'price' }
    const plan = await planOf({ ...body, model: 'auto-smart', svc })
    expect(plan.targets).toMatchObject([{ model: 'svc/weak', provider: 'second' }])
    expect(plan.preferences).toEqual({
      quality: 0.2,
      quality_reached: true,
      max_price: { input: 2, output: null },
      providers: { order: [], only: [], ignore: ['provider1'] },
      sort: 'price',
      data: [],
      ruled_out_targets: [{ model: 'svc/weak', provider: 'provider1' }],
    })
    expect(plan.passed_over).toMatchObject([{ model: 'svc/strong', requirements: ['providers', 'max-price'] }])
  })

  test('/v1/route shows the quality of the header, which overrides the body', async () => {
    const plain = await planOf({ ...body, model: 'auto-smart' })
    expect(plain.preferences).toBeNull()
    expect(plain.models).toHaveLength(2)
    const plan = await planOf({ ...body, model: 'auto-smart', svc: { quality: 0.1 } }, { 'x-svc-quality': '0.8' })
    expect(plan.preferences).toMatchObject({ quality: 0.8, quality_reached: true })
    expect(plan.models).toMatchObject([{ model: 'svc/strong' }])
    expect(plan.passed_over).toMatchObject([{ model: 'svc/weak', requirements: ['quality'] }])
    const most = await planOf({ ...body, model: 'auto-smart' }, { 'x-svc-quality': '1' })
    expect(most.preferences).toMatchObject({ quality: 1, quality_reached: false })
    expect(most.models[0]).toMatchObject({ model: 'svc/strong' })
  })
})

test('the hold shown by /v1/route covers only models that may answer', async () => {
  const body = { model: 'svc/weak', fallback: ['svc/strong'], messages: USER, max_tokens: 100 }
  const all = await planOf(body)
  const cheap = await planOf({ ...body, svc: { max_price: { output: 2 } } })
  expect(cheap.models).toMatchObject([{ model: 'svc/weak' }])
  // The body is longer by the wish, and so is the bound of its input; output costs five times as much at the other.
  expect(cheap.hold_usd).toBeLessThan(all.hold_usd / 3)
  isBroken = true
  const failed = await post('/v1/chat/completions', { ...body, svc: { max_price: { output: 2 } } })
  isBroken = false
  expect(failed.status).toBe(502)
  expect(failed.headers.get('x-svc-attempt-list') ?? '').not.toContain('svc/strong')
  const before = await gateway.balance(customer.accountId)
  const answered = await post('/v1/chat/completions', { ...body, svc: { max_price: { output: 2 } } })
  await answered.json()
  expect(answered.headers.get('x-svc-model')).toBe('svc/weak')
  const { spent } = await gateway.balance(customer.accountId)
  expect(spent - before.spent).toBeLessThanOrEqual(cheap.hold_usd * 1e9)
})

test('/v1/route shows tokens per second, and sorts by them', async () => {
  const body = { model: 'svc/weak', messages: USER, max_tokens: 100 }
  gateway.upstream.respond(() => Response.json(chatCompletion('Hello '.repeat(60), usageOf(10, 60))))
  const answered = await post('/v1/chat/completions', { ...body, svc: { providers: { only: ['second'] } } })
  expect(answered.headers.get('x-svc-provider')).toBe('second')
  await answered.json()
  const shown = await until(async () => {
    const { targets } = await planOf({ ...body, svc: { sort: 'throughput' } })
    return targets[0]?.provider === 'second' && targets
  })
  expect(shown[0]?.usual_tokens_per_second).toBeGreaterThan(0)
  expect(shown[1]).toMatchObject({ provider: 'provider1', usual_tokens_per_second: null })
})

test('the token count accepts the field `svc` too', async () => {
  const svc = { quality: 0.5 }
  expect((await post('/v1/messages/count_tokens', { model: 'svc/weak', messages: USER, svc })).status).toBe(200)
  expect((await post('/v1beta/models/svc%2Fweak:countTokens', { contents: CONTENTS })).status).toBe(200)
})

test('the OpenAPI document has the field `svc` and the header x-svc-quality at every routing endpoint', async () => {
  const document = await (await fetch(`${gateway.url}/docs/json`)).json()
  const whole = await SwaggerParser.dereference(document)
  const paths = ['/v1/chat/completions', '/v1/messages', '/v1/route', '/v1beta/models/{model}:generateContent']
  for (const path of [...paths, '/v1beta/models/{model}:streamGenerateContent']) {
    const text = JSON.stringify(whole.paths?.[path]?.post)
    expect(text).toContain('"name":"x-svc-quality","in":"header"')
    expect(text).toContain('"svc":')
    expect(text).toMatch(/max_price|maxPrice/)
  }
})
