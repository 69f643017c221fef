/** Rules of where content may go: which targets a plan keeps, and the 404 if none is left. */
import { describe, expect, test } from 'bun:test'
import { catalogOf, modelOf, providerOf, requestOf, tierOf } from '@test/routing/world'
import { fc } from '@test/support/property'
import type { DataTerms, Model } from '@/catalog/types'
import type { EmbeddingRequest } from '@/chat/embedding'
import { GatewayError } from '@/chat/error'
import type { DataRule } from '@/chat/preferences'
import { buildPlan, type Plan } from '@/routing/plan/plan'
import { buildEmbeddingPlan } from '@/routing/plan/plan-embedding'

const ZERO: DataRule = { kind: 'zero-retention', from: 'provider.zdr' }
const UNTRAINED: DataRule = { kind: 'no-training', from: 'provider.data_collection' }
const EU: DataRule = { kind: 'regions', regions: ['eu'], from: 'svc.regions' }
const CAREFUL: DataTerms = { retentionDays: 0, trains: false, region: 'eu-central-1' }
const CARELESS: DataTerms = { retentionDays: 30, trains: true, region: 'us' }

/** A model with a target for each of these terms; its providers are named by their place. */
function modelWith(id: string, terms: readonly DataTerms[], changes: Partial<Model> = {}): Model {
  const providers = terms.map((_, index) => providerOf(`p${index}`))
  const model = modelOf(id, providers, changes)
  for (const [index, target] of model.targets.entries()) target.data = terms[index] ?? {}
  return model
}

const alpha = modelWith('svc/alpha', [CARELESS, {}, CAREFUL], { fallback: ['svc/beta'] })
const beta = modelWith('svc/beta', [CARELESS])
const embed = modelWith('svc/embed', [CARELESS, CAREFUL], { kind: 'embedding' })
const catalog = catalogOf([alpha, beta, embed], [tierOf('auto-smart', 'smart', [beta, alpha])])

const wishOf = (data: readonly DataRule[]) => ({ order: [], only: [], ignore: [], data })

function plan(rules: readonly DataRule[], model = 'svc/alpha'): Plan {
  return buildPlan(catalog, requestOf({ model, preferences: wishOf(rules) }))
}

function embedding(rules: readonly DataRule[]): Plan {
  const request: EmbeddingRequest = {
    ...{ model: 'svc/embed', inputs: [{ type: 'text', text: 'Hi' }], isLone: true, encoding: 'float' },
    ...{ nativeFields: [], preferences: wishOf(rules) },
  }
  return buildEmbeddingPlan(catalog, request)
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

describe('a plan under data rules', () => {
  for (const rules of [[ZERO], [UNTRAINED], [EU], [ZERO, UNTRAINED, EU]])
    test(`a plan keeps only targets that are stated to obey ${rules.map(({ kind }) => kind).join(' and ')}`, () => {
      expect(order(plan(rules))).toEqual(['svc/alpha p2'])
      expect(order(plan(rules, 'auto-smart'))).toEqual(['svc/alpha p2'])
      expect(order(embedding(rules))).toEqual(['svc/embed p1'])
    })

  test('a region includes its parts, and no other word that begins alike', () => {
    const within = (region: string): DataRule[] => [{ ...EU, regions: ['ch', region] }]
    for (const region of ['eu', 'eu-central', 'eu-central-1'])
      expect(order(plan(within(region)))).toEqual(['svc/alpha p2'])
    for (const region of ['e', 'eu-central-10', 'eu-west-1'])
      expect(refused(() => plan(within(region)))).toMatchObject({ status: 404 })
  })

  test('a plan without a target is a 404 that names each rule and its field', () => {
    expect(refused(() => plan([ZERO, UNTRAINED], 'svc/beta'))).toMatchObject({
      ...{ status: 404, code: 'data_policy', param: 'provider.zdr' },
      message:
        'svc/beta has no provider that is stated to keep no content (provider.zdr) and train no models on content ' +
        '(provider.data_collection). GET /v1/models states where each model’s content goes.',
    })
    expect(refused(() => embedding([{ ...EU, regions: ['ch'] }]))).toMatchObject({
      ...{ status: 404, code: 'data_policy', param: 'svc.regions' },
    })
  })
})

const terms = fc.record<DataTerms>(
  {
    retentionDays: fc.constantFrom(0, 1, 30),
    trains: fc.boolean(),
    region: fc.constantFrom('eu', 'eu-west-1', 'us', 'europe'),
  },
  { requiredKeys: [] },
)
const rule = fc.constantFrom<DataRule[]>(ZERO, UNTRAINED, EU, { ...EU, regions: ['us', 'eu-west-1'] })

test('no plan has a target that breaks a rule, whatever is stated and requested', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(terms, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      fc.array(rule, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(3), { maxLength: 3 }),
      fc.boolean(),
      (stated, rules, fallback, isTier) => {
        const models = stated.map((each, index) => modelWith(`svc/m${index}`, each, { fallback: ['svc/m0'] }))
        const world = catalogOf(models, [tierOf('auto-smart', 'smart', models)])
        const request = requestOf({
          model: isTier ? 'auto-smart' : 'svc/m0',
          fallback: fallback.filter((index) => index < models.length).map((index) => `svc/m${index}`),
          preferences: wishOf(rules),
        })
        try {
          const { targets } = buildPlan(world, request)
          expect(targets.length).toBeGreaterThan(0)
          for (const { target } of targets) {
            const { retentionDays, trains, region } = target.data ?? {}
            if (rules.includes(ZERO)) expect(retentionDays).toBe(0)
            if (rules.includes(UNTRAINED)) expect(trains).toBe(false)
            if (rules.includes(EU)) expect(['eu', 'eu-west-1']).toContain(String(region))
          }
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error
          expect(error.options.code).toBe('data_policy')
        }
      },
    ),
    { numRuns: 10_000 },
  )
})
