/** Data rules of a request and its key: the targets that a plan keeps, and the 404 if none is left. */
import { describe, expect, test } from 'bun:test'
import { catalogOf, modelOf, providerOf, requestOf, tierOf } from '@test/routing/world'
import { fc } from '@test/support/property'
import type { DataTerms, Model, Target } from '@/catalog/types'
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

const EMBED: EmbeddingRequest = {
  ...{ model: 'svc/embed', inputs: [{ type: 'text', text: 'Hi' }], isLone: true, encoding: 'float', nativeFields: [] },
}

function embedding(rules: readonly DataRule[]): Plan {
  return buildEmbeddingPlan(catalog, { ...EMBED, preferences: wishOf(rules) })
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

  test('a rule about a region includes its sub-regions, but no other name with the same beginning', () => {
    const within = (region: string): DataRule[] => [{ ...EU, regions: ['ch', region] }]
    for (const region of ['eu', 'eu-central', 'eu-central-1'])
      expect(order(plan(within(region)))).toEqual(['svc/alpha p2'])
    for (const region of ['e', 'eu-central-10', 'eu-west-1'])
      expect(refused(() => plan(within(region)))).toMatchObject({ status: 404 })
  })

  test('a plan without a target under data rules is a 404 that names each rule and its field', () => {
    expect(refused(() => plan([ZERO, UNTRAINED], 'svc/beta'))).toMatchObject({
      ...{ status: 404, code: 'data_policy', param: 'provider.zdr' },
      message:
        'svc/beta has no provider that is stated to keep no content (provider.zdr) and train no models on content ' +
        '(provider.data_collection). GET /v1/models states where each model’s content goes.',
    })
    const partly = [CAREFUL, { ...CAREFUL, region: 'us' }].map((data) => ({ ...data, trains: data.region === 'us' }))
    const world = catalogOf([modelWith('svc/alpha', partly)], [])
    const mixed = requestOf({ model: 'svc/alpha', preferences: wishOf([{ ...EU, regions: ['ch'] }]) })
    const ofKey: DataRule = { ...UNTRAINED, from: 'key' }
    expect(refused(() => buildPlan(world, mixed, { dataRules: [ZERO, ofKey] }))).toMatchObject({
      param: 'svc.regions',
      message: expect.stringContaining('is stated to process content in ch (svc.regions). GET'),
    })
    const together = requestOf({ model: 'svc/alpha' })
    const rules: DataRule[] = [ofKey, { kind: 'regions', regions: ['us'], from: 'account' }]
    expect(refused(() => buildPlan(world, together, { dataRules: rules }))).toMatchObject({
      param: 'model',
      message: expect.stringContaining(
        'train no models on content (a rule of this API key) and process content in us (a rule for all keys of this account).',
      ),
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

/** The rules of account, member, key and request. */
const owned = fc.tuple(
  ...['account', 'member', 'key'].map((from) =>
    fc.array(
      rule.map((one) => ({ ...one, from })),
      { maxLength: 2 },
    ),
  ),
)
const US_OR_WEST = ['us', 'eu-west-1']

function expectObeyed({ data = {} }: Target, rules: readonly DataRule[]): void {
  for (const one of rules) {
    if (one.kind === 'zero-retention') expect(data.retentionDays).toBe(0)
    else if (one.kind === 'no-training') expect(data.trains).toBe(false)
    else expect(one.regions.includes('eu') ? ['eu', 'eu-west-1'] : US_OR_WEST).toContain(String(data.region))
  }
}

test('no plan has a target that breaks a data rule, whatever is stated and whoever sets the rule', () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(
      fc.array(fc.array(terms, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
      owned,
      fc.option(fc.array(rule, { minLength: 1, maxLength: 2 }), { nil: undefined }),
      fc.array(fc.nat(3), { maxLength: 3 }),
      fc.constantFrom('model', 'tier', 'embedding'),
      fc.boolean(),
      (stated, ofOwners, ofRequest, fallback, kind, isSticky) => {
        const isEmbedding = kind === 'embedding'
        const models = stated.map((each, index) =>
          modelWith(`svc/m${index}`, each, isEmbedding ? { kind } : { fallback: ['svc/m0'] }),
        )
        const world = catalogOf(models, isEmbedding ? [] : [tierOf('auto-smart', 'smart', models)])
        const dataRules = ofOwners.flat()
        const rules = [...dataRules, ...(ofRequest ?? [])]
        const preferences = ofRequest && { preferences: wishOf(ofRequest) }
        const options = { ...(dataRules.length > 0 && { dataRules }), ...(isSticky && { stickyModelId: 'svc/m0' }) }
        const names = fallback.filter((index) => index < models.length).map((index) => `svc/m${index}`)
        const model = kind === 'tier' ? 'auto-smart' : 'svc/m0'
        try {
          const { targets, data } = isEmbedding
            ? buildEmbeddingPlan(world, { ...EMBED, model, ...preferences }, options)
            : buildPlan(world, requestOf({ model, fallback: names, ...preferences }), options)
          seen.add(`${kind} planned`)
          expect(targets.length).toBeGreaterThan(0)
          expect(data ?? []).toEqual(rules)
          for (const { target } of targets) expectObeyed(target, rules)
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error
          seen.add(`${kind} refused`)
          expect(error.options.code).toBe('data_policy')
        }
      },
    ),
    { numRuns: 10_000 },
  )
  expect(seen.size).toBe(6)
})
