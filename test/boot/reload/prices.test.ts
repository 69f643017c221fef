/** A price changed while answers run: each is charged by the catalogue that it was planned with. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { until } from '@test/support/until'
import { chatChunk, type LiveStream, liveStream, usageChunk, usageOf } from '@test/support/upstream'
import { answerAtOnce, ask, chargedTo, eventsOf, reload, rewrite, startWorld, type World } from './world'

const CREDIT = 1_000_000_000
const SLOWLY = { stream: true, messages: [{ role: 'user', content: 'slowly' }] }

let world: World
let open: LiveStream[] = []

beforeAll(async () => {
  world = await startWorld((call, index) => {
    if (!call.text.includes('slowly')) return answerAtOnce(call, index)
    const stream = liveStream()
    open.push(stream)
    stream.write(`data: ${JSON.stringify(chatChunk({ role: 'assistant', content: 'slow' }))}\n\n`)
    return stream.response
  })
})
afterAll(() => world.stop())

/** Ends the one open stream: ten tokens in, a hundred out. */
function finish(): void {
  const [stream] = open
  const events = [chatChunk({}, 'stop'), usageChunk(usageOf(10, 100))].map((event) => JSON.stringify(event))
  for (const event of [...events, '[DONE]']) stream?.write(`data: ${event}\n\n`)
  stream?.close()
  open = []
}

/** Ten times as dear. */
function raise(file: { models: Record<string, unknown>[] }): void {
  const pricing = file.models[0]?.pricing as Record<string, number>
  for (const name of Object.keys(pricing)) pricing[name] = (pricing[name] ?? 0) * 10
}

test('an open stream keeps the prices of its start; a new request has the new prices at once', async () => {
  const { gateway } = world
  const [early, late] = [await gateway.customer('1'), await gateway.customer('1')]
  const streaming = await ask(gateway, early.key, SLOWLY)
  const held = (await gateway.balance(early.accountId)).held
  await rewrite(gateway, raise)
  await reload(gateway)
  expect((await gateway.balance(early.accountId)).held).toBe(held)
  expect((await ask(gateway, late.key)).status).toBe(200)
  expect(await chargedTo(gateway, late.accountId, CREDIT)).toBe(10 * 10_000 + 5 * 20_000)
  finish()
  expect(await streaming.text()).toEndWith('[DONE]\n\n')
  expect(await chargedTo(gateway, early.accountId, CREDIT)).toBe(10 * 1_000 + 100 * 2_000)
  const listed = (await (await fetch(`${gateway.url}/v1/models`)).json()) as { data: { pricing: object }[] }
  expect(listed.data[0]?.pricing).toMatchObject({ input_per_1m_tokens: 10, output_per_1m_tokens: 20 })
  const [line] = eventsOf(gateway, 'catalog_reloaded')
  expect(line).toMatchObject({
    changes: expect.arrayContaining([{ what: 'model svc/alpha price input', before: '$1', after: '$10' }]),
  })
  expect(eventsOf(gateway, 'price_below_cost')).toEqual([])
})

test('a fallback after a reload uses the catalogue of the request’s plan', async () => {
  const { gateway } = world
  await rewrite(gateway, (file) => {
    const [first] = file.models
    file.models.push({
      ...first,
      id: 'svc/beta',
      name: 'Beta',
      targets: [{ provider: 'provider1', model: 'beta-upstream' }],
    })
    Object.assign(first ?? {}, { fallback: ['svc/beta'] })
  })
  await reload(gateway)
  const customer = await gateway.customer('1')
  const asked = Promise.withResolvers<void>()
  const refusal = Promise.withResolvers<void>()
  gateway.upstream.respond(async (call, index) => {
    if (call.body.model !== 'alpha-upstream') return answerAtOnce(call, index)
    asked.resolve()
    await refusal.promise
    return Response.json({ error: { message: 'no such model' } }, { status: 404 })
  })
  const answering = ask(gateway, customer.key)
  await asked.promise
  await rewrite(gateway, (file) => {
    file.models = file.models.filter(({ id }) => id === 'svc/alpha')
    for (const model of file.models) Object.assign(model, { fallback: [] })
    raise(file)
  })
  await reload(gateway)
  refusal.resolve()
  const response = await answering
  expect([response.status, response.headers.get('x-svc-model')]).toEqual([200, 'svc/beta'])
  expect(await chargedTo(gateway, customer.accountId, CREDIT)).toBe(10 * 10_000 + 5 * 20_000)
  gateway.upstream.respond(answerAtOnce)
  expect((await ask(gateway, customer.key, { model: 'svc/beta' })).status).toBe(404)
})

test('model lists, examples, limits and provider metrics show the new catalogue after a reload', async () => {
  const { gateway } = world
  await rewrite(gateway, (file) => {
    Object.assign(file.models[0] ?? {}, { id: 'svc/gamma', name: 'Gamma' })
    for (const tier of file.tiers) Object.assign(tier, { candidates: ['svc/gamma'] })
    file.limits.requestsPerMinute = 1
    file.providers.provider2 = { ...file.providers.provider1 }
    const cost = { costPer1mInputTokens: 1_000, costPer1mOutputTokens: 1_000 }
    Object.assign(file.models[0] ?? {}, { targets: [{ provider: 'provider2', model: 'gamma-upstream', cost }] })
  })
  await reload(gateway)
  expect(eventsOf(gateway, 'price_below_cost')).toMatchObject([{ model: 'svc/gamma' }])
  const textOf = async (path: string) => (await fetch(gateway.url + path)).text()
  for (const path of ['/v1/models', '/v1beta/models', '/docs/json']) {
    expect(await textOf(path)).toContain('svc/gamma')
  }
  for (const path of ['/v1/models', '/v1beta/models']) expect(await textOf(path)).not.toContain('svc/alpha')
  expect(await textOf('/metrics')).toContain('svc_provider_key_refused_total{provider="provider2"} 0')
  const { key } = await gateway.customer('1')
  const statuses = [await ask(gateway, key, { model: 'auto-smart' }), await ask(gateway, key, { model: 'svc/gamma' })]
  expect(statuses.map(({ status }) => status)).toEqual([200, 429])
})

test('a faulty catalogue file changes nothing, and log and metrics report it', async () => {
  const { gateway } = world
  const before = gateway.gateway.deps.catalog.current
  const counts = () => gateway.gateway.deps.reloads?.state().reloads
  const { taken, refused } = counts() ?? { taken: 0, refused: 0 }
  await rewrite(gateway, (file) => {
    Object.assign(file.models[0] ?? {}, { contextLength: -1 })
    file.service = 'other'
  })
  await reload(gateway)
  expect(gateway.gateway.deps.catalog.current).toBe(before)
  const line = await until(() => eventsOf(gateway, 'catalog_refused')[0], 'the log line')
  expect(JSON.stringify(line)).toContain('models[0].contextLength')
  expect(counts()).toMatchObject({ taken, refused: refused + 1 })
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(metrics).toContain('svc_catalog_reloads_total{outcome="refused"} 1')
  expect(metrics).toMatch(/svc_catalog_info\{hash="[0-9a-f]{16}"\} 1/)
  await rewrite(gateway, (file) => {
    Object.assign(file.models[0] ?? {}, { contextLength: 1_000 })
  })
  await reload(gateway)
  expect(gateway.gateway.deps.catalog.current).toBe(before)
  expect(JSON.stringify(eventsOf(gateway, 'catalog_refused')[1])).toContain('service')
})
