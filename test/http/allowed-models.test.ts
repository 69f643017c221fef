/** Keys that may only call some models: in all formats, by name, fallback and tier, on every gateway at once. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { ApiError, GoogleGenAI } from '@google/genai'
import { LIBRARIES } from '@test/clients/libraries/index'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion } from '@test/support/upstream'
import OpenAI from 'openai'
import { createApiKeys } from '@/accounts/api-keys'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { nano } from '@/lib/money'

let gateway: TestGateway
let twin: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: (call) => Response.json(chatCompletion('Hello', undefined, String(call.body.model))),
    catalog(file) {
      const [alpha] = file.models
      const named = (name: string, more = {}) => ({
        ...{ ...alpha, id: `svc/${name}`, targets: [{ provider: 'provider1', model: `${name}-upstream` }] },
        ...more,
      })
      file.models = [named('alpha', { fallback: ['svc/beta', 'svc/gamma'] }), named('beta'), named('gamma')]
      file.models.push(named('small', { capabilities: [], contextLength: 1_000, maxOutputTokens: 100 }))
      file.tiers = [
        { ...file.tiers[0], candidates: ['svc/alpha', 'svc/beta', 'svc/small'] },
        { ...file.tiers[0], id: 'auto-other', candidates: ['svc/gamma'] },
      ]
    },
  })
  twin = await gateway.twin()
})
beforeEach(async () => {
  customer = await gateway.customer('10', { allowedModels: ['svc/beta', 'svc/alpha'] })
})
afterAll(() => gateway.stop())

const allow = (allowedModels: string[] | null) => gateway.apiKeys.change(customer.keyId, { allowedModels })

type Asked = { status: number; model: string | null; text: string }

async function ask(at: TestGateway, format: FormatName, model: string, more: object = {}): Promise<Asked> {
  const [path, body] = requestIn(format, model)
  const response = await fetch(at.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, ...more }),
  })
  return { status: response.status, model: response.headers.get('x-svc-model'), text: await response.text() }
}

function requestIn(format: FormatName, model: string): [path: string, body: object] {
  const messages = [{ role: 'user', content: 'Hi' }]
  switch (format) {
    case 'chat-completions':
      return ['/v1/chat/completions', { model, messages }]
    case 'responses':
      return ['/v1/responses', { model, input: messages }]
    case 'messages':
      return ['/v1/messages', { model, messages, max_tokens: 50 }]
    case 'generate-content':
      return [
        `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
        { contents: [{ parts: [{ text: 'Hi' }] }] },
      ]
  }
}

describe.each(FORMAT_NAMES)('%s', (format) => {
  test('an allowed model answers, and no other model is requested from the provider', async () => {
    expect(await ask(gateway, format, 'svc/alpha')).toMatchObject({ status: 200, model: 'svc/alpha' })
    const calls = gateway.upstream.calls.length
    const refused = await ask(gateway, format, 'svc/gamma')
    expect(refused).toMatchObject({ status: 403, model: null })
    expect(refused.text.toLowerCase()).toContain('model_not_allowed')
    expect(refused.text).toContain("may not call the model 'svc/gamma'")
    expect(gateway.upstream.calls.length).toBe(calls)
  })

  test('each fallback entry is checked against the model list, even if the entry is a tier', async () => {
    const refused = await ask(gateway, format, 'svc/alpha', { fallback: ['svc/beta', 'svc/gamma'] })
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('fallback[1]')
    expect(await ask(gateway, format, 'svc/alpha', { fallback: ['auto-other'] })).toMatchObject({ status: 403 })
    const passed = await ask(gateway, format, 'svc/alpha', { fallback: ['svc/beta', 'auto-smart'] })
    expect(passed).toMatchObject({ status: 200 })
  })

  test('a tier chooses among the allowed models; if none can answer, the request is a 403', async () => {
    await allow(['svc/beta'])
    for (let round = 0; round < 3; round++) {
      expect(await ask(gateway, format, 'auto-smart')).toMatchObject({ status: 200, model: 'svc/beta' })
    }
    const refused = await ask(gateway, format, 'auto-other')
    expect(refused.status).toBe(403)
    expect(refused.text).toContain("any of the models that 'auto-other' chooses from")
  })

  test('a changed model list applies from the next request on every gateway, in both directions', async () => {
    for (const at of [gateway, twin]) expect(await ask(at, format, 'svc/beta')).toMatchObject({ status: 200 })
    await allow(['svc/gamma'])
    for (const at of [twin, gateway]) {
      expect(await ask(at, format, 'svc/beta')).toMatchObject({ status: 403 })
      expect(await ask(at, format, 'svc/gamma')).toMatchObject({ status: 200, model: 'svc/gamma' })
    }
    await allow(null)
    for (const at of [gateway, twin]) {
      expect(await ask(at, format, 'svc/beta')).toMatchObject({ status: 200, model: 'svc/beta' })
    }
    await allow(['svc/alpha'])
    for (const at of [gateway, twin]) expect(await ask(at, format, 'svc/beta')).toMatchObject({ status: 403 })
  })

  test('deactivating a key with a model list applies from the next request on every gateway', async () => {
    for (const at of [gateway, twin]) expect(await ask(at, format, 'svc/beta')).toMatchObject({ status: 200 })
    await gateway.apiKeys.deactivate(customer.keyId)
    for (const at of [twin, gateway]) expect(await ask(at, format, 'svc/beta')).toMatchObject({ status: 401 })
  })
})

describe('the client libraries', () => {
  const known = LIBRARIES.filter(({ name }) => ['openai 7', '@anthropic-ai/sdk 1', '@google/genai 3'].includes(name))

  test.each(known.map((library) => [library.name, library] as const))(
    '%s throws its own error class',
    async (_, library) => {
      const access = { baseUrl: gateway.url, key: customer.key }
      for (const isStream of [false, true]) {
        const thrown = await library.fail(access, 'svc/gamma', isStream)
        expect(thrown).toMatchObject({ isOwnClass: true, status: 403 })
        expect(thrown.message).toContain('svc/gamma')
      }
    },
  )

  test('each client library shows the reason of the refusal', async () => {
    const { key: apiKey } = customer
    const content = 'Hi'
    const messages = [{ role: 'user' as const, content }]
    const openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const told = await failure(openai.chat.completions.create({ model: 'svc/gamma', messages }))
    expect(told).toBeInstanceOf(OpenAI.PermissionDeniedError)
    expect(told).toMatchObject({ code: 'model_not_allowed', param: 'model' })
    const anthropic = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 })
    const refused = await failure(anthropic.messages.create({ model: 'svc/gamma', max_tokens: 9, messages }))
    expect(refused).toBeInstanceOf(Anthropic.PermissionDeniedError)
    expect(refused).toMatchObject({
      error: { error: { type: 'permission_error', details: { error_code: 'model_not_allowed' } } },
    })
    const genai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } })
    const thrown = await failure(genai.models.generateContent({ model: 'svc/gamma', contents: content }))
    expect(thrown).toBeInstanceOf(ApiError)
    const { error } = JSON.parse((thrown as ApiError).message)
    expect(error.status).toBe('PERMISSION_DENIED')
    expect(error.details[0]).toMatchObject({ reason: 'MODEL_NOT_ALLOWED' })
  })
})

describe('other effects of a model list', () => {
  test('the catalogue’s own fallbacks are omitted if the key may not call them', async () => {
    gateway.upstream.respond(({ body }) =>
      body.model === 'alpha-upstream'
        ? Response.json({ error: { message: 'down' } }, { status: 500 })
        : Response.json(chatCompletion('Hello')),
    )
    await allow(['svc/alpha', 'svc/gamma'])
    expect(await ask(gateway, 'chat-completions', 'svc/alpha')).toMatchObject({ status: 200, model: 'svc/gamma' })
    await allow(['svc/alpha'])
    const first = gateway.upstream.calls.length
    expect((await ask(gateway, 'chat-completions', 'svc/alpha')).status).toBe(502)
    expect(new Set(gateway.upstream.calls.slice(first).map(({ body }) => body.model))).toEqual(
      new Set(['alpha-upstream']),
    )
    gateway.upstream.respond(() => Response.json(chatCompletion('Hello')))
  })

  test('a refusal lists allowed models that cannot serve, and models that are not allowed', async () => {
    await allow(['svc/small'])
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
    const refused = await ask(gateway, 'chat-completions', 'auto-smart', { tools })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('svc/small does not support tools')
    expect(refused.text).toContain('svc/alpha is not allowed for this API key')
    const long = { messages: [{ role: 'user', content: 'word '.repeat(20_000) }] }
    expect((await ask(gateway, 'chat-completions', 'auto-smart', long)).text).toContain('context_length_exceeded')
  })

  test('an unknown model is a 404 whatever the list has; an empty list allows nothing', async () => {
    await allow([])
    expect(await ask(gateway, 'chat-completions', 'svc/none')).toMatchObject({ status: 404 })
    expect(await ask(gateway, 'chat-completions', 'svc/alpha')).toMatchObject({ status: 403 })
    expect(await ask(gateway, 'chat-completions', 'auto-smart')).toMatchObject({ status: 403 })
  })

  test('a request refused for its model holds and charges nothing', async () => {
    const before = await gateway.balance(customer.accountId)
    for (let round = 0; round < 3; round++) await ask(twin, 'messages', 'svc/gamma')
    expect(await gateway.balance(customer.accountId)).toEqual(before)
    expect(await gateway.gateway.deps.ledger.readKey(customer)).toMatchObject({ open: 0 })
  })

  test('a request is refused without a hold if the model list changes at each reserve', async () => {
    const { deps } = gateway.gateway
    const { ledger } = deps
    let asked = 0
    deps.ledger = {
      ...ledger,
      async reserve(request) {
        await allow(asked++ % 2 ? ['svc/alpha'] : ['svc/beta'])
        return ledger.reserve(request)
      },
    }
    const refused = await ask(gateway, 'chat-completions', 'auto-smart').finally(() => {
      deps.ledger = ledger
    })
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('key_changing')
    expect(asked).toBeLessThan(10)
    expect(await ledger.readKey(customer)).toMatchObject({ open: 0, held: nano(0) })
    expect(await ask(gateway, 'chat-completions', 'auto-smart')).toMatchObject({ status: 200 })
  })

  test('the plan of a request lists the skipped models, and is refused like the request', async () => {
    const plan = async (model: string) => {
      const response = await fetch(`${twin.url}/v1/route`, {
        method: 'POST',
        headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
      })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    await allow(['svc/beta'])
    const { status, body } = await plan('auto-smart')
    expect(status).toBe(200)
    expect(body).toMatchObject({ models: [{ model: 'svc/beta' }] })
    expect(body.passed_over).toContainEqual({
      model: 'svc/alpha',
      requirements: ['permission'],
      reasons: ['is not allowed for this API key'],
    })
    expect((await plan('svc/alpha')).status).toBe(403)
  })

  test('while the model list changes repeatedly, no model outside the list answers', async () => {
    const keys = createApiKeys(gateway.gateway.database, gateway.gateway.deps.ledger, 'svc')
    let isDone = false
    const asking = [gateway, twin].map(async (at) => {
      const seen: Asked[] = []
      while (!isDone) seen.push(await ask(at, 'chat-completions', 'auto-smart'))
      return seen
    })
    for (let round = 0; round < 20; round++) {
      await keys.change(customer.keyId, { allowedModels: round % 2 ? ['svc/alpha'] : ['svc/beta'] })
    }
    isDone = true
    for (const { status, model } of (await Promise.all(asking)).flat()) {
      expect([200, 503]).toContain(status)
      if (status === 200) expect(['svc/alpha', 'svc/beta']).toContain(String(model))
    }
    expect(await ask(twin, 'chat-completions', 'auto-smart')).toMatchObject({ status: 200, model: 'svc/alpha' })
  })
})

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}
