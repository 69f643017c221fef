/** Tool prices in the catalogue file: a model's for every target whose format has the tool, replaced by a target's own. */
import { expect, test } from 'bun:test'
import { dearestToolPrices } from '@/catalog/tool-allowance'
import type { Target } from '@/catalog/types'
import { type Json, load, SAMPLE } from './sample-catalog'

const FORMATS = ['chat-completions', 'messages', 'generate-content'] as const

/** The targets of a model at a provider of each format, in the order of the formats. */
function targetsOf(modelPrices: Json | undefined, own: (Json | undefined)[] = []): Target[] {
  const file = structuredClone(SAMPLE) as unknown as {
    providers: Record<string, unknown>
    models: { pricing: Record<string, unknown>; targets: unknown[] }[]
  }
  for (const format of FORMATS) file.providers[format] = { format, baseUrl: 'https://a.example', keys: ['sk-1'] }
  const [model] = file.models
  if (!model) throw new Error('no model')
  if (modelPrices !== undefined) model.pricing.toolPrices = modelPrices
  model.targets = FORMATS.map((provider, index) => ({
    ...{ provider, model: 'm' },
    ...(own[index] !== undefined && { toolPrices: own[index] }),
  }))
  const targets = [...load(JSON.stringify(file)).models.values()][0]?.targets
  if (!targets) throw new Error('no targets')
  return targets
}

const pricesOf = (targets: Target[]) => targets.map(({ toolPrices }) => Object.fromEntries(toolPrices ?? []) as unknown)

test('a tool is sold only if a price is stated', () => {
  expect(pricesOf(targetsOf(undefined))).toEqual([{}, {}, {}])
  expect(targetsOf({})[0]).not.toHaveProperty('toolPrices')
})

test('the model’s tool prices apply to targets whose format has the tool, in nano-USD', () => {
  expect(pricesOf(targetsOf({ web_search: 0.01, google_search: { usd: 0.035, per: 'request', maxUses: 4 } }))).toEqual([
    { web_search: { price: 10_000_000, per: 'use' } },
    { web_search: { price: 10_000_000, per: 'use' } },
    { google_search: { price: 35_000_000, per: 'request', maxUses: 4 } },
  ])
})

test('a target’s own tool prices replace the model’s; an empty object means that no tool has a price', () => {
  const targets = targetsOf({ web_search: 0.01 }, [{}, { web_search: 0.02, web_fetch: 0 }])
  expect(pricesOf(targets)).toEqual([
    {},
    { web_search: { price: 20_000_000, per: 'use' }, web_fetch: { price: 0, per: 'use' } },
    {},
  ])
  expect([...dearestToolPrices(targets)].map(([name, { price }]) => [name, price as number])).toEqual([
    ['web_search', 20_000_000],
    ['web_fetch', 0],
  ])
})
