/** Arbitrary catalogue files: loading never crashes, and all offered models can be sold. */
import { describe, expect, test } from 'bun:test'
import { fc } from '@test/support/property'
import { loadCatalog } from '@/catalog/catalog'
import { worstCaseCost } from '@/catalog/price'
import type { Catalog } from '@/catalog/types'
import { ALL_KEYS, type Json, SAMPLE, spoil, variable } from './sample-catalog'

/** Every place in a JSON value, as dotted paths. */
function placesOf(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => [prefix + key, ...placesOf(part, `${prefix}${key}.`)])
}

function expectSellable(catalog: Catalog): void {
  for (const model of catalog.models.values()) {
    expect(model.targets.length).toBeGreaterThan(0)
    expect(Number.isSafeInteger(worstCaseCost(model.pricing, model.contextLength, model.maxOutputTokens))).toBe(true)
    for (const { provider } of model.targets) expect(catalog.providers.get(provider.name)).toBe(provider)
    for (const id of model.fallback) expect(catalog.models.has(id)).toBe(true)
  }
  for (const tier of catalog.tiers.values()) {
    expect(tier.candidates.length).toBeGreaterThan(0)
    for (const model of tier.candidates) expect(catalog.models.get(model.id)).toBe(model)
  }
  for (const provider of catalog.providers.values()) {
    expect(provider.keys.length).toBeGreaterThan(0)
    expect(URL.canParse(`${provider.baseUrl}/path`)).toBe(true)
  }
}

describe('arbitrary files', () => {
  test('any text as a catalogue file is accepted or refused without a crash', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const result = loadCatalog(text, ALL_KEYS)
        expect(result.kind).toBe('faulty')
        expect(result.kind === 'faulty' && result.faults.length).toBeGreaterThan(0)
      }),
    )
  })

  test('a catalogue file with any value at any place is accepted or refused, and offers only valid models', () => {
    const value = fc.oneof(
      fc.jsonValue() as fc.Arbitrary<Json>,
      fc.constantFrom<Json>('', 0, -1, 1e308, [], {}, null, 'svc/alpha', 'constructor', '${', variable('A:-'), 0.1),
      fc.constant(undefined),
    )
    fc.assert(
      fc.property(fc.constantFrom(...placesOf(SAMPLE)), value, fc.boolean(), (place, wrong, hasKeys) => {
        const result = loadCatalog(spoil(place, wrong), hasKeys ? ALL_KEYS : {}, {
          sandboxBaseUrl: 'http://127.0.0.1:9',
        })
        if (result.kind === 'loaded') expectSellable(result.catalog)
        if (result.kind === 'faulty') for (const fault of result.faults) expect(fault.message).not.toContain('key-')
      }),
      { numRuns: 3000 },
    )
  })

  test('all models of a valid file are offered', () => {
    const result = loadCatalog(JSON.stringify(SAMPLE), ALL_KEYS)
    if (result.kind !== 'loaded') throw new Error(result.kind)
    expectSellable(result.catalog)
  })
})
