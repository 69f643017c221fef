/** Routing preferences of callers: minimum quality, maximum price, providers, order. */
import { describe, expect, test } from 'bun:test'
import { catalogOf, modelOf, providerOf, requestOf, tierOf } from '@test/routing/world'
import type { Model } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { RoutePreferences } from '@/chat/preferences'
import type { ChatRequest } from '@/chat/request'
import { priceToPico } from '@/lib/money'
import { buildPlan, type Plan, type PlanOptions } from '@/routing/plan/plan'
import { BLIND_VIEW } from '@/routing/plan/route-view'
import { routeReason } from '@/routing/route-reason'

const p1 = providerOf('p1')
const p2 = providerOf('p2')
const p3 = providerOf('p3')
const PROVIDERS = [p1, p2, p3]
const small = modelOf('svc/small', [p1, p2], { usd: 0.05, quality: 0.55 })
const middle = modelOf('svc/middle', [p2], { usd: 0.4, quality: 0.76 })
const large = modelOf('svc/large', [p3], { usd: 3, quality: 0.93 })
const best = modelOf('svc/best', [p1], { usd: 8, quality: 0.96 })
const wide = modelOf('svc/wide', PROVIDERS, { usd: 1, fallback: ['svc/best'] })
const ALL = [small, middle, large, best]
const tier = tierOf('auto-smart', 'smart', ALL)
const catalog = catalogOf([...ALL, wide], [tier])

const EASY = 'Hi, thanks! What is the capital of Peru?'
const NONE: RoutePreferences = { order: [], only: [], ignore: [] }

function planFor(
  model: string,
  wishes: Partial<RoutePreferences>,
  changes: Partial<ChatRequest> = {},
  options: PlanOptions = {},
): Plan {
  return buildPlan(catalog, requestOf({ model, preferences: { ...NONE, ...wishes }, ...changes }, EASY), options)
}

function namesOf(plan: Plan): string[] {
  return plan.targets.map(({ model, target }) => `${model.id}@${target.provider.name}`)
}

function refusalOf(make: () => Plan): GatewayError {
  try {
    make()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('it was planned')
}

const usd = (value: number) => priceToPico(value) ?? expect.unreachable()

describe('quality', () => {
  test('quality is the minimum for a tier’s candidates, and excluded models are listed', () => {
    const plan = planFor('auto-smart', { quality: 0.8 })
    expect(plan.models.map(({ id }) => id)).toEqual(['svc/large', 'svc/best'])
    expect(plan.passedOver.map(({ model, unmet }) => [model.id, unmet[0]?.requirement])).toEqual([
      ['svc/small', 'quality'],
      ['svc/middle', 'quality'],
    ])
    expect(plan.choice?.isBelowQuality).toBe(false)
  })

  test('if no candidate has the quality, the best one below is used and listed', () => {
    const plan = planFor('auto-smart', { quality: 0.99 })
    expect(plan.models[0]).toBe(best)
    expect(plan.models[1]).toBe(large)
    expect(plan.choice?.isBelowQuality).toBe(true)
    expect(routeReason(plan, 'svc/best', [])).toContain('below the quality asked for')
    const cheap = planFor(
      'auto-smart',
      { quality: 0.9, maxPrice: { input: usd(0.5) } },
      {},
      { stickyModelId: 'svc/small' },
    )
    expect(cheap.models[0]).toBe(middle)
  })

  test('a conversation changes its model if that is below the requested quality', () => {
    expect(planFor('auto-smart', { quality: 0.9 }, {}, { stickyModelId: 'svc/small' }).models[0]).toBe(large)
    expect(planFor('auto-smart', { quality: 0.5 }, {}, { stickyModelId: 'svc/best' }).models[0]).toBe(best)
  })

  test('a model without a stated quality is below any quality minimum', () => {
    const { quality: _, ...silent } = modelOf('svc/silent', [p1], { usd: 9 })
    const others = tierOf('auto-x', 'smart', [silent, middle])
    const world = catalogOf([silent, middle], [others])
    const models = buildPlan(world, requestOf({ model: 'auto-x', preferences: { ...NONE, quality: 0.7 } })).models
    expect(models).toEqual([middle])
  })

  test('quality is ignored if a model is named', () => {
    expect(planFor('svc/small', { quality: 0.9 }).models).toEqual([small])
  })
})

describe('max_price', () => {
  test('max_price excludes dearer models, in tiers and fallbacks', () => {
    expect(
      planFor('auto-smart', { maxPrice: { input: usd(0.4) } })
        .models.map(({ id }) => id)
        .toSorted(),
    ).toEqual(['svc/middle', 'svc/small'])
    expect(planFor('svc/wide', {}).models).toEqual([wide, best])
    expect(planFor('svc/wide', { maxPrice: { output: usd(4) } }).models).toEqual([wide])
    const plan = planFor('svc/large', { maxPrice: { input: usd(1) } }, { fallback: ['svc/best', 'svc/middle'] })
    expect(plan.models).toEqual([middle])
    expect(plan.passedOver.map(({ model }) => model.id)).toEqual(['svc/large', 'svc/best'])
    expect(routeReason(plan, 'svc/middle', [])).toContain('3 USD')
  })

  test('a max_price that excludes every model is a 400 that names the field', () => {
    const { status, message, options } = refusalOf(() => planFor('svc/large', { maxPrice: { output: usd(11.99) } }))
    expect([status, options.param, options.code]).toEqual([400, 'svc.max_price', 'no_capable_model'])
    expect(message).toContain('svc/large costs 12 USD per 1M output tokens, above svc.max_price 11.99')
    expect(planFor('svc/large', { maxPrice: { input: usd(3), output: usd(12) } }).models).toEqual([large])
  })

  test('max_price is compared with the price step that the input may reach', () => {
    const { base } = large.pricing
    const steep = modelOf('svc/steep', [p1], {
      pricing: { base, steps: [{ aboveInputTokens: 1_000, prices: { ...base, input: usd(6) } }] },
    })
    const world = catalogOf([steep])
    const ask = (chars: number) =>
      buildPlan(
        world,
        requestOf(
          { model: 'svc/steep', preferences: { ...NONE, maxPrice: { input: usd(3) } } },
          'a '.repeat(chars / 2),
        ),
      )
    expect(ask(2_000).models).toEqual([steep])
    expect(refusalOf(() => ask(3_800)).message).toContain('6 USD')
  })
})

describe('providers', () => {
  test('provider preferences `only` and `ignore` restrict the targets of every model', () => {
    expect(namesOf(planFor('svc/wide', { only: ['p2', 'p3'] }))).toEqual(['svc/wide@p2', 'svc/wide@p3'])
    expect(namesOf(planFor('svc/wide', { ignore: ['p1'] }))).toEqual(['svc/wide@p2', 'svc/wide@p3'])
    expect(namesOf(planFor('svc/wide', { only: ['p1', 'p2'], ignore: ['p1'] }))).toEqual(['svc/wide@p2'])
    const plan = planFor('auto-smart', { only: ['p2'] })
    expect(namesOf(plan).toSorted()).toEqual(['svc/middle@p2', 'svc/small@p2'])
    expect(plan.passedOver.map(({ unmet }) => unmet[0]?.requirement)).toEqual(['providers', 'providers'])
  })

  test('provider preference `order` puts the named providers first, and keeps the others after them', () => {
    expect(namesOf(planFor('svc/wide', { order: ['p3', 'p2'] })).slice(0, 3)).toEqual([
      'svc/wide@p3',
      'svc/wide@p2',
      'svc/wide@p1',
    ])
    expect(planFor('auto-smart', {}).models[0]).toBe(small)
    expect(planFor('auto-smart', { order: ['p3'] }).models[0]).toBe(large)
    expect(planFor('auto-smart', { order: ['p3'] }, {}, { stickyModelId: 'svc/small' }).models[0]).toBe(large)
    expect(namesOf(planFor('auto-smart', { order: ['p2', 'p1'] }))[0]).toBe('svc/small@p2')
  })

  test('an unavailable target is last even if it is preferred', () => {
    const view = { ...BLIND_VIEW, isUsable: ({ provider }: { provider: { name: string } }) => provider.name !== 'p3' }
    const names = namesOf(planFor('svc/wide', { order: ['p3'], only: ['p1', 'p3'] }, {}, { view }))
    expect(names).toEqual(['svc/wide@p1', 'svc/best@p1', 'svc/wide@p3'])
  })

  test('unknown providers, and lists that exclude every provider, are a 400 that names them', () => {
    for (const field of ['order', 'only', 'ignore'] as const) {
      const { status, message, options } = refusalOf(() => planFor('svc/wide', { [field]: ['p1', 'px', 'py'] }))
      expect([status, options.param]).toEqual([400, `svc.providers.${field}`])
      expect(message).toContain('px, py')
    }
    const { status, message, options } = refusalOf(() => planFor('svc/large', { ignore: ['p3'] }))
    expect([status, options.param]).toEqual([400, 'svc.providers'])
    expect(message).toContain('svc/large is served by p3')
  })

  test('preferences do not allow models that the key may not call', () => {
    const plan = planFor('auto-smart', { quality: 0.9 }, {}, { allowedModels: ['svc/small', 'svc/large'] })
    expect(plan.models).toEqual([large])
    expect(() => planFor('svc/best', { quality: 0 }, {}, { allowedModels: ['svc/small'] })).toThrow('may not call')
  })
})

describe('sort', () => {
  test('sort by price puts the cheapest sufficient candidate first', () => {
    const hard = 'Prove the theorem, derive the bound, analyse the complexity and justify each assumption.'
    const turns: ChatRequest['turns'] = [{ role: 'user', content: [{ type: 'text', text: hard }] }]
    expect(planFor('auto-smart', { sort: 'price' }, { turns }).models[0]).toBe(small)
    expect(planFor('auto-smart', { sort: 'price', quality: 0.9 }, { turns }).models).toEqual([large, best])
    expect(planFor('auto-smart', { sort: 'price' }, {}, { stickyModelId: 'svc/best' }).models[0]).toBe(small)
  })

  test('sort by latency puts the fastest first, among targets and candidates, unmeasured ones last', () => {
    const milliseconds = new Map([
      ['p2', 900],
      ['p3', 200],
    ])
    const view = {
      ...BLIND_VIEW,
      latencyMs: (target: { provider: { name: string } }) => milliseconds.get(target.provider.name),
    }
    expect(namesOf(planFor('svc/wide', { sort: 'latency' }, {}, { view })).slice(0, 3)).toEqual([
      'svc/wide@p3',
      'svc/wide@p2',
      'svc/wide@p1',
    ])
    const models = planFor('auto-smart', { sort: 'latency' }, {}, { view }).models
    expect(models[0]).toBe(large)
    expect(models[1]?.targets.some(({ provider }) => provider === p2)).toBe(true)
    expect(
      planFor('auto-smart', { sort: 'latency', order: ['p1'] }, {}, { view }).models[0]?.targets[0]?.provider,
    ).toBe(p1)
  })

  test('sort by throughput puts the most tokens per second first, unmeasured ones last', () => {
    const perSecond = new Map([
      ['p2', 40],
      ['p3', 90],
    ])
    const throughput = (target: { provider: { name: string } }) => perSecond.get(target.provider.name)
    const view = { ...BLIND_VIEW, throughput }
    const names = namesOf(planFor('svc/wide', { sort: 'throughput' }, {}, { view }))
    expect(names.slice(0, 3)).toEqual(['svc/wide@p3', 'svc/wide@p2', 'svc/wide@p1'])
    const models = planFor('auto-smart', { sort: 'throughput', quality: 0.9 }, {}, { view }).models
    expect(models).toEqual([large, best])
  })
})

/** The same numbers each time. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

test('a plan never has a target that random preferences exclude, and its models are those of its targets', () => {
  const random = numbersFrom(7)
  const pick = <T>(values: readonly T[]) => values.filter(() => random() < 0.4)
  let plans = 0
  for (let round = 0; round < 500; round++) {
    const only = pick(['p1', 'p2', 'p3'])
    const ignore = random() < 0.5 ? [] : pick(['p1', 'p2'])
    const maxPrice = random() < 0.5 ? {} : { maxPrice: { input: usd(Math.ceil(random() * 400) / 100) } }
    const quality = random() < 0.5 ? {} : { quality: random() }
    const sort = pick(['price', 'latency', 'throughput'] as const)[0]
    const wishes = { order: pick(['p3', 'p2']), only, ignore, ...maxPrice, ...quality, ...(sort && { sort }) }
    let plan: Plan
    try {
      plan = planFor(random() < 0.5 ? 'auto-smart' : 'svc/wide', wishes)
    } catch (error) {
      expect(error).toMatchObject({ status: 400 })
      continue
    }
    plans++
    const models = new Set<Model>(plan.targets.map(({ model }) => model))
    expect(models).toEqual(new Set(plan.models))
    for (const { model, target } of plan.targets) {
      if (only.length > 0) expect(only).toContain(target.provider.name)
      expect(ignore).not.toContain(target.provider.name)
      if (maxPrice.maxPrice) expect(model.pricing.base.input).toBeLessThanOrEqual(maxPrice.maxPrice.input)
    }
  }
  expect(plans).toBeGreaterThan(200)
})
