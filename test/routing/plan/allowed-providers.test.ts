/** Keys that only some providers may answer: the targets that their plans keep, and the refusal if none is left. */
import { describe, expect, test } from 'bun:test'
import { catalogOf, modelOf, providerOf, requestOf, tierOf } from '@test/routing/world'
import { fc } from '@test/support/property'
import type { EmbeddingRequest } from '@/chat/embedding'
import { GatewayError } from '@/chat/error'
import type { RoutePreferences } from '@/chat/preferences'
import type { ChatRequest } from '@/chat/request'
import { buildPlan, type Plan, type PlanOptions } from '@/routing/plan/plan'
import { buildEmbeddingPlan } from '@/routing/plan/plan-embedding'

const east = providerOf('east')
const west = providerOf('west', { format: 'messages' })
const alpha = modelOf('svc/alpha', [east, west], { fallback: ['svc/beta', 'svc/gamma'] })
const beta = modelOf('svc/beta', [west])
const gamma = modelOf('svc/gamma', [east])
const embed = modelOf('svc/embed', [east, west], { kind: 'embedding' })
const catalog = catalogOf([alpha, beta, gamma, embed], [tierOf('auto-smart', 'smart', [beta, gamma])])

function plan(request: Partial<ChatRequest>, options: PlanOptions): Plan {
  return buildPlan(catalog, requestOf(request), options)
}

function order({ targets }: Plan): string[] {
  return targets.map(({ model, target }) => `${model.id} ${target.provider.name}`)
}

function refused(run: () => unknown): object {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return { status: error.status, message: error.message, ...error.options }
  }
  throw new Error('the plan should have been refused')
}

const NONE: RoutePreferences = { order: [], only: [], ignore: [] }

describe('a plan with allowed providers', () => {
  test('a plan keeps only targets of allowed providers, for the model and its fallbacks', () => {
    expect(order(plan({}, { allowedProviders: null }))).toEqual(order(plan({}, {})))
    expect(order(plan({}, { allowedProviders: ['west'] }))).toEqual(['svc/alpha west', 'svc/beta west'])
    expect(order(plan({}, { allowedProviders: ['east', 'west'] }))).toEqual(order(plan({}, {})))
  })

  test('a plan is limited to providers that both lists allow', () => {
    expect(order(plan({}, { allowedModels: ['svc/alpha', 'svc/gamma'], allowedProviders: ['west'] }))).toEqual([
      'svc/alpha west',
    ])
  })

  test('a tier’s plan has candidates of allowed providers, even if the conversation began with another provider', () => {
    const chosen = plan({ model: 'auto-smart' }, { allowedProviders: ['east'], stickyModelId: 'svc/beta' })
    expect(order(chosen)).toEqual(['svc/gamma east'])
    expect(chosen.choice?.session).toEqual({ modelId: 'svc/beta', outcome: 'cannot-serve' })
    expect(chosen.passedOver).toMatchObject([
      {
        model: beta,
        unmet: [{ requirement: 'permission', detail: 'is served by providers that this API key may not use' }],
      },
    ])
  })

  test('the caller’s preferences choose among allowed providers', () => {
    const only = { ...NONE, only: ['east'] }
    const told = refused(() =>
      plan({ model: 'svc/alpha', fallback: ['svc/beta'], preferences: only }, { allowedProviders: ['west'] }),
    )
    expect(told).toMatchObject({ status: 400 })
    const ordered = { ...NONE, order: ['west'] }
    expect(order(plan({ preferences: ordered }, { allowedProviders: ['east'] }))).toEqual([
      'svc/alpha east',
      'svc/gamma east',
    ])
  })

  test('a plan of embeddings is limited to allowed providers too', () => {
    const request: EmbeddingRequest = {
      ...{ model: 'svc/embed', inputs: [{ type: 'text', text: 'Hi' }], isLone: true },
      ...{ encoding: 'float', nativeFields: [] },
    } as const
    expect(order(buildEmbeddingPlan(catalog, request))).toEqual(['svc/embed east', 'svc/embed west'])
    expect(order(buildEmbeddingPlan(catalog, request, { allowedProviders: ['west'] }))).toEqual(['svc/embed west'])
    expect(refused(() => buildEmbeddingPlan(catalog, request, { allowedProviders: ['gone'] }))).toMatchObject({
      ...{ status: 403, code: 'provider_not_allowed', param: 'model' },
    })
  })
})

describe('a refused key', () => {
  const code = 'provider_not_allowed'
  const refusal = (request: Partial<ChatRequest>, options: PlanOptions) => refused(() => plan(request, options))

  test('a key is refused by model and by fallback entry, with the providers of the model', () => {
    expect(refusal({ model: 'svc/gamma' }, { allowedProviders: ['west'] })).toEqual({
      ...{ status: 403, param: 'model', code },
      message:
        "The model 'svc/gamma' is served by east, and this API key may use other providers only. " +
        'The key’s own list, or the rules for all keys of its member or its account, leave it out: GET /v1/key says what they allow together.',
    })
    expect(refusal({ fallback: ['svc/beta', 'svc/gamma'] }, { allowedProviders: ['west'] })).toMatchObject({
      ...{ status: 403, param: 'fallback[1]', code },
    })
  })

  test('a key is refused if a tier has no allowed candidate', () => {
    expect(refusal({ model: 'auto-smart' }, { allowedProviders: [] })).toMatchObject({
      ...{ status: 403, param: 'model', code },
      message: expect.stringContaining("No model that 'auto-smart' chooses from is served by a provider"),
    })
    // One candidate is not allowed, the other not served.
    const both = { allowedModels: ['svc/beta'], allowedProviders: ['east'] }
    expect(refusal({ model: 'auto-smart' }, both)).toMatchObject({ status: 403, code })
  })

  test('if neither model nor provider is allowed, the refusal is about the model', () => {
    const neither = { allowedModels: ['svc/alpha'], allowedProviders: ['west'] }
    expect(refusal({ model: 'svc/gamma' }, neither)).toMatchObject({ status: 403, code: 'model_not_allowed' })
  })

  test('a key whose only provider was removed may use no model; unknown models stay unknown', () => {
    for (const model of ['svc/alpha', 'svc/beta', 'auto-smart'])
      expect(refusal({ model }, { allowedProviders: ['gone'] })).toMatchObject({ status: 403, code })
    expect(refusal({ model: 'svc/none' }, { allowedProviders: ['gone'] })).toMatchObject({ status: 404 })
  })
})

test('no plan has a target of a provider that is not allowed, whatever is requested', () => {
  const names = ['svc/alpha', 'svc/beta', 'svc/gamma', 'auto-smart']
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.array(fc.constantFrom(...names), { maxLength: 4 }),
      fc.uniqueArray(fc.constantFrom<string[]>('east', 'west', 'gone')),
      fc.option(fc.uniqueArray(fc.constantFrom('svc/alpha', 'svc/beta', 'svc/gamma'))),
      (model, fallback, allowedProviders, allowedModels) => {
        try {
          const { targets } = plan({ model, fallback }, { allowedModels, allowedProviders })
          expect(targets.length).toBeGreaterThan(0)
          for (const { target } of targets) expect(allowedProviders).toContain(target.provider.name)
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error
          expect(['model_not_allowed', 'provider_not_allowed']).toContain(String(error.options.code))
        }
      },
    ),
  )
})
