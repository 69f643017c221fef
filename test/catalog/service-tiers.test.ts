/** Service tiers in the catalogue file: prices, costs, and the targets that can be asked for them. */
import { describe, expect, test } from 'bun:test'
import { documentedBlocks } from '@test/deploy/documents/blocks'
import { changesBetween } from '@/catalog/changes'
import { modelsAtALoss } from '@/catalog/losses'
import type { Model } from '@/catalog/types'
import { faultsOf, type Json, load, SAMPLE } from './sample-catalog'

const FLEX = { inputPer1mTokens: 1.25, outputPer1mTokens: 5 }

type File = {
  providers: Record<string, unknown>
  models: { pricing: Record<string, unknown>; targets: Record<string, unknown>[] }[]
}

/** The sample with `pricing` added to the first model's, and with these targets. */
function fileWith(pricing: Json, targets?: Json[]): string {
  const file = structuredClone(SAMPLE) as unknown as File
  const [model] = file.models
  if (!model) throw new Error('no model')
  Object.assign(model.pricing, pricing)
  file.providers.gemini = { format: 'generate-content', baseUrl: 'https://a.example', keys: ['key'] }
  file.providers.vertex = { format: 'generate-content', dialect: 'vertex', baseUrl: 'https://a.example', keys: ['key'] }
  file.providers.converse = {
    format: 'messages',
    dialect: 'bedrock-converse',
    baseUrl: 'https://a.example',
    keys: ['key'],
  }
  if (targets) model.targets = targets as Record<string, unknown>[]
  return JSON.stringify(file)
}

function alphaOf(text: string): Model {
  const model = load(text).models.get('svc/alpha')
  if (!model) throw new Error('no svc/alpha')
  return model
}

const at = (provider: string, more: Json = {}) => ({ provider, model: 'm', ...(more as object) }) as Json

describe('a service tier', () => {
  test('a service tier has its own price list with steps, and cache prices derived from its own input price', () => {
    const steps = [{ aboveInputTokens: 1000, inputPer1mTokens: 2, outputPer1mTokens: 9 }]
    const { pricing } = alphaOf(fileWith({ serviceTiers: { flex: { ...FLEX, steps } } }))
    expect(pricing.serviceTiers?.get('flex') as unknown).toEqual({
      base: { input: 1.25e6, cacheRead: 1.25e6, cacheWrite5m: 1_562_500, cacheWrite1h: 2.5e6, output: 5e6 },
      steps: [{ aboveInputTokens: 1000, prices: expect.objectContaining({ input: 2e6, output: 9e6 }) }],
    })
    expect(alphaOf(fileWith({})).pricing).not.toHaveProperty('serviceTiers')
  })

  test('a service tier is requested only from targets whose format or dialect has the field, or that list the tier', () => {
    const targets = ['provider1', 'provider2', 'gemini', 'vertex', 'converse'].map((name) => at(name))
    const named = [at('provider1', { serviceTiers: [] }), at('converse', { serviceTiers: ['priority'] })]
    const serviceTiers = { flex: FLEX, priority: FLEX }
    const askable = (text: string) =>
      alphaOf(text).targets.map((target) => [target.provider.name, [...(target.serviceTiers ?? [])]])
    expect(askable(fileWith({ serviceTiers }, targets))).toEqual([
      ['provider1', ['flex', 'priority']],
      ['provider2', []],
      ['gemini', ['flex', 'priority']],
      ['vertex', []],
      ['converse', ['flex', 'priority']],
    ])
    expect(askable(fileWith({ serviceTiers }, named))).toEqual([
      ['provider1', []],
      ['converse', ['priority']],
    ])
  })

  test.each(['standard', 'default', 'auto', 'standard_only'])('the tier name %s is refused', (name) => {
    expect(faultsOf(fileWith({ serviceTiers: { [name]: FLEX } }))).toEqual([
      `models[0].pricing.serviceTiers.${name}: is not the name of a tier beside the standard one`,
    ])
  })

  test('a service tier with a bad name, or requested from a target without its price, is refused', () => {
    expect(faultsOf(fileWith({ serviceTiers: { flex: { inputPer1mTokens: 1 } } }))).toHaveLength(1)
    expect(faultsOf(fileWith({ serviceTiers: { 'Flex!': FLEX } }))).toHaveLength(1)
    expect(faultsOf(fileWith({ serviceTiers: { flex: FLEX } }, [at('provider1', { serviceTiers: ['fast'] })]))).toEqual(
      ["models[0].targets[0].serviceTiers: fast has no price in the model's pricing.serviceTiers"],
    )
  })
})

describe('the cost of a service tier', () => {
  const COST = { costPer1mInputTokens: 1, costPer1mOutputTokens: 5 }

  test('the cost of a service tier is stated in the tier or the target, otherwise unknown', () => {
    const both = { ...COST, serviceTiers: { flex: { ...FLEX, ...COST }, priority: FLEX } } as Json
    const [first] = alphaOf(fileWith(both)).targets
    expect([...(first?.cost?.serviceTiers?.keys() ?? [])]).toEqual(['flex'])
    const cost = { ...COST, serviceTiers: { priority: COST } }
    const [own] = alphaOf(fileWith(both, [at('provider1', { cost })])).targets
    expect([...(own?.cost?.serviceTiers?.keys() ?? [])]).toEqual(['priority'])
  })

  test('a service tier’s cost is refused without the cost of the standard tier', () => {
    expect(faultsOf(fileWith({ serviceTiers: { flex: { ...FLEX, ...COST } } }))).toEqual([
      'models[0].pricing.costPer1mInputTokens: is missing, where the cost of a service tier is named',
    ])
  })

  test('a service tier’s cost above its price is reported as a loss', () => {
    const dear = { costPer1mInputTokens: 2, costPer1mOutputTokens: 5 }
    const file = fileWith({ ...COST, serviceTiers: { flex: { ...FLEX, ...dear } } } as Json, [at('provider1')])
    expect(modelsAtALoss(load(file))).toEqual([
      {
        model: 'svc/alpha',
        losses: expect.arrayContaining(['input of flex: sold at $1.25, costs $2 at provider1']),
      },
    ])
  })
})

test('a changed service tier is among the listed changes', () => {
  const [before, dearer, unasked] = [
    fileWith({ serviceTiers: { flex: FLEX } }),
    fileWith({ serviceTiers: { flex: { ...FLEX, outputPer1mTokens: 6 } } }),
    fileWith({ serviceTiers: { flex: FLEX } }, [at('provider1', { serviceTiers: [] })]),
  ].map((file) => load(file))
  if (!before || !dearer || !unasked) throw new Error('no catalogue')
  expect(changesBetween(before, dearer)).not.toEqual([])
  expect(changesBetween(before, unasked)).not.toEqual([])
})

test('the service tier prices of the documentation load', async () => {
  const block = (await documentedBlocks()).find(({ info }) => info === 'json pricing')
  const { pricing } = JSON.parse(`{${block?.text}}`) as { pricing: Json }
  expect([...(alphaOf(fileWith(pricing)).pricing.serviceTiers?.keys() ?? [])]).toEqual(['flex', 'priority'])
})
