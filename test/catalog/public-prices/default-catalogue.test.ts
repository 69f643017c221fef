/** The default catalogue equals what `catalog suggest` writes for each model: quirks, limits, capabilities and costs. */
import { expect, test } from 'bun:test'
import { suggestModels } from '@/catalog/public-prices/suggest-models'
import { suggestedProvider } from '@/catalog/public-prices/suggested-providers'
import { assert } from '@/lib/assert'
import { isJsonObject, type JsonObject } from '@/lib/json'

const DEFAULT = await Bun.file('config/catalog.json').json()
const VENDORS: Readonly<Record<string, string>> = { provider1: 'openai', provider2: 'anthropic', provider3: 'google' }
const DAY = '2026-11-28'

test.each(Object.entries(VENDORS))(
  'the default catalogue calls %s with the same settings that catalog suggest writes for %s',
  (number, vendor) => {
    const { apiVersion: _, ...entry } = DEFAULT.providers[number]
    expect(entry).toEqual(suggestedProvider(vendor)?.entry)
  },
)

test.each((DEFAULT.models as JsonObject[]).map((model) => [String(model.id), model] as const))(
  'the default catalogue’s entry of %s equals the suggested entry',
  (_, model) => {
    const [target] = model.targets as { provider: string; model: string; quirks?: string[] }[]
    assert(target, 'a target')
    const provider = suggestedProvider(VENDORS[target.provider] ?? '')
    assert(provider, 'a vendor')
    const wish = { service: 'svc', marginPercent: 0, day: DAY, all: false }
    const { models } = suggestModels(provider, [{ id: target.model }], wish).file ?? {}
    const [entry] = Array.isArray(models) ? models : []
    assert(isJsonObject(entry) && isJsonObject(entry.pricing) && isJsonObject(model.pricing), 'an entry')
    expect(model.aliases).toContain(target.model)
    for (const field of ['kind', 'source', 'contextLength', 'capabilities', 'tokenizerSafetyFactor']) {
      expect([field, model[field]]).toEqual([field, entry[field]])
    }
    const [suggested] = entry.targets as { quirks?: string[] }[]
    expect(target.quirks).toEqual(suggested?.quirks)
    expect(Number(model.maxOutputTokens ?? 0)).toBeLessThanOrEqual(Number(entry.maxOutputTokens ?? 0))
    expect(costsOf(model.pricing)).toEqual(costsOf(entry.pricing))
    expect(model.pricing.toolPrices).toEqual(entry.pricing.toolPrices)
  },
)

/** A price may be above its cost, because it is known to rise. */
function costsOf({ steps = [], ...base }: JsonObject): JsonObject[] {
  const lists = [base, ...(steps as JsonObject[])]
  return lists.map((list) => Object.fromEntries(Object.entries(list).filter(([name]) => /^(?:cost|above)/.test(name))))
}
