/** Requests that name a model by an alias: every path and format, lists, limits, fallbacks, records, metrics and sessions. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { signUpCustomer } from '@test/usage/customer'
import OpenAI from 'openai'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'

const CLAUDE = 'claude-sonnet-5-5'
const GPT = 'openai/gpt-5.6-terra'
const EMBED = 'text-embedding-3-small'
const TIER = 'claude-auto'

let gateway: TestGateway
let customer: Customer
let isBroken = false

beforeAll(async () => {
  gateway = await startGateway({
    respond(call) {
      if (call.path.includes('embeddings')) {
        const data = [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }]
        return Response.json({ object: 'list', data, model: 'm', usage: { prompt_tokens: 3, total_tokens: 3 } })
      }
      if (isBroken && call.path.startsWith('/v1/messages')) return new Response('{}', { status: 500 })
      const format = call.path.startsWith('/v1/messages') ? 'messages' : 'chat-completions'
      return respondWith(TEXT, format, call.body.stream === true)
    },
    catalog(file) {
      const [alpha] = file.models
      const { provider1 } = file.providers
      const origin = String(provider1?.baseUrl).replace(/\/v1$/, '')
      file.providers.provider2 = { ...provider1, format: 'messages', baseUrl: origin, keys: ['sk-two-canary'] }
      const beta = { ...alpha, id: 'svc/beta', aliases: [CLAUDE], name: 'Beta' }
      file.models = [
        { ...alpha, id: 'svc/alpha', aliases: [GPT] },
        { ...beta, targets: [{ provider: 'provider2', model: 'beta-upstream' }] },
        {
          ...{ id: 'svc/embed', kind: 'embedding', name: 'Embed', created: 1, ownedBy: 'provider1' },
          ...{ aliases: [EMBED], targets: [{ provider: 'provider1', model: 'embed-upstream' }] },
          ...{ pricing: { inputPer1mTokens: 1 }, contextLength: 8_000 },
        },
      ]
      file.tiers = [{ ...file.tiers[0], aliases: [TIER], candidates: ['svc/alpha', 'svc/beta'] }]
    },
  })
  customer = await gateway.customer('100')
})
afterAll(() => gateway.stop())

type Sent = { response: Response; text: string }

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Sent> {
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { response, text: await response.text() }
}

function requestIn(format: FormatName, model: string, stream = false): [path: string, body: object] {
  const messages = [{ role: 'user', content: 'Hi' }]
  switch (format) {
    case 'chat-completions':
      return ['/v1/chat/completions', { model, messages, stream }]
    case 'responses':
      return ['/v1/responses', { model, input: messages, stream }]
    case 'messages':
      return ['/v1/messages', { model, messages, stream, max_tokens: 50 }]
    case 'generate-content': {
      const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
      return [`/v1beta/models/${model}:${verb}`, { contents: [{ parts: [{ text: 'Hi' }] }] }]
    }
  }
}

const recordOf = (response: Response) =>
  until(async () => {
    const { sql } = gateway.gateway.database
    const [row] = await sql`SELECT model, requested_model, route_reason FROM usage_records
      WHERE request_id = ${response.headers.get('x-request-id')}`
    return row
  }, 'the usage record')

const CASES = FORMAT_NAMES.flatMap((format) =>
  [false, true].flatMap((stream) =>
    [
      [CLAUDE, 'svc/beta'],
      [GPT, 'svc/alpha'],
    ].map(([alias = '', id = '']) => [format, stream, alias, id] as const),
  ),
)

test('in every format an alias is answered and charged as its model, and the record keeps both names', async () => {
  const answered: { id: string; alias: string; response: Response }[] = []
  for (const [format, stream, alias, id] of CASES) {
    const { response, text } = await post(...requestIn(format, alias, stream))
    const told = { status: response.status, model: response.headers.get('x-svc-model'), text }
    expect({ format, stream, ...told }).toMatchObject({ status: 200, model: id, text: expect.stringContaining(id) })
    expect(text).not.toContain('upstream')
    answered.push({ id, alias, response })
  }
  for (const { id, alias, response } of answered)
    expect(await recordOf(response)).toMatchObject({ model: id, requested_model: alias, route_reason: 'requested' })
})

test('an alias of a tier works as the tier', async () => {
  const { response } = await post(...requestIn('chat-completions', TIER))
  expect(response.headers.get('x-svc-route-reason')).toStartWith('chosen; smart')
  expect(await recordOf(response)).toMatchObject({ requested_model: TIER })
})

test('a conversation keeps its model if the tier’s id and alias are used in turn', async () => {
  const headers = { 'x-svc-session': crypto.randomUUID() }
  const reasons = []
  for (const model of ['auto-smart', TIER, 'auto-smart'])
    reasons.push(
      (await post(...requestIn('messages', model), headers)).response.headers.get('x-svc-route-reason')?.split(';')[0],
    )
  expect(reasons).toEqual(['chosen', 'session', 'session'])
})

test('Claude Code’s session header names the conversation, unless x-svc-session is sent', async () => {
  const reasonOf = async (headers: Record<string, string>) =>
    (await post(...requestIn('messages', 'auto-smart'), headers)).response.headers
      .get('x-svc-route-reason')
      ?.split(';')[0]
  const [one, other] = [crypto.randomUUID(), crypto.randomUUID()]
  expect(await reasonOf({ 'x-claude-code-session-id': one })).toBe('chosen')
  expect(await reasonOf({ 'x-claude-code-session-id': one })).toBe('session')
  expect(await reasonOf({ 'x-svc-session': other, 'x-claude-code-session-id': one })).toBe('chosen')
  expect(await reasonOf({ 'x-svc-session': other })).toBe('session')
  const route = { model: 'auto-smart', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }
  const planned = await post('/v1/route?format=messages', route, { 'x-claude-code-session-id': one })
  expect(JSON.parse(planned.text).reason).toStartWith('session')
})

test('embeddings accept an alias', async () => {
  const { response, text } = await post('/v1/embeddings', { model: EMBED, input: 'Hi' })
  expect([response.status, JSON.parse(text).model]).toEqual([200, 'svc/embed'])
  expect(await recordOf(response)).toMatchObject({ model: 'svc/embed', requested_model: EMBED })
  const body = { content: { parts: [{ text: 'Hi' }] } }
  expect((await post(`/v1beta/models/${EMBED}:embedContent`, body)).response.status).toBe(200)
  const requests = { requests: [{ model: `models/${EMBED}`, ...body }] }
  expect((await post(`/v1beta/models/${EMBED}:batchEmbedContents`, requests)).response.status).toBe(200)
  const wrong = await post('/v1/embeddings', { model: CLAUDE, input: 'Hi' })
  expect([wrong.response.status, JSON.parse(wrong.text).error.code]).toEqual([400, 'wrong_endpoint'])
})

test('token counts and route plans accept an alias', async () => {
  const messages = [{ role: 'user', content: 'Hi' }]
  const counted = await post('/v1/messages/count_tokens', { model: CLAUDE, messages })
  expect([counted.response.status, JSON.parse(counted.text).input_tokens > 0]).toEqual([200, true])
  const contents = { contents: [{ parts: [{ text: 'Hi' }] }] }
  expect((await post(`/v1beta/models/${CLAUDE}:countTokens`, contents)).response.status).toBe(200)
  const plan = JSON.parse((await post('/v1/route', { model: CLAUDE, messages })).text)
  expect(plan).toMatchObject({ requested: CLAUDE, reason: 'requested', targets: [{ model: 'svc/beta' }] })
})

test('a fallback list accepts aliases', async () => {
  isBroken = true
  const [path, body] = requestIn('chat-completions', CLAUDE)
  const { response } = await post(path, { ...body, fallback: [GPT] })
  isBroken = false
  expect([response.status, response.headers.get('x-svc-model')]).toEqual([200, 'svc/alpha'])
  expect(await recordOf(response)).toMatchObject({ model: 'svc/alpha', requested_model: CLAUDE })
})

test('unknown names are refused, and metrics only have ids', async () => {
  const { response, text } = await post(...requestIn('chat-completions', 'claude-sonnet-9'))
  expect([response.status, JSON.parse(text).error.code]).toEqual([404, 'model_not_found'])
  const refused = await post('/v1/chat/completions', { model: CLAUDE, messages: 1 })
  expect(refused.response.status).toBe(400)
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
  for (const alias of [CLAUDE, GPT, EMBED, TIER]) expect(metrics).not.toContain(alias)
  expect(metrics).toMatch(/model="svc\/beta"[^\n]*status="200"/)
})

describe('the list of models', () => {
  type Entry = Record<string, unknown> & { id: string }
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(gateway.url + path, { headers, redirect: 'error' })
    return { status: response.status, body: (await response.json()) as Entry & { data: Entry[]; models: Entry[] } }
  }

  test('the list of models has an entry for each alias, after those of the ids', async () => {
    const { data, models } = (await get('/v1/models')).body
    const ids = ['svc/alpha', 'svc/beta', 'svc/embed', 'auto-smart', GPT, CLAUDE, EMBED, TIER]
    expect(data.map(({ id }) => id)).toEqual(ids)
    expect(data.map(({ alias_of }) => alias_of)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      ...['svc/alpha', 'svc/beta', 'svc/embed', 'auto-smart'],
    ])
    const [alpha] = data
    expect(alpha?.aliases).toEqual([GPT])
    expect(data[4]).toEqual({ ...(alpha as Entry), id: GPT, alias_of: 'svc/alpha' })
    expect(models.map(({ name }) => name)).toEqual(ids.map((id) => `models/${id}`))
    expect(models[5]).toMatchObject({ name: `models/${CLAUDE}`, baseModelId: 'svc/beta', displayName: 'Beta' })
    expect((await get('/v1beta/models')).body.models).toEqual(models)
  })

  test.each([`/v1/models/${CLAUDE}`, `/v1/models/${encodeURIComponent(GPT)}`, `/v1/models/${GPT}`, `/models/${TIER}`])(
    '%s in the list has its own path',
    async (path) => {
      const { status, body } = await get(path)
      expect(status).toBe(200)
      expect(path).toEndWith(path.includes('%') ? encodeURIComponent(body.id) : body.id)
      const named = await get(path, { 'anthropic-version': '2023-06-01' })
      expect(named.body.id).toBe(body.id)
    },
  )

  test('a generate-content entry of an alias names the model that the alias stands for', async () => {
    const { body } = await get(`/v1beta/models/${CLAUDE}`)
    expect(body).toMatchObject({ name: `models/${CLAUDE}`, baseModelId: 'svc/beta', alias_of: 'svc/beta' })
  })

  test('the model list shows Claude Code its models, without a key or a redirect', async () => {
    const { status, body } = await get('/v1/models?limit=1000', { 'anthropic-version': '2023-06-01' })
    const shown = body.data.filter(({ id }) => /^(claude|anthropic)/.test(id))
    expect(status).toBe(200)
    expect(shown.map(({ id, display_name, type }) => ({ id, display_name, type }))).toEqual([
      { id: CLAUDE, display_name: 'Beta', type: 'model' },
      { id: TIER, display_name: 'Auto Smart', type: 'model' },
    ])
  })
})

describe('lists of what keys may call', () => {
  test('lists of allowed models accept aliases and store ids', async () => {
    const { person } = await signUpCustomer(gateway, '5')
    const keys = '/dashboard/api/a/:accountId/keys'
    const made = await person.json('POST', keys, { name: 'k', allowedModels: [CLAUDE, 'svc/alpha', 'svc/beta'] })
    expect(made).toMatchObject({
      status: 200,
      body: { item: { limits: { allowedModels: ['svc/beta', 'svc/alpha'] } } },
    })
    const policy = '/dashboard/api/a/:accountId/key-policy'
    const put = await person.json('PUT', policy, { allowedModels: [GPT] })
    expect(put).toMatchObject({ status: 200, body: { allowedModels: ['svc/alpha'] } })
    for (const name of [TIER, 'claude-none'])
      expect(await person.json('PUT', policy, { allowedModels: [name] })).toMatchObject({ status: 400 })
    const beyond = await person.json('POST', keys, { name: 'other', allowedModels: [CLAUDE] })
    expect(beyond).toMatchObject({ status: 400, body: { error: { param: 'allowedModels' } } })
  })

  test('an allow-list applies to the model under each of its names', async () => {
    const { key } = await gateway.customer('5', { allowedModels: ['svc/beta'] })
    const statusOf = async (model: string) => {
      const authorization = `Bearer ${key}`
      return (await post(...requestIn('messages', model), { authorization })).response.status
    }
    expect([await statusOf(CLAUDE), await statusOf('svc/beta'), await statusOf(GPT)]).toEqual([200, 200, 403])
  })
})

test('the playground accepts an alias', async () => {
  const { person } = await signUpCustomer(gateway, '5')
  const response = await person.fetch(`/dashboard/api/a/${person.viewer.accountId}/playground/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: CLAUDE, messages: [{ role: 'user', content: 'Hi' }], stream: true }),
  })
  expect([response.status, response.headers.get('x-svc-model')]).toEqual([200, 'svc/beta'])
  await response.text()
})

describe('the vendors’ own libraries with only key and address changed', () => {
  const messages = [{ role: 'user' as const, content: 'Hi' }]

  test('with only key and address changed: new Anthropic()', async () => {
    const client = new Anthropic({ apiKey: customer.key, baseURL: gateway.url })
    const answer = await client.messages.create({ model: CLAUDE, messages, max_tokens: 50 })
    expect(answer.content).toMatchObject([{ type: 'text' }])
    const stream = client.messages.stream({ model: CLAUDE, messages, max_tokens: 50 })
    expect((await stream.finalMessage()).content).toMatchObject(answer.content)
    const listed = []
    for await (const model of client.models.list()) listed.push(model.id)
    expect(listed).toContain(CLAUDE)
    expect(await client.models.retrieve(CLAUDE)).toMatchObject({ id: CLAUDE, display_name: 'Beta' })
  })

  test('with only key and address changed: openai', async () => {
    const client = new OpenAI({ apiKey: customer.key, baseURL: `${gateway.url}/v1` })
    const answer = await client.chat.completions.create({ model: GPT, messages })
    const text = answer.choices[0]?.message.content
    expect(text).toBeTruthy()
    let streamed = ''
    for await (const { choices } of await client.chat.completions.create({ model: GPT, messages, stream: true }))
      streamed += choices[0]?.delta.content ?? ''
    expect(streamed).toBe(text as string)
    expect((await client.responses.create({ model: GPT, input: 'Hi' })).output_text).toBe(text as string)
    expect(await client.models.retrieve(GPT)).toMatchObject({ id: GPT })
  })

  test('with only key and address changed: @google/genai', async () => {
    const { models } = new GoogleGenAI({ apiKey: customer.key, httpOptions: { baseUrl: gateway.url } })
    for (const model of [CLAUDE, GPT]) {
      const { text } = await models.generateContent({ model, contents: 'Hi' })
      expect(text).toBeTruthy()
      let streamed = ''
      for await (const chunk of await models.generateContentStream({ model, contents: 'Hi' }))
        streamed += chunk.text ?? ''
      expect(streamed).toBe(text as string)
      expect(await models.get({ model })).toMatchObject({ name: `models/${model}` })
    }
  })
})
