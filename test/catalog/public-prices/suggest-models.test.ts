/** Entries that are suggested from public prices: sound once their gaps are filled, sold at no loss, and without a guess. */
import { describe, expect, test } from 'bun:test'
import { dependencies } from '#package.json'
import { loadCatalog } from '@/catalog/catalog'
import { PRESETS } from '@/catalog/dialects/presets'
import { modelsAtALoss } from '@/catalog/losses'
import { RELEASED, suggestedProviders, suggestModels } from '@/catalog/public-prices/suggest-models'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'

const DAY = '2026-11-24'
const WISH = { service: 'svc', marginPercent: 20, day: DAY }

function suggested(name: string, more: Partial<typeof WISH> & { only?: string[] } = {}) {
  const suggestion = suggestModels(name, { ...WISH, ...more })
  assert(suggestion, `prices of ${name} are listed`)
  return suggestion
}

/** What an operator fills in. */
const filled = (model: JsonObject): JsonObject => ({
  ...{ created: 1, maxOutputTokens: 1_000, contextLength: 1_000_000, capabilities: [] },
  ...model,
})

test('the day of the prices is the one of the version in use', () => {
  expect(dependencies['@pydantic/genai-prices']).toBe(RELEASED.version)
  expect(suggested('groq').source).toBe('@pydantic/genai-prices 0.1.8, released on 2026-09-23')
})

test('vendors and services whose prices are listed are known by name', () => {
  expect(suggestedProviders()).toEqual(
    expect.arrayContaining(['anthropic', 'azure', 'bedrock', 'deepseek', 'google', 'groq', 'openai', 'vertex']),
  )
  for (const name of ['ollama', 'vllm', 'lmstudio', 'nobody', '__proto__']) {
    expect(suggestModels(name, WISH)).toBeUndefined()
  }
})

describe.each(suggestedProviders())('what is suggested for %s', (name) => {
  test('is a sound catalogue once its gaps are filled, and nothing of it is sold at a loss', () => {
    for (const marginPercent of [0, 20]) {
      const suggestion = suggested(name, { marginPercent })
      expect(suggestion.models.length + suggestion.leftOut.length).toBeGreaterThan(0)
      if (suggestion.models.length === 0) continue
      const file = {
        ...{ service: 'svc', providers: suggestion.providers },
        models: suggestion.models.map(filled),
      }
      const text = JSON.stringify(file).replaceAll(/\$\{\w+\}/g, 'a-key')
      const loaded = loadCatalog(text, {})
      expect(loaded).toMatchObject({ kind: 'loaded', withoutKey: [], notOffered: [] })
      if (loaded.kind === 'loaded') expect(modelsAtALoss(loaded.catalog)).toEqual([])
    }
  })

  test('names each gap, and fills in nothing that nobody lists', () => {
    const { models, open } = suggested(name)
    expect(open.map(({ model }) => model)).toEqual(models.map(({ id }) => String(id)))
    for (const [index, model] of models.entries()) {
      const fields = open[index]?.fields ?? []
      for (const field of ['created', 'maxOutputTokens', 'capabilities', 'contextLength']) {
        expect(fields.includes(field)).toBe(model[field] === undefined)
      }
    }
  })
})

test('a price is its cost with the margin, and no cent below it', () => {
  const [model] = suggested('anthropic', { only: ['claude-sonnet-4-5'], marginPercent: 12.5 }).models
  expect(model).toMatchObject({
    ...{ id: 'svc/claude-sonnet-4-5', ownedBy: 'anthropic' },
    targets: [{ provider: 'anthropic', model: 'claude-sonnet-4-5' }],
    pricing: {
      ...{ inputPer1mTokens: 3.375, outputPer1mTokens: 16.875, cacheReadPer1mTokens: 0.3375 },
      ...{ costPer1mInputTokens: 3, costPer1mOutputTokens: 15, costPer1mCacheReadTokens: 0.3 },
      steps: [{ aboveInputTokens: 200_000, costPer1mInputTokens: 6 }],
    },
  })
})

test('what is left out says why', () => {
  const { models, leftOut } = suggested('openai', { only: ['text-embedding-3-small', 'gpt-0'] })
  expect(models).toEqual([])
  expect(leftOut).toEqual([
    { model: 'text-embedding-3-small', why: 'no price of output is listed: it may embed, or be paid by another unit' },
    { model: 'gpt-0', why: 'nobody lists it' },
  ])
})

test('a unit beside text that has a price is named, so that nobody sells it by mistake', () => {
  const { open } = suggested('google', { only: ['gemini-2.5-flash'] })
  expect(open[0]?.fields).toContain('a price for input_audio_mtok, or nothing that costs it')
})

test('every preset of a cloud is listed by somebody, or by nobody on purpose', () => {
  const unlisted = [...PRESETS.keys()].filter((name) => !suggestedProviders().includes(name))
  expect(unlisted).toEqual(['foundry', 'llama.cpp', 'lmstudio', 'ollama', 'sglang', 'vllm'])
})
