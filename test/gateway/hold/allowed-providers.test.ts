/** Keys whose requests only some providers may answer: in all formats, by name, fallback and tier, on every gateway. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { answerEither, sellEmbeddings } from '@test/gateway/embed/providers'
import { questionIn } from '@test/gateway/told-in-pieces'
import { connect } from '@test/ledger/harness'
import { keyState } from '@test/ledger/memory-history'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion, type UpstreamCall } from '@test/support/upstream'
import OpenAI from 'openai'
import { createLedgerHistory } from '@/accounts/history'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { rebuildAll } from '@/ledger/check/rebuild'
import { nano } from '@/lib/money'

let gateway: TestGateway
let twin: TestGateway
let customer: Customer
/** Providers that answer 500. */
const down = new Set<string>()

/** Each provider has the model by a name that says whose it is. */
const providerOf = ({ body }: UpstreamCall) => String(body.model).split('-')[0] as string

function respond(call: UpstreamCall): Response {
  if (down.has(providerOf(call))) return Response.json({ error: { message: 'down' } }, { status: 500 })
  if (call.path.includes('mbed')) return answerEither(call)
  return Response.json(chatCompletion('Hello', undefined, String(call.body.model)))
}

beforeAll(async () => {
  gateway = await startGateway({
    respond,
    catalog(file) {
      sellEmbeddings(file)
      const [alpha, ...others] = file.models
      const named = (name: string, providers: string[], more = {}) => ({
        ...{ ...alpha, id: `svc/${name}` },
        targets: providers.map((provider) => ({ provider, model: `${provider}-${name}` })),
        ...more,
      })
      file.models = [
        named('alpha', ['provider1', 'spare'], { fallback: ['svc/gamma'] }),
        named('beta', ['spare']),
        named('gamma', ['provider1']),
        ...others,
      ]
      file.tiers = [{ ...file.tiers[0], candidates: ['svc/beta', 'svc/gamma'] }]
    },
  })
  twin = await gateway.twin()
})
beforeEach(async () => {
  down.clear()
  gateway.upstream.calls.length = 0
  customer = await gateway.customer('10', { allowedProviders: ['spare'] })
})
afterAll(() => gateway.stop())

const allow = (allowedProviders: string[] | null) => gateway.apiKeys.change(customer.keyId, { allowedProviders })
const asked = () => [...new Set(gateway.upstream.calls.map(providerOf))].sort()

async function post(at: TestGateway, path: string, body: object) {
  const response = await fetch(at.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, provider: response.headers.get('x-svc-provider'), text: await response.text() }
}

function ask(at: TestGateway, format: FormatName, model: string, more: object = {}) {
  const { path, body } = questionIn(format, model, { stream: false, limit: 50 })
  return post(at, path, { ...body, ...more })
}

describe.each(FORMAT_NAMES)('allowed providers for a caller of %s', (format) => {
  test('an allowed provider answers, and no other is called if it fails', async () => {
    for (const at of [gateway, twin]) {
      expect(await ask(at, format, 'svc/alpha')).toMatchObject({ status: 200, provider: 'spare' })
    }
    down.add('spare')
    expect((await ask(gateway, format, 'svc/alpha')).status).toBe(502)
    expect(asked()).toEqual(['spare'])
  })

  test('a model of other providers is refused by name without a call', async () => {
    const refused = await ask(gateway, format, 'svc/gamma')
    expect(refused).toMatchObject({ status: 403, provider: null })
    expect(refused.text.toLowerCase()).toContain('provider_not_allowed')
    expect(refused.text).toContain("The model 'svc/gamma' is served by provider1")
    expect(asked()).toEqual([])
  })
})

test('client libraries show that a request was refused for its provider', async () => {
  const { key: apiKey } = customer
  const messages = [{ role: 'user' as const, content: 'Hi' }]
  const openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const told = await failure(openai.chat.completions.create({ model: 'svc/gamma', messages }))
  expect(told).toBeInstanceOf(OpenAI.PermissionDeniedError)
  expect(told).toMatchObject({ code: 'provider_not_allowed', param: 'model' })
  expect(await failure(openai.responses.create({ model: 'svc/gamma', input: 'Hi' }))).toMatchObject({
    ...{ status: 403, code: 'provider_not_allowed', param: 'model' },
  })
  const anthropic = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 })
  expect(await failure(anthropic.messages.create({ model: 'svc/gamma', max_tokens: 9, messages }))).toMatchObject({
    error: { error: { type: 'permission_error', details: { error_code: 'provider_not_allowed' } } },
  })
  const genai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } })
  const thrown = await failure(genai.models.generateContent({ model: 'svc/gamma', contents: 'Hi' }))
  const { error } = JSON.parse((thrown as Error).message)
  expect(error.status).toBe('PERMISSION_DENIED')
  expect(error.details[0]).toMatchObject({ reason: 'PROVIDER_NOT_ALLOWED' })
})

describe('other effects of a provider list', () => {
  test('each fallback entry is checked, and a tier chooses among models of the allowed providers', async () => {
    const refused = await ask(gateway, 'messages', 'svc/alpha', { fallback: ['svc/beta', 'svc/gamma'] })
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('fallback[1]')
    down.add('spare')
    expect((await ask(gateway, 'messages', 'svc/alpha', { fallback: ['svc/beta', 'auto-smart'] })).status).toBe(502)
    down.clear()
    for (let round = 0; round < 3; round++) {
      expect(await ask(gateway, 'messages', 'auto-smart')).toMatchObject({ status: 200, provider: 'spare' })
    }
    expect(asked()).toEqual(['spare'])
  })

  test('a changed provider list applies from the next request on every gateway, in both directions', async () => {
    const expectEverywhere = async (model: string, expected: object) => {
      for (const at of [twin, gateway]) expect(await ask(at, 'responses', model)).toMatchObject(expected)
    }
    await expectEverywhere('svc/alpha', { status: 200, provider: 'spare' })
    await allow(['provider1'])
    await expectEverywhere('svc/alpha', { status: 200, provider: 'provider1' })
    await expectEverywhere('svc/beta', { status: 403 })
    await allow(null)
    await expectEverywhere('svc/beta', { status: 200, provider: 'spare' })
    await gateway.apiKeys.change(customer.keyId, { allowedModels: ['svc/alpha'], allowedProviders: ['spare'] })
    await expectEverywhere('svc/beta', { status: 403 })
    await expectEverywhere('svc/alpha', { status: 200, provider: 'spare' })
  })

  test('embeddings come from an allowed provider, or are refused', async () => {
    const embed = (model: string) => post(gateway, '/v1/embeddings', { model, input: 'text' })
    expect(await embed('svc/embed-two')).toMatchObject({ status: 200, provider: 'spare' })
    const refused = await embed('svc/embed')
    expect(refused.status).toBe(403)
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'provider_not_allowed', param: 'model' } })
    expect(asked()).toEqual(['spare'])
  })

  test('the catalogue’s fallbacks at other providers are omitted', async () => {
    down.add('spare')
    expect((await ask(gateway, 'chat-completions', 'svc/alpha')).status).toBe(502)
    expect(asked()).toEqual(['spare'])
    down.clear()
    await allow(['spare', 'provider1'])
    down.add('provider1').add('spare')
    gateway.upstream.calls.length = 0
    await ask(gateway, 'chat-completions', 'svc/alpha')
    expect(gateway.upstream.calls.map(({ body }) => body.model)).toContain('provider1-gamma')
  })

  test('an allowed provider missing in the catalogue has no effect; the rest of the list applies', async () => {
    await allow(['gone'])
    for (const model of ['svc/alpha', 'auto-smart']) expect((await ask(twin, 'messages', model)).status).toBe(403)
    await allow(['gone', 'provider1'])
    expect(await ask(twin, 'messages', 'svc/alpha')).toMatchObject({ status: 200, provider: 'provider1' })
  })

  test('a refused request holds and charges nothing', async () => {
    const before = await gateway.balance(customer.accountId)
    for (let round = 0; round < 3; round++) await ask(twin, 'messages', 'svc/gamma')
    expect(await gateway.balance(customer.accountId)).toEqual(before)
    expect(await gateway.gateway.deps.ledger.readKey(customer)).toMatchObject({ open: 0, held: nano(0) })
  })

  test('token counts do not need an allowed provider', async () => {
    const body = { model: 'svc/gamma', messages: [{ role: 'user', content: 'Hi' }] }
    expect((await post(gateway, '/v1/messages/count_tokens', body)).status).toBe(200)
    expect(asked()).toEqual([])
  })

  test('the plan of a request lists the allowed targets, and is refused like the request', async () => {
    const plan = (model: string) => post(twin, '/v1/route', { model, messages: [{ role: 'user', content: 'Hi' }] })
    const { status, text } = await plan('auto-smart')
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({
      targets: [{ model: 'svc/beta', provider: 'spare' }],
      passed_over: [
        {
          ...{ model: 'svc/gamma', requirements: ['permission'] },
          reasons: ['is served by providers that this API key may not use'],
        },
      ],
    })
    expect((await plan('svc/gamma')).status).toBe(403)
  })

  test('after a rebuild, the store has the provider list again', async () => {
    const { database, deps } = gateway.gateway
    const redis = await connect()
    const list = async () => (await deps.ledger.readKey(customer))?.allowedProviders
    expect(await list()).toEqual(['spare'])
    await deps.ledger.setKeyState(keyState(customer))
    expect(await list()).toBeNull()
    await rebuildAll({ redis, history: createLedgerHistory(database), logger: deps.logger })
    redis.disconnect()
    expect(await list()).toEqual(['spare'])
    expect((await ask(gateway, 'chat-completions', 'svc/gamma')).status).toBe(403)
    expect(await ask(gateway, 'chat-completions', 'svc/alpha')).toMatchObject({ status: 200, provider: 'spare' })
  })

  test('while the provider list changes repeatedly, no provider outside the list answers', async () => {
    let isDone = false
    const asking = [gateway, twin].map(async (at) => {
      const seen: { status: number }[] = []
      while (!isDone) seen.push(await ask(at, 'chat-completions', 'svc/beta'))
      return seen
    })
    await allow(['spare', 'provider3'])
    for (let round = 0; round < 20; round++) await allow(round % 2 ? ['spare'] : ['spare', 'provider3'])
    isDone = true
    for (const { status } of (await Promise.all(asking)).flat()) expect([200, 503]).toContain(status)
    expect(asked()).toEqual(['spare'])
  })
})

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}
