/** Generations of models by name, and the warning that a sold model has a newer one. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { loadWithAllKeys } from '@test/public-prices/load'
import { generationOf, isPreview, isSameGeneration } from '@/catalog/public-prices/generations'
import { newerGenerations } from '@/catalog/public-prices/newer-generations'

const DAY = '2026-11-28'
const catalog = await loadWithAllKeys(join(import.meta.dir, '../../../config/catalog.json'))

test.each([
  ['gpt-6.1-sol', 'gpt sol', 6.1],
  ['gpt-6-sol-2026-10-01', 'gpt sol', 6],
  ['claude-opus-5-5', 'claude opus', 5.5],
  ['claude-3-5-haiku-latest', 'claude haiku', 3.5],
  ['claude-haiku-4-5-20251001', 'claude haiku', 4.5],
  ['gemini-2.5-flash-preview-09-2025', 'flash gemini', 2.5],
  ['gemini-2.5-pro-preview-05-06', 'gemini pro', 2.5],
  ['o4-mini-2025-04-16', 'mini o', 4],
  ['moonshotai/kimi-k2.6', 'k kimi', 2.6],
])('the name %s belongs to the model line %s, version %d', (name, line, version) => {
  expect(generationOf(name)).toEqual({ line, version })
})

test.each(['gpt-4o', 'mistral-large-2512', 'openai/gpt-oss-120b', ''])('the name "%s" has no version', (name) => {
  expect(generationOf(name)).toBeUndefined()
})

test('a model name with a date is the same generation as the name without a date', () => {
  expect(isSameGeneration('claude-haiku-4-5', 'claude-haiku-4-5-20251001')).toBe(true)
  expect(isSameGeneration('claude-sonnet-5', 'claude-sonnet-5-5')).toBe(false)
  expect(isSameGeneration('gpt-5.6-sol', 'gpt-5.6')).toBe(false)
  expect([isPreview('gemini-3.1-pro-preview'), isPreview('gpt-6-sol')]).toEqual([true, false])
})

/** The default catalogue with another model behind `svc/alpha`. */
function selling(model: string) {
  const alpha = catalog.models.get('svc/alpha')
  if (!alpha) throw new Error('no svc/alpha')
  const targets = alpha.targets.map((target) => ({ ...target, model }))
  return { ...catalog, models: new Map([[alpha.id, { ...alpha, targets }]]) }
}

test.each([
  ['gpt-5.6-sol', 'gpt-6.1-sol'],
  ['claude-opus-4-8', 'claude-opus-5-5'],
  ['global.anthropic.claude-opus-4-6-v1:0', 'claude-opus-5-5'],
  ['gemini-2.5-flash', 'gemini-3.8-flash'],
  ['grok-4.20', 'grok-4.7'],
])('catalog check finds a newer generation of %s: %s', (model, newer) => {
  expect(newerGenerations(selling(model), DAY)).toEqual([
    { place: 'svc/alpha', message: `${model} has a newer generation: ${newer}` },
  ])
})

test.each(['gpt-6.1-sol', 'gpt-4o', 'a-model-of-nobody', 'gemini-embedding-001'])(
  '%s: catalog check finds no newer generation',
  (model) => {
    expect(newerGenerations(selling(model), DAY)).toEqual([])
  },
)

test('the default catalogue sells the newest generation', () => {
  expect(newerGenerations(catalog, DAY)).toEqual([])
})
