/** How tiers choose a model: strategies, weights, latency, health, price, conversations. */
import { describe, expect, test } from 'bun:test'
import { catalogOf, modelOf, providerOf, requestOf, tierOf } from '@test/routing/world'
import type { Model, Tier } from '@/catalog/types'
import type { ChatRequest } from '@/chat/request'
import { buildPlan, type PlanOptions } from '@/routing/plan/plan'
import { BLIND_VIEW, type RouteView } from '@/routing/plan/route-view'
import { rankCandidates } from '@/routing/plan/score'

const p1 = providerOf('p1')
const p2 = providerOf('p2')
const p3 = providerOf('p3')
const small = modelOf('svc/small', [p1], { usd: 0.05, quality: 0.55 })
const middle = modelOf('svc/middle', [p2], { usd: 0.4, quality: 0.76 })
const large = modelOf('svc/large', [p3], { usd: 3, quality: 0.93 })
const best = modelOf('svc/best', [p1], { usd: 8, quality: 0.96 })
const ALL = [best, large, middle, small]

const EASY = 'Hi, thanks! What is the capital of Peru?'
const HARD = 'Prove the theorem, derive the bound, analyse the complexity and justify each assumption step by step.'

function modelsOf(tier: Tier, text: string, options: PlanOptions = {}, changes: Partial<ChatRequest> = {}): Model[] {
  return buildPlan(catalogOf(ALL, [tier]), requestOf({ model: tier.id, ...changes }, text), options).models
}

function viewWhere(changes: Partial<RouteView>): RouteView {
  return { ...BLIND_VIEW, ...changes }
}

describe('strategies', () => {
  test('the strategy smart chooses a cheap model for an easy request and a good one for a hard one', () => {
    const tier = tierOf('auto-smart', 'smart', ALL)
    expect(modelsOf(tier, EASY)[0]).toBe(small)
    expect(modelsOf(tier, HARD)[0]).toBe(large)
  })

  test('the strategy cheap chooses a cheap model until a request is very hard', () => {
    const tier = tierOf('auto-cheap', 'cheap', ALL)
    expect(modelsOf(tier, EASY)[0]).toBe(small)
    expect(modelsOf(tier, HARD)[0]).not.toBe(best)
  })

  test('the strategy fast chooses the fastest sufficient model by measured latency', () => {
    const tier = tierOf('auto-fast', 'fast', [small, middle, large])
    const milliseconds = new Map([
      ['p1', 4_000],
      ['p2', 300],
      ['p3', 900],
    ])
    const view = viewWhere({ latencyMs: (target) => milliseconds.get(target.provider.name) })
    expect(modelsOf(tier, EASY, { view })[0]).toBe(middle)
  })

  test('the catalogue’s weights override the strategy', () => {
    const quality = tierOf('auto-best', 'smart', ALL, { quality: 100, price: 0 })
    const price = tierOf('auto-least', 'smart', ALL, { quality: 0, price: 1 })
    expect(modelsOf(quality, HARD)[0]?.quality).toBeGreaterThan(0.9)
    expect(modelsOf(price, HARD)[0]).toBe(small)
  })

  test('without a stated quality, a dearer model counts as better', () => {
    const plain = ALL.map(({ quality: _, ...model }) => model)
    const tier = tierOf('auto-smart', 'smart', plain)
    const request = requestOf({ model: tier.id }, HARD)
    expect(buildPlan(catalogOf(plain, [tier]), request).models[0]?.id).not.toBe('svc/small')
  })

  test('an unknown strategy works as smart', () => {
    const need = { difficulty: 0.1, inputTokens: 100, outputTokens: 100, wantsReasoning: false }
    const candidates = ALL.map((model) => ({ model, isUsable: true, failureRate: 0, latencyMs: undefined }))
    const [odd, smart] = ['constructor', 'smart'].map((name) => rankCandidates(name, new Map(), candidates, need))
    expect(odd).toEqual(smart as NonNullable<typeof smart>)
  })
})

describe('the shortlist of models', () => {
  test('the shortlist has the best three, and the best of each other provider', () => {
    const crowd = [1, 2, 3, 4].map((index) => modelOf(`svc/a${index}`, [p1], { usd: 0.01 * index, quality: 0.9 }))
    const tier = tierOf('auto-cheap', 'cheap', [...crowd, middle, large])
    const plan = buildPlan(catalogOf([...crowd, middle, large], [tier]), requestOf({ model: tier.id }, EASY))
    expect(plan.models).toHaveLength(5)
    expect(new Set(plan.targets.map(({ target }) => target.provider.name))).toEqual(new Set(['p1', 'p2', 'p3']))
    expect(plan.choice?.ranking).toHaveLength(6)
  })
})

describe('health of models', () => {
  test('a tier ranks a model without a usable target last', () => {
    const view = viewWhere({ isUsable: (target) => target.provider !== p1 })
    const models = modelsOf(tierOf('auto-smart', 'smart', [small, middle, large]), EASY, { view })
    expect(models[0]).toBe(middle)
    expect(models.at(-1)).toBe(small)
  })

  test('a tier ranks a model that often fails lower', () => {
    const twins = [modelOf('svc/a', [p1]), modelOf('svc/b', [p2])]
    const tier = tierOf('auto-smart', 'smart', twins)
    const view = viewWhere({ failureRate: (target) => (target.provider === p1 ? 0.4 : 0) })
    const plan = buildPlan(catalogOf(twins, [tier]), requestOf({ model: tier.id }), { view })
    expect(plan.models.map((model) => model.id)).toEqual(['svc/b', 'svc/a'])
  })

  test('if every model is unavailable the tier still makes a plan', () => {
    const view = viewWhere({ isUsable: () => false })
    expect(modelsOf(tierOf('auto-smart', 'smart', ALL), EASY, { view })).not.toBeEmpty()
  })
})

describe('conversations', () => {
  const tier = tierOf('auto-smart', 'smart', ALL)

  test('a conversation keeps its model while it is healthy and can serve', () => {
    expect(modelsOf(tier, EASY, { stickyModelId: 'svc/large' })[0]).toBe(large)
    const view = viewWhere({ isUsable: (target) => target.provider !== p3 })
    expect(modelsOf(tier, EASY, { stickyModelId: 'svc/large', view })[0]).toBe(small)
  })

  test('a conversation changes its model if that model cannot serve or is no longer a candidate', () => {
    const blind = { ...small, capabilities: new Set<never>() }
    const models = [blind, middle, large]
    const tools = { model: 'auto-x', tools: [{ name: 'look' }] }
    const other = tierOf('auto-x', 'smart', models)
    const plan = buildPlan(catalogOf(models, [other]), requestOf(tools, EASY), { stickyModelId: 'svc/small' })
    expect(plan.models[0]).toBe(middle)
    expect(plan.choice?.session).toEqual({ modelId: 'svc/small', outcome: 'cannot-serve' })
    expect(modelsOf(tier, EASY, { stickyModelId: 'svc/unheard-of' })[0]).toBe(small)
  })

  test('a conversation keeps a model that is only a little weaker', () => {
    const near = modelOf('svc/near', [p2], { usd: 2.9, quality: 0.87 })
    const models = [...ALL, near]
    const wide = tierOf('auto-wide', 'smart', models, { price: 0 })
    const plan = buildPlan(catalogOf(models, [wide]), requestOf({ model: wide.id }, HARD), { stickyModelId: near.id })
    expect(plan.choice?.ranking[0]?.model).not.toBe(near)
    expect(plan.models[0]).toBe(near)
  })

  test('a conversation keeps its model if the tier needs no quality', () => {
    const least = tierOf('auto-cheap', 'cheap', [small, large], { quality: 0 })
    expect(modelsOf(least, HARD, { stickyModelId: 'svc/large' })[0]).toBe(large)
  })

  test('the shortlist of a conversation still contains the other models', () => {
    const models = modelsOf(tier, EASY, { stickyModelId: 'svc/best' })
    expect(models[0]).toBe(best)
    expect(models.filter((model) => model === best)).toHaveLength(1)
    expect(models.length).toBeGreaterThan(2)
  })
})
