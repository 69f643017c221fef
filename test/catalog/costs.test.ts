/** Provider costs in the catalogue file: where they may be stated, unknown costs, and prices below cost. */
import { describe, expect, test } from 'bun:test'
import { modelsAtALoss } from '@/catalog/losses'
import type { Model } from '@/catalog/types'
import { faultsOf, type Json, load, SAMPLE, spoil } from './sample-catalog'

const COST = { costPer1mInputTokens: 0.5, costPer1mOutputTokens: 2.5 }
const BETA = SAMPLE.models[1]?.pricing

function beta(place: string, value: Json): Model {
  const model = load(spoil(`models.1.${place}`, value)).models.get('svc/beta')
  if (!model) throw new Error('no svc/beta')
  return model
}

function losses(place: string, value: Json): { model: string; losses: string[] }[] {
  return modelsAtALoss(load(spoil(place, value)))
}

describe('the cost of a target', () => {
  test('a target without a stated cost has an unknown cost, not zero', () => {
    expect(load(JSON.stringify(SAMPLE)).models.get('svc/beta')?.targets[0]).not.toHaveProperty('cost')
    const free = beta('pricing', { ...BETA, costPer1mInputTokens: 0, costPer1mOutputTokens: 0 } as Json)
    expect(free.targets[0]?.cost?.base as unknown).toMatchObject({ input: 0, output: 0 })
  })

  test('a model’s cost applies to all its targets, with default costs for caches', () => {
    const { targets, pricing } = beta('pricing', { ...BETA, ...COST } as Json)
    expect(targets[0]?.cost as unknown).toEqual({
      base: { input: 5e5, cacheRead: 5e5, cacheWrite5m: 625_000, cacheWrite1h: 1e6, output: 2.5e6 },
      steps: [],
    })
    expect(pricing.base.input as number).toBe(1e6)
  })

  test('a cost has the same steps as the price, with its own values', () => {
    const step = { aboveInputTokens: 1000, inputPer1mTokens: 2, outputPer1mTokens: 9 }
    const stepCost = { costPer1mInputTokens: 1, costPer1mOutputTokens: 5, costPer1mCacheReadTokens: 0.1 }
    const { targets } = beta('pricing', { ...BETA, ...COST, steps: [{ ...step, ...stepCost }] } as Json)
    expect(targets[0]?.cost?.steps as unknown).toMatchObject([
      { aboveInputTokens: 1000, prices: { input: 1e6, output: 5e6, cacheRead: 1e5 } },
    ])
    expect(faultsOf(spoil('models.1.pricing', { ...BETA, ...COST, steps: [step] } as Json))).toEqual([
      'models[1].pricing.steps[0].costPer1mInputTokens: is missing, where another cost is named',
      'models[1].pricing.steps[0].costPer1mOutputTokens: is missing, where another cost is named',
    ])
  })

  test('the cost stated at a target replaces the cost stated at its model', () => {
    const targets = [
      { provider: 'provider2', model: 'beta-2' },
      { provider: 'provider1', model: 'beta-3', cost: { costPer1mInputTokens: 0.25, costPer1mOutputTokens: 1 } },
    ]
    const file = structuredClone(SAMPLE) as unknown as { models: Record<string, unknown>[] }
    Object.assign(file.models[1] ?? {}, { targets, pricing: { ...BETA, ...COST } })
    const costs = load(JSON.stringify(file))
      .models.get('svc/beta')
      ?.targets.map((target) => target.cost?.base.input)
    expect(costs as unknown).toEqual([5e5, 25e4])
  })

  test('a malformed cost is one error', () => {
    const steps = [2000, 1000].map((aboveInputTokens) => ({
      ...{ aboveInputTokens, inputPer1mTokens: 2, outputPer1mTokens: 9 },
      ...COST,
    }))
    expect(faultsOf(spoil('models.1.pricing', { ...BETA, ...COST, steps } as Json))).toEqual([
      "models[1].pricing.steps[1].aboveInputTokens: must be above the previous step's 2000",
    ])
  })
})

describe('a price below cost', () => {
  test('the price for batches is compared with the cost too', () => {
    const cost = { costPer1mInputTokens: 0.25, costPer1mOutputTokens: 2.75 }
    const file = structuredClone(SAMPLE) as unknown as { models: Record<string, unknown>[] }
    Object.assign(file.models[1] ?? {}, { batchDiscount: 0.5, pricing: { ...BETA, ...cost } })
    expect(modelsAtALoss(load(JSON.stringify(file)))).toEqual([
      { model: 'svc/beta', losses: ['in batches output: sold at $2.5, costs $2.75 at provider2'] },
    ])
  })

  test('a price below cost is found by model, token class and provider', () => {
    const cost = { costPer1mInputTokens: 0.5, costPer1mOutputTokens: 5.25 }
    expect(losses('models.1.targets.0.cost', cost)).toEqual([
      { model: 'svc/beta', losses: ['output: sold at $5, costs $5.25 at provider2'] },
    ])
  })

  test('a price below cost is found at an input length where only the cost has a step', () => {
    const steps = [{ aboveInputTokens: 1000, costPer1mInputTokens: 2, costPer1mOutputTokens: 3 }]
    expect(losses('models.1.targets.0.cost', { ...COST, steps } as Json)).toMatchObject([
      { model: 'svc/beta', losses: expect.arrayContaining([expect.stringContaining('input above 1000 input tokens')]) },
    ])
  })

  test('a tool’s price below cost is found', () => {
    const search = (costUsd: number) => losses('models.1.targets.0.toolPrices', { web_search: { usd: 0.01, costUsd } })
    expect(search(0.01)).toEqual([])
    expect(search(0.0125)).toEqual([
      { model: 'svc/beta', losses: ['web_search: sold at $0.01, costs $0.0125 at provider2'] },
    ])
  })

  test('equal or unknown costs are not below cost', () => {
    expect(modelsAtALoss(load(JSON.stringify(SAMPLE)))).toEqual([])
    const same = { costPer1mInputTokens: 1, costPer1mOutputTokens: 5 }
    expect(losses('models.1.targets.0.cost', same)).toEqual([])
  })
})
