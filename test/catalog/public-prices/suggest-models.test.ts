/** Catalogue entries suggested from public data: valid, sold at no loss, and without guesses. */
import { describe, expect, test } from 'bun:test'
import { dependencies } from '#package.json'
import { loadCatalog } from '@/catalog/catalog'
import { PRESETS } from '@/catalog/dialects/presets'
import { modelsAtALoss } from '@/catalog/losses'
import { RELEASED } from '@/catalog/public-prices/listing'
import { type ListedModel, suggestModels } from '@/catalog/public-prices/suggest-models'
import { publicModels, suggestedProvider, suggestedProviders } from '@/catalog/public-prices/suggested-providers'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject } from '@/lib/json'

const WISH = { service: 'svc', marginPercent: 20, day: '2026-11-24', all: false }

function suggested(name: string, listed: readonly ListedModel[] | undefined, more: Partial<typeof WISH> = {}) {
  const provider = suggestedProvider(name, PRESETS.get(name)?.needs?.startsWith('baseUrl') ? 'https://host' : undefined)
  assert(provider, `prices of ${name} are listed`)
  return suggestModels(provider, listed ?? publicModels(provider), { ...WISH, ...more })
}

function entryOf(name: string, model: ListedModel, more: Partial<typeof WISH> = {}): JsonObject {
  const { models } = suggested(name, [model], more).file ?? {}
  const [entry] = Array.isArray(models) ? models : []
  assert(isJsonObject(entry), `${model.id} is offered`)
  return entry
}

test('the first price source is dated with the day of its installed version', () => {
  expect(dependencies['@pydantic/genai-prices']).toBe(RELEASED.version)
})

test('vendors and services with listed prices are found by name', () => {
  expect(suggestedProviders()).toEqual(
    expect.arrayContaining(['anthropic', 'azure', 'bedrock', 'deepseek', 'google', 'groq', 'openai', 'vertex']),
  )
  for (const name of ['ollama', 'vllm', 'lmstudio', 'nobody', '__proto__', '']) {
    expect(suggestedProvider(name)).toBeUndefined()
  }
})

test('each preset has listed prices or is a local server', () => {
  const unlisted = [...PRESETS.keys()].filter((name) => !suggestedProviders().includes(name))
  expect(unlisted).toEqual(['llama.cpp', 'lmstudio', 'ollama', 'sglang', 'vllm'])
})

describe.each(suggestedProviders())('suggested entries for all public models of %s', (name) => {
  test.each([
    [false, 20],
    [true, 0],
  ])(`${name}: the entries are valid and none sells at a loss (all models: %p, margin: %d)`, (all, marginPercent) => {
    const { file, models } = suggested(name, undefined, { marginPercent, all })
    if (!file) return
    const text = JSON.stringify(file).replaceAll(/\$\{[^}:]+\}/g, 'a-key')
    const loaded = loadCatalog(text, {})
    assert(loaded.kind === 'loaded', 'the suggested file is valid')
    expect(loaded).toMatchObject({ withoutKey: [], notOffered: [] })
    expect(loaded.catalog.models.size).toBe(models.length)
    expect(modelsAtALoss(loaded.catalog)).toEqual([])
  })
})

test.each([
  'openai',
  'anthropic',
  'google',
  'mistral',
  'xai',
  'deepseek',
  'vertex',
  'vertex-anthropic',
  'azure',
  'foundry',
  'bedrock-anthropic',
])('some public models of %s get a suggested entry', (name) => {
  expect(suggested(name, undefined).models.length).toBeGreaterThan(0)
})

test('a suggested price is the cost plus the margin, never below cost, with steps and tool prices', () => {
  expect(entryOf('anthropic', { id: 'claude-sonnet-4-5' }, { marginPercent: 12.5 })).toMatchObject({
    ...{ id: 'svc/claude-sonnet-4-5', aliases: ['claude-sonnet-4-5'], ownedBy: 'anthropic' },
    expirationDate: '2026-11-30',
    targets: [{ provider: 'anthropic', model: 'claude-sonnet-4-5', quirks: ['temperature-or-top-p'] }],
    pricing: {
      ...{ inputPer1mTokens: 3.375, outputPer1mTokens: 16.875, cacheReadPer1mTokens: 0.3375 },
      ...{ costPer1mInputTokens: 3, costPer1mOutputTokens: 15, costPer1mCacheReadTokens: 0.3 },
      steps: [{ aboveInputTokens: 200_000, costPer1mInputTokens: 6 }],
      toolPrices: { web_search: { usd: 0.01125, costUsd: 0.01 }, web_fetch: { usd: 0, costUsd: 0 } },
    },
  })
})

test('the second price source adds prices and limits that the first lacks', () => {
  expect(entryOf('anthropic', { id: 'claude-haiku-5-5' }, { marginPercent: 0 })).toMatchObject({
    source: expect.stringMatching(/^prices of 2026-11-24 by litellm .+; limits by litellm /),
    ...{ contextLength: 1_000_000, maxOutputTokens: 128_000 },
    capabilities: ['tools', 'images', 'files', 'reasoning', 'json-schema'],
    pricing: { inputPer1mTokens: 0.1, steps: [{ aboveInputTokens: 100_000, inputPer1mTokens: 0.5 }] },
  })
})

test('the provider’s own smaller limits apply, and always its names and dates', () => {
  const listed = { id: 'claude-opus-5-5', name: 'Opus', created: 5, contextLength: 500_000, maxOutputTokens: 64_000 }
  expect(entryOf('anthropic', listed)).toMatchObject({
    ...{ name: 'Opus', created: 5, contextLength: 500_000, maxOutputTokens: 64_000 },
    source: expect.stringContaining("limits by the provider's list and litellm"),
  })
})

test('a medium with its own price is not among the capabilities', () => {
  expect(entryOf('google', { id: 'gemini-2.5-flash' }).capabilities).not.toContain('audio')
  expect(entryOf('google', { id: 'gemini-3.8-flash' }).capabilities).toContain('audio')
})

test('a model does not get the price of an older generation whose name it begins with', () => {
  expect(entryOf('anthropic', { id: 'claude-sonnet-5-5' }, { marginPercent: 0 })).toMatchObject({
    pricing: { cacheReadPer1mTokens: 0.1 },
  })
  expect(suggested('anthropic', [{ id: 'claude-sonnet-5-9' }]).unknown).toEqual([
    { model: 'claude-sonnet-5-9', missing: ['kind', 'capabilities', 'pricing', 'contextLength', 'maxOutputTokens'] },
  ])
})

test('a model name with a date gets the price of the name without a date', () => {
  expect(entryOf('openai', { id: 'gpt-6-sol-2026-10-01' })).toMatchObject({ contextLength: 1_050_000 })
})

test('only chat and embedding models of the vendor get an entry', () => {
  const ids = ['gemini-4-argon', 'claude-opus-5-5', 'gemini-embedding-001', 'gemini-3.8-flash-tts']
  const { models, unknown } = suggested(
    'google',
    ids.map((id) => ({ id })),
  )
  expect(models).toEqual(['svc/gemini-4-argon', 'svc/gemini-embedding-001'])
  expect(unknown).toEqual([])
})

test('if two model names give the same id, the second is omitted', () => {
  const { unknown } = suggested('openai', [{ id: 'gpt-5.2' }, { id: 'GPT-5.2' }, { id: 'gpt-5.2' }])
  expect(unknown.map(({ model }) => model)).toEqual(['GPT-5.2', 'gpt-5.2'])
})
