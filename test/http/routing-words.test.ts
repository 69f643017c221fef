/** The routing fields of OpenRouter and LiteLLM, in every format: the effect of each, and refusals by name. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { modelAt, startTrio } from '@test/clients/trio'
import { ask, TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { Customer, TestGateway } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import type { JsonObject } from '@/lib/json'

setDefaultTimeout(300_000)

let gateway: TestGateway
let customer: Customer

/** A model with a target at every provider, and a dear one. */
beforeAll(async () => {
  gateway = await startTrio({
    respond,
    catalog(file) {
      const targets = FORMAT_NAMES.map((provider) => ({ provider, model: `at-${provider}` }))
      file.models.push({ ...file.models[0], id: 'svc/everywhere', name: 'Everywhere', targets })
      for (const format of FORMAT_NAMES) {
        const name = `broken-${format}`
        file.providers[name] = { ...file.providers['chat-completions'] }
        const broken = { provider: name, model: 'broken' }
        file.models.push({ ...file.models[0], id: `svc/${name}`, name: 'Broken', targets: [broken] })
        const both = [broken, { provider: 'messages', model: 'upstream-model' }]
        file.models.push({ ...file.models[0], id: `svc/half-${name}`, name: 'Half', targets: both })
      }
      const pricing = { inputPer1mTokens: 100, outputPer1mTokens: 200 }
      file.models.push({ ...file.models[0], id: 'svc/dear', name: 'Dear', pricing })
      const careless = { provider: 'chat-completions', model: 'careless' }
      const kept = { ...careless, model: 'kept', retention: 30, trains: false, region: 'us' }
      const careful = {
        provider: 'messages',
        model: 'careful',
        retention: 'none',
        trains: false,
        region: 'eu-central-1',
      }
      file.models.push({ ...file.models[0], id: 'svc/stated', name: 'Stated', targets: [careless, kept, careful] })
      file.tiers.push({
        ...{ id: 'auto-any', name: 'Any', contextLength: 128_000, strategy: 'smart' },
        candidates: ['svc/dear', modelAt('messages')],
      })
    },
  })
  customer = await gateway.customer('100')
})
afterAll(() => gateway.stop())

function respond({ path, body }: UpstreamCall): Response {
  const format = formatOf(path)
  if (body.model === 'broken') return Response.json({ error: { message: 'down' } }, { status: 503 })
  return respondWith(TEXT, format, body.stream === true || path.includes('stream'))
}

function formatOf(path: string): FormatName {
  if (path.includes('/chat/completions')) return 'chat-completions'
  if (path.includes('/messages')) return 'messages'
  return path.includes('/responses') ? 'responses' : 'generate-content'
}

const PATHS = { 'chat-completions': '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' }

async function send(format: FormatName, model: string, words: JsonObject = {}) {
  const isOfPath = format === 'generate-content'
  const path = isOfPath ? `/v1beta/models/${model}:generateContent` : PATHS[format]
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ask()[format], ...(!isOfPath && { model }), ...words }),
  })
  const [text, header] = [await response.text(), (name: string) => response.headers.get(name)]
  const [provider, by, leftOut] = [header('x-svc-provider'), header('x-svc-model'), header('x-svc-left-out')]
  return { status: response.status, text, provider, by, leftOut }
}

const others = (format: FormatName) => FORMAT_NAMES.filter((name) => name !== format)

describe.each(FORMAT_NAMES)('%s', (format) => {
  test('the models in `models` are tried in turn', async () => {
    const first = `svc/broken-${format}`
    const told = await send(format, first, { models: [first, modelAt('responses')] })
    expect(told).toMatchObject({ status: 200, by: modelAt('responses'), leftOut: null })
  })

  test('`provider` chooses the providers', async () => {
    for (const name of FORMAT_NAMES) {
      const wishes: JsonObject[] = [
        { order: [name] },
        { only: [name], require_parameters: true },
        { ignore: others(name) },
        { order: [name], allow_fallbacks: false, sort: 'price' },
      ]
      for (const provider of wishes)
        expect(await send(format, 'svc/everywhere', { provider })).toMatchObject({
          status: 200,
          provider: name,
          leftOut: null,
        })
    }
  })

  test('`allow_fallbacks: false` tries no other provider', async () => {
    const model = `svc/half-broken-${format}`
    for (const provider of [{ allow_fallbacks: false }, { order: [`broken-${format}`], allow_fallbacks: false }]) {
      const before = gateway.upstream.calls.length
      expect((await send(format, model, { provider })).status).toBeGreaterThanOrEqual(500)
      const asked = gateway.upstream.calls.slice(before).map(({ body }) => body.model)
      expect(asked.filter((name) => name !== 'broken')).toEqual([])
    }
    expect(await send(format, model)).toMatchObject({ status: 200, provider: 'messages' })
  })

  test('`max_price` and `sort` choose among the models', async () => {
    const dear = await send(format, 'svc/dear', { provider: { max_price: { prompt: 1, completion: 2 } } })
    expect(dear).toMatchObject({ status: 400, text: expect.stringContaining('max_price') })
    for (const told of [
      await send(format, 'auto-any', { provider: { sort: 'price' } }),
      await send(format, 'auto-any:floor'),
    ])
      expect(told).toMatchObject({ status: 200, by: modelAt('messages') })
  })

  test.each([':nitro', ':floor'])('a model’s name with %s calls that model', async (suffix) => {
    expect(await send(format, `${modelAt('messages')}${suffix}`)).toMatchObject({
      status: 200,
      by: modelAt('messages'),
    })
    expect((await send(format, `svc/none${suffix}`)).status).toBe(404)
  })

  test('a data rule only calls providers that are stated to obey it, and is a 404 without one', async () => {
    const asked = async (words: JsonObject, model = 'svc/stated') => {
      const before = gateway.upstream.calls.length
      const { status, text } = await send(format, model, words)
      const models = gateway.upstream.calls.slice(before).map(({ path, body }) => body.model ?? path)
      return { status, models, isNamed: text.includes('has no provider that is stated to') }
    }
    const ok = { status: 200, isNamed: false }
    expect(await asked({})).toMatchObject({ ...ok, models: ['careless'] })
    expect(await asked({ provider: { data_collection: 'deny' } })).toMatchObject({ ...ok, models: ['kept'] })
    const careful: JsonObject[] = [
      { provider: { zdr: true, data_collection: 'deny' } },
      ...[{ svc: { zero_retention: true } }, { svc: { zeroRetention: true } }, { svc: { regions: ['eu', 'ch'] } }],
      { svc: { regions: ['eu-central-1'] }, provider: { zdr: true } },
    ]
    for (const words of careful) {
      expect(await asked(words)).toMatchObject({ ...ok, models: ['careful'] })
      expect(await asked(words, 'svc/dear')).toEqual({ status: 404, models: [], isNamed: true })
    }
    expect(await asked({ svc: { regions: ['us'], zero_retention: true } })).toMatchObject({ status: 404, models: [] })
    expect(await asked({ provider: { data_collection: 'allow', zdr: false } })).toMatchObject({
      ...ok,
      models: ['careless'],
    })
    for (const svc of [{ zero_retention: 'yes' }, { zeroRetention: 1 }, { regions: [] }, { regions: 'eu' }])
      expect(await asked({ svc })).toMatchObject({ status: 400, models: [] })
  })

  test('empty routing fields are accepted', async () => {
    const told = await send(format, modelAt('messages'), { route: 'fallback', transforms: [], provider: {} })
    expect(told).toMatchObject({ status: 200, leftOut: null })
  })

  test.each<[JsonObject, string]>([
    [{ provider: { only: ['nobody'] } }, 'provider.only names providers that do not exist: nobody. There are'],
    [{ provider: { quantizations: ['fp8'] } }, 'provider.quantizations is not known; provider takes order'],
    [{ provider: { sort: 'best' } }, 'provider.sort'],
    [{ provider: 'openai' }, 'provider'],
    [{ provider: { max_price: { request: 1 } } }, 'provider.max_price.request'],
    [{ provider: { order: ['messages'] }, svc: { sort: 'price' } }, 'provider says what svc.providers'],
    [{ route: 'random' }, 'route'],
    [{ models: 'svc/messages' }, 'models'],
    [{ models: ['svc/none'] }, 'svc/none'],
    [{ models: ['svc/messages'], fallback: ['svc/messages'] }, 'models and fallback mean the same'],
  ])('the routing fields %j are refused', async (words, message) => {
    const calls = gateway.upstream.calls.length
    const told = await send(format, modelAt('messages'), words)
    expect([told.status === 400 || told.status === 404, told.text]).toEqual([true, expect.stringContaining(message)])
    expect(gateway.upstream.calls).toHaveLength(calls)
  })

  test('a web search with any model is refused', async () => {
    const told = await send(format, `${modelAt('messages')}:online`)
    expect(told).toMatchObject({ status: 400, text: expect.stringContaining('(:online) is not offered here') })
  })

  test('no provider gets the fields models, route, provider and transforms', async () => {
    for (const provider of FORMAT_NAMES) {
      await send(format, modelAt(provider), {
        models: [modelAt('messages')],
        route: 'fallback',
        provider: { sort: 'price' },
      })
      const sent = gateway.upstream.calls.at(-1)?.body ?? {}
      for (const word of ['models', 'route', 'provider', 'transforms']) expect(sent).not.toHaveProperty(word)
    }
  })
})

test.each(['chat-completions', 'responses'] as const)('`fallbacks` of names are tried in turn: %s', async (format) => {
  const told = await send(format, `svc/broken-${format}`, { fallbacks: [modelAt('responses')] })
  expect(told).toMatchObject({ status: 200, by: modelAt('responses'), leftOut: null })
  const wrong = await send(format, modelAt('messages'), { fallbacks: [{ 'gpt-4': ['gpt-3'] }] })
  expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining('fallbacks') })
})

test.each(['chat-completions', 'messages', 'responses'] as const)(
  '%s: without `model`, the first of `models` is the model',
  async (format) => {
    const broken = `svc/broken-${format}`
    const [first, second] = [modelAt('messages'), modelAt('responses')]
    const answering = async (models: string[], model?: null) => {
      const told = await send(format, '', { model, models })
      return [told.status, told.by]
    }
    expect(await answering([first, second])).toEqual([200, first])
    expect(await answering([second, first], null)).toEqual([200, second])
    expect(await answering([broken, second])).toEqual([200, second])
    expect(await answering([`${first}:floor`])).toEqual([200, first])
    expect(await answering([])).toEqual([400, null])
    expect(await answering(['svc/none', first])).toEqual([404, null])
  },
)

test.each(FORMAT_NAMES)('%s: a transform is refused with the message that none is offered', async (format) => {
  const calls = gateway.upstream.calls.length
  const told = await send(format, modelAt('messages'), { transforms: ['middle-out'] })
  expect(told).toMatchObject({ status: 400, text: expect.stringContaining('transforms: none is offered here') })
  expect(gateway.upstream.calls).toHaveLength(calls)
})

test('plugins are refused with the message that none is offered', async () => {
  const told = await send('chat-completions', modelAt('messages'), { plugins: [{ id: 'web' }] })
  expect(told).toMatchObject({ status: 400, text: expect.stringContaining('plugins: none is offered here') })
})
