/** The list of models is correct: capabilities, prices, and filters. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { OpenRouter } from '@openrouter/sdk'
import type { Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { fc } from '@test/support/property'
import { FORMATS } from '@/formats/index'
import { ModelEntry } from '@/http/model-entry'
import { modelListSchema } from '@/http/model-list'
import { formatTokenPrice, type Pico } from '@/lib/money'

type Entry = Static<typeof ModelEntry>
let gateway: TestGateway
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Response(),
    catalog(file) {
      const [alpha] = file.models
      const { provider1 } = file.providers
      const root = String(provider1?.baseUrl).replace(/\/v1$/, '')
      file.providers.provider2 = { ...provider1, format: 'messages', baseUrl: root, keys: ['sk-two-canary'] }
      const target = { provider: 'provider2', model: 'm' }
      const own = { provider: 'provider1', model: 'm' }
      file.models = [
        { ...alpha, expirationDate: '2027-01-31' },
        { ...alpha, id: 'svc/mixed', targets: [own, target], capabilities: ['audio'] },
        { ...alpha, id: 'svc/calm', targets: [{ ...own, quirks: ['no-sampling'] }] },
        {
          ...{ id: 'svc/embed', kind: 'embedding', name: 'Embed', created: 1, ownedBy: 'provider1' },
          ...{ targets: [{ provider: 'provider1', model: 'e' }], pricing: { inputPer1mTokens: 0.02 } },
          contextLength: 8_000,
        },
      ]
      file.tiers = [{ ...file.tiers[0], candidates: ['svc/alpha', 'svc/mixed'] }]
    },
  })
  customer = await gateway.customer('100000')
})
afterAll(() => gateway.stop())

async function list(query = '') {
  const response = await fetch(`${gateway.url}/v1/models${query}`)
  return (await response.json()) as { data: Entry[]; models: { name: string }[]; total_count: number; first_id: string }
}

async function entryOf(id: string): Promise<Entry> {
  const found = (await list()).data.find((entry) => entry.id === id)
  return found ?? expect.unreachable(`${id} is listed`)
}

test('each model’s entry has the fields of its schema, in the list and alone', async () => {
  const { data } = await list()
  expect([...Value.Errors(modelListSchema(FORMATS.values()), await list())].map(({ path }) => path)).toEqual([])
  const known = new Set(Object.keys(ModelEntry.properties))
  for (const entry of data) expect(Object.keys(entry).filter((field) => !known.has(field))).toEqual([])
  const response = await fetch(`${gateway.url}/v1/models/svc/alpha`)
  expect(await response.json()).toMatchObject(await entryOf('svc/alpha'))
})

test('a model’s entry has its capabilities and sizes', async () => {
  const alpha = await entryOf('svc/alpha')
  expect(alpha).toMatchObject({
    ...{ aliases: [], capabilities: ['tools', 'images', 'reasoning', 'json-schema'], max_output_tokens: 32_768 },
    ...{ context_length: 256_000, expiration_date: '2027-01-31', canonical_slug: 'svc/alpha' },
    architecture: { modality: 'text+image->text', input_modalities: ['text', 'image'], output_modalities: ['text'] },
    top_provider: { context_length: 256_000, max_completion_tokens: 32_768, is_moderated: false },
    pricing: {
      ...{ input_per_1m_tokens: 1, output_per_1m_tokens: 2, currency: 'USD', steps: [] },
      ...{ cache_read_per_1m_tokens: 0.1, cache_write_per_1m_tokens: 1.25, cache_write_1h_per_1m_tokens: 2 },
      ...{ prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001', input_cache_write: '0.00000125' },
    },
  })
  expect(alpha.supported_parameters).toEqual(
    expect.arrayContaining(['temperature', 'tools', 'tool_choice', 'response_format', 'structured_outputs', 'stop']),
  )
})

test('parameters that the provider or the model does not support are not in supported_parameters', async () => {
  const mixed = await entryOf('svc/mixed')
  expect(mixed.architecture.input_modalities).toEqual(['text', 'audio'])
  for (const field of ['seed', 'tools', 'reasoning_effort', 'structured_outputs'])
    expect([field, mixed.supported_parameters.includes(field)]).toEqual([field, false])
  const calm = await entryOf('svc/calm')
  expect(calm.supported_parameters).not.toContain('temperature')
})

test('an embedding model’s output is embeddings, a tier’s output is that of its candidates', async () => {
  expect(await entryOf('svc/embed')).toMatchObject({
    ...{ kind: 'embedding', max_output_tokens: null, capabilities: [] },
    architecture: { modality: 'text->embeddings', input_modalities: ['text'], output_modalities: ['embeddings'] },
    ...{
      supported_parameters: ['dimensions', 'encoding_format', 'user'],
      top_provider: { max_completion_tokens: null },
    },
    pricing: { prompt: '0.00000002', completion: '0', input_cache_read: '0.00000002' },
  })
  expect(await entryOf('auto-smart')).toMatchObject({
    ...{ pricing: null, max_output_tokens: 32_768, expiration_date: null },
    capabilities: ['tools', 'images', 'audio', 'reasoning', 'json-schema'],
  })
})

describe('filters', () => {
  const idsOf = async (query: string) => (await list(query)).data.map(({ id }) => id)

  test('the parameter filter of the model list keeps entries with all of the given parameters', async () => {
    const all = (await list()).data
    for (const fields of ['tools', 'tools,temperature', 'seed', 'tools&supported_parameters=seed']) {
      const wanted = fields.split(/,|&supported_parameters=/)
      const able = all.filter(({ supported_parameters: own }) => wanted.every((field) => own.includes(field)))
      expect(await idsOf(`?supported_parameters=${fields}`)).toEqual(able.map(({ id }) => id))
      expect(able.length).toBeGreaterThan(0)
      expect(able.length).toBeLessThan(all.length)
    }
  })

  test('the modality filter of the model list keeps entries with one of the given modalities', async () => {
    expect(await idsOf('?output_modalities=embeddings')).toEqual(['svc/embed'])
    const everything = await idsOf('')
    expect(await idsOf('?output_modalities=text')).toEqual(everything.filter((id) => id !== 'svc/embed'))
    for (const all of ['text,embeddings', 'all', '', ','])
      expect(await idsOf(`?output_modalities=${all}`)).toEqual(everything)
  })

  test('both filters of the model list can be combined, also in lists of other formats', async () => {
    const query = '?supported_parameters=temperature&output_modalities=text'
    const { data, models, total_count: count, first_id: first } = await list(query)
    expect(models.map(({ name }) => name)).toEqual(data.map(({ id }) => `models/${id}`))
    expect([count, first]).toEqual([data.length, data[0]?.id ?? ''])
    const own = (await (await fetch(`${gateway.url}/v1beta/models${query}`)).json()) as { models: unknown[] }
    expect(own.models).toEqual(models)
  })

  test('unknown values of a filter give an empty model list', async () => {
    for (const query of [
      '?supported_parameters=nonsense',
      '?output_modalities=smell',
      '?supported_parameters=__proto__',
    ])
      expect(await list(query)).toMatchObject({ data: [], models: [], total_count: 0, first_id: null, last_id: null })
  })
})

test('an invalid filter of the model list is refused by its name', async () => {
  for (const name of ['supported_parameters', 'output_modalities']) {
    const response = await fetch(`${gateway.url}/v1/models?${name}=%00`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: name } })
  }
})

test('OpenRouter’s library reads the list, including prices of tiers', async () => {
  const sdk = new OpenRouter({ apiKey: customer.key, serverURL: `${gateway.url}/v1` })
  const { result } = await sdk.models.list()
  const ids = (await list()).data.map(({ id }) => id)
  expect(result.data.map(({ id }) => id)).toEqual(ids)
  const priceOf = (id: string) => result.data.find((model) => model.id === id)?.pricing.prompt
  expect([priceOf('auto-smart'), priceOf('svc/alpha')]).toEqual(['-1', '0.000001'])
})

test('a listed price per token is exact', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), (pico) => {
      const [whole = '', fraction = ''] = formatTokenPrice(pico as Pico).split('.')
      expect(BigInt(whole) * 10n ** 12n + BigInt(fraction.padEnd(12, '0'))).toBe(BigInt(pico))
    }),
  )
})
