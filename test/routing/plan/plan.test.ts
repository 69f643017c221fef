/** The plan of a request: which targets are tried in which order, and the error if none can serve. */
import { describe, expect, test } from 'bun:test'
import { catalogOf, modelOf, providerOf, requestOf, tierOf } from '@test/routing/world'
import { fc } from '@test/support/property'
import type { Model } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { targetId } from '@/routing/health/target-id'
import { buildPlan, type Plan } from '@/routing/plan/plan'
import { BLIND_VIEW, type RouteView } from '@/routing/plan/route-view'

const p1 = providerOf('p1')
const p2 = providerOf('p2', { format: 'messages' })
const alpha = modelOf('svc/alpha', [p1, p2], { fallback: ['svc/beta'] })
const beta = modelOf('svc/beta', [p2])
const gamma = modelOf('svc/gamma', [p1])
const catalog = catalogOf([alpha, beta, gamma], [tierOf('auto-smart', 'smart', [beta, gamma])])

function order(plan: Plan): string[] {
  return plan.targets.map(({ model, target }) => `${model.id} ${target.provider.name}`)
}

function refusal(models: Model[], request: ChatRequest): GatewayError {
  try {
    buildPlan(catalogOf(models), request)
  } catch (error) {
    if (error instanceof GatewayError) return error
  }
  throw new Error('the plan should have been refused')
}

describe('the order of a plan', () => {
  test('a plan has all targets of the model, then those of the catalogue’s fallback', () => {
    const plan = buildPlan(catalog, requestOf())
    expect(order(plan)).toEqual(['svc/alpha p1', 'svc/alpha p2', 'svc/beta p2'])
    expect(plan.models.map((model) => model.id)).toEqual(['svc/alpha', 'svc/beta'])
  })

  test('the request’s fallback list replaces the catalogue’s', () => {
    expect(order(buildPlan(catalog, requestOf({ fallback: ['svc/gamma'] })))).toEqual([
      'svc/alpha p1',
      'svc/alpha p2',
      'svc/gamma p1',
    ])
  })

  test('a model named twice is tried once, and a tier may be a fallback', () => {
    const plan = buildPlan(catalog, requestOf({ fallback: ['svc/alpha', 'auto-smart', 'svc/gamma'] }))
    expect(plan.models.map((model) => model.id).sort()).toEqual(['svc/alpha', 'svc/beta', 'svc/gamma'])
    expect(plan.models[0]).toBe(alpha)
    expect(plan.choice).toBeUndefined()
  })

  test('unavailable targets come last, but stay in the plan', () => {
    const view: RouteView = { ...BLIND_VIEW, isUsable: (target) => targetId(target) !== 'p1/alpha-at-p1' }
    expect(order(buildPlan(catalog, requestOf(), { view }))).toEqual(['svc/alpha p2', 'svc/beta p2', 'svc/alpha p1'])
  })

  test('if no target is available, the order of the plan is unchanged', () => {
    const view: RouteView = { ...BLIND_VIEW, isUsable: () => false }
    expect(order(buildPlan(catalog, requestOf(), { view }))).toEqual(order(buildPlan(catalog, requestOf())))
  })
})

describe('names in a plan', () => {
  test('an unknown model is a 404 that names the field', () => {
    for (const [request, param] of [
      [requestOf({ model: 'svc/nope' }), 'model'],
      [requestOf({ model: 'constructor' }), 'model'],
      [requestOf({ fallback: ['svc/beta', '__proto__'] }), 'fallback[1]'],
    ] as const) {
      const call = () => buildPlan(catalog, request)
      expect(call).toThrow(expect.objectContaining({ kind: 'model_not_found', status: 404 }))
      expect(call).toThrow(expect.objectContaining({ options: expect.objectContaining({ param }) }))
    }
  })
})

describe('models that a plan skips', () => {
  const blind = modelOf('svc/alpha', [p1], { capabilities: new Set(['tools']) })
  const image = requestOf({
    fallback: ['svc/beta'],
    turns: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://example.test/a.png' } }] }],
  })

  test('a model that cannot serve the request is skipped', () => {
    const plan = buildPlan(catalogOf([blind, beta]), image)
    expect(plan.models).toEqual([beta])
    expect(plan.passedOver.map(({ model, unmet }) => [model.id, unmet[0]?.requirement])).toEqual([
      ['svc/alpha', 'images'],
    ])
  })

  test('if no model remains, the 400 names the unmet requirement of each model', () => {
    const short = modelOf('svc/beta', [p2], { contextLength: 100, maxOutputTokens: 50 })
    const error = refusal([blind, short], { ...image, maxOutputTokens: 500 })
    expect(error.status).toBe(400)
    expect(error.kind).toBe('invalid_request')
    expect(error.message).toContain('svc/alpha does not support images')
    expect(error.message).toContain('svc/beta has a context of 100 tokens')
    expect(error.options.details).toEqual({ 'svc/alpha': 'images', 'svc/beta': 'context-length' })
  })

  test('if only the length excludes models, the error has the code for which clients shorten their history', () => {
    const short = modelOf('svc/alpha', [p1], { contextLength: 100, maxOutputTokens: 50 })
    const error = refusal([short], requestOf({}, 'word '.repeat(1_000)))
    expect(error.kind).toBe('context_length_exceeded')
    expect(error.status).toBe(400)
  })

  test('a request with audio or files prefers a model that lists them, and otherwise goes to any model', () => {
    const deaf = modelOf('svc/alpha', [p1], { capabilities: new Set() })
    const audio = requestOf({
      fallback: ['svc/beta'],
      turns: [{ role: 'user', content: [{ type: 'audio', mediaType: 'audio/wav', data: 'AAAA' }] }],
    })
    expect(buildPlan(catalogOf([deaf, beta]), audio).models).toEqual([beta])
    expect(buildPlan(catalogOf([deaf]), { ...audio, fallback: [] }).models).toEqual([deaf])
  })

  test('a request for thinking keeps a named model without thinking; a tier prefers a model with thinking', () => {
    const plain = modelOf('svc/alpha', [p1], { capabilities: new Set() })
    const thinking = requestOf({ reasoning: { effort: 'low' }, fallback: ['svc/beta'] })
    const tiers = [tierOf('auto-smart', 'smart', [plain, beta])]
    expect(buildPlan(catalogOf([plain, beta], tiers), thinking).models).toEqual([plain, beta])
    const chosen = buildPlan(catalogOf([plain, beta], tiers), { ...thinking, model: 'auto-smart', fallback: [] })
    expect(chosen.models).toEqual([beta])
  })

  test('a service tier goes only to targets and models with a price for it', () => {
    const flexible = modelOf('svc/alpha', [p1, p2], { fallback: ['svc/beta'] })
    for (const target of flexible.targets) if (target.provider === p1) target.serviceTiers = new Set(['flex'])
    const all = catalogOf([flexible, beta])
    const modelsAt = (plan: Plan) => plan.targets.map(({ model, target }) => [model.id, target.provider.name])
    expect(modelsAt(buildPlan(all, requestOf({ serviceTier: 'flex' })))).toEqual([['svc/alpha', 'p1']])
    const everywhere = modelsAt(buildPlan(all, requestOf()))
    for (const usual of ['auto', 'default', 'standard'])
      expect(modelsAt(buildPlan(all, requestOf({ serviceTier: usual })))).toEqual(everywhere)
    expect(refusal([flexible, beta], requestOf({ serviceTier: 'priority' })).options.param).toBe('service_tier')
  })

  test('fields of the caller’s format only go to targets of that format', () => {
    const request = requestOf({ nativeOnly: ['tools[0] (custom)'] })
    const plan = buildPlan(catalog, request, { clientFormat: 'messages' })
    expect(order(plan)).toEqual(['svc/alpha p2', 'svc/beta p2'])
    const call = () =>
      buildPlan(catalogOf([gamma]), { ...request, model: 'svc/gamma' }, { clientFormat: 'generate-content' })
    const search = { ...request, model: 'svc/gamma', nativeOnly: ['tools[0] (web_search)'] }
    const unpriced = () => buildPlan(catalogOf([gamma]), search, { clientFormat: 'generate-content' })
    expect(unpriced).toThrow(/no price covers/)
    expect(call).toThrow(/svc\/gamma is served in another format, which cannot carry tools\[0\] \(custom\)/)
  })
})

describe('a key with a model list', () => {
  const plan = (request: Partial<ChatRequest>, allowedModels: string[] | null) =>
    buildPlan(catalog, requestOf(request), { allowedModels })

  test('a key with a model list gets its models, and only allowed catalogue fallbacks', () => {
    expect(order(plan({}, null))).toEqual(order(buildPlan(catalog, requestOf())))
    expect(order(plan({}, ['svc/alpha']))).toEqual(['svc/alpha p1', 'svc/alpha p2'])
    expect(order(plan({}, ['svc/beta', 'svc/alpha']))).toEqual(['svc/alpha p1', 'svc/alpha p2', 'svc/beta p2'])
  })

  test('a key with a model list is refused by model and by fallback entry', () => {
    const refused = (request: Partial<ChatRequest>, allowed: string[]) => {
      try {
        plan(request, allowed)
      } catch (error) {
        if (error instanceof GatewayError) return { status: error.status, ...error.options }
      }
      throw new Error('the plan should have been refused')
    }
    const code = 'model_not_allowed'
    expect(refused({}, ['svc/beta'])).toEqual({ status: 403, param: 'model', code })
    expect(refused({}, [])).toEqual({ status: 403, param: 'model', code })
    expect(refused({ fallback: ['svc/beta', 'svc/gamma'] }, ['svc/alpha', 'svc/beta'])).toEqual({
      ...{ status: 403, param: 'fallback[1]', code },
    })
    expect(refused({ fallback: ['auto-smart'] }, ['svc/alpha'])).toEqual({ status: 403, param: 'fallback[0]', code })
    expect(refused({ model: 'auto-smart' }, ['svc/alpha'])).toEqual({ status: 403, param: 'model', code })
    expect(refused({ model: 'svc/none' }, [])).toMatchObject({ status: 404 })
  })

  test('a tier chooses among the key’s models, even if the conversation began with another', () => {
    const request = requestOf({ model: 'auto-smart' })
    const chosen = buildPlan(catalog, request, { allowedModels: ['svc/gamma'], stickyModelId: 'svc/beta' })
    expect(order(chosen)).toEqual(['svc/gamma p1'])
    expect(chosen.choice?.session).toEqual({ modelId: 'svc/beta', outcome: 'cannot-serve' })
    expect(chosen.passedOver).toMatchObject([{ model: beta, unmet: [{ requirement: 'permission' }] }])
  })
})

test('a plan is never empty, has no target twice and no excluded model, and begins with available targets', () => {
  const models = ['a', 'b', 'c', 'd'].map((name, index) =>
    modelOf(`svc/${name}`, index % 2 === 0 ? [p1, p2] : [p2], { capabilities: new Set(index < 2 ? [] : ['tools']) }),
  )
  const ids = models.map((model) => model.id)
  const world = catalogOf(models, [tierOf('auto-cheap', 'cheap', models)])
  fc.assert(
    fc.property(
      fc.constantFrom(...ids, 'auto-cheap'),
      fc.array(fc.constantFrom(...ids, 'auto-cheap'), { maxLength: 5 }),
      fc.boolean(),
      fc.uniqueArray(fc.constantFrom(...models.flatMap((model) => model.targets.map(targetId)))),
      fc.option(fc.uniqueArray(fc.constantFrom(...ids))),
      (model, fallback, hasTools, broken, allowedModels) => {
        const request = requestOf({ model, fallback, tools: hasTools ? [{ name: 'look' }] : [] })
        const view: RouteView = { ...BLIND_VIEW, isUsable: (target) => !broken.includes(targetId(target)) }
        let plan: Plan
        try {
          plan = buildPlan(world, request, { view, allowedModels })
        } catch (error) {
          const status = error instanceof GatewayError ? error.status : undefined
          expect([...(hasTools ? [400] : []), ...(allowedModels ? [403] : [])]).toContain(status as number)
          return
        }
        if (allowedModels) for (const planned of plan.models) expect(allowedModels).toContain(planned.id)
        const names = plan.targets.map(({ target }) => targetId(target))
        expect(names.length).toBeGreaterThan(0)
        expect(new Set(names).size).toBe(names.length)
        if (hasTools) for (const planned of plan.targets) expect(planned.model.capabilities.has('tools')).toBe(true)
        const firstBroken = names.findIndex((name) => broken.includes(name))
        const usableAfter = firstBroken === -1 ? [] : names.slice(firstBroken).filter((name) => !broken.includes(name))
        expect(usableAfter).toEqual([])
        expect(new Set(plan.targets.map((planned) => planned.model))).toEqual(new Set(plan.models))
      },
    ),
  )
})
