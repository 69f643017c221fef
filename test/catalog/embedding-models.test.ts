/** Embedding models in the catalogue: they only have an input price, and no setting of chat models. */
import { describe, expect, test } from 'bun:test'
import { loadCatalog } from '@/catalog/catalog'
import { requestCost, worstCaseCost } from '@/catalog/price'
import { ZERO_USAGE } from '@/chat/usage'
import { assert } from '@/lib/assert'
import { nano } from '@/lib/money'
import { ALL_KEYS, faultsOf, type Json, SAMPLE, spoil } from './sample-catalog'

const EMBEDDER: { [key: string]: Json | undefined } = {
  ...{ id: 'svc/gamma', kind: 'embedding', name: 'Gamma', created: 1_760_000_000, ownedBy: 'provider1' },
  targets: [
    { provider: 'provider1', model: 'gamma' },
    { provider: 'provider3', model: 'gamma', cost: { costPer1mInputTokens: 0.01 } },
  ],
  pricing: { inputPer1mTokens: 0.1, costPer1mInputTokens: 0.05 },
  contextLength: 8192,
}

test('an embedding model has one input price, no output price, and a cost per target', () => {
  const loaded = loadCatalog(spoil('models.2', EMBEDDER), ALL_KEYS)
  assert(loaded.kind === 'loaded', 'the catalogue is sound')
  const model = loaded.catalog.models.get('svc/gamma')
  assert(model, 'the model is offered')
  expect(model).toMatchObject({ kind: 'embedding', maxOutputTokens: 0, contextLength: 8192, fallback: [] })
  expect(worstCaseCost(model.pricing, 1_000_000, 0)).toBe(nano(100_000_000))
  const costs = model.targets.map(({ cost }) => cost && requestCost(cost, { ...ZERO_USAGE, uncached: 1_000_000 }))
  expect(costs).toEqual([nano(50_000_000), nano(10_000_000)])
})

describe('faulty embedding models', () => {
  const cases: [Json | undefined, string][] = [
    [{ ...EMBEDDER, maxOutputTokens: 1 }, 'maxOutputTokens: is not a known property'],
    [{ ...EMBEDDER, fallback: ['svc/alpha'] }, 'fallback: is not a known property'],
    [
      { ...EMBEDDER, pricing: { inputPer1mTokens: 0.1, outputPer1mTokens: 0.1 } },
      'pricing.outputPer1mTokens: is not a known property',
    ],
    [
      { ...EMBEDDER, targets: [{ provider: 'provider2', model: 'gamma' }] },
      'targets[0].provider: provider2 speaks messages, which has no embeddings',
    ],
    [
      { ...SAMPLE.models[1], id: 'svc/gamma', kind: 'vectors' } as unknown as Json,
      'kind: expected one of chat, embedding, image, speech, transcription, rerank',
    ],
  ]

  test.each(cases)('the faulty embedding model %j has one error', (model, fault) => {
    expect(faultsOf(spoil('models.2', model))).toEqual([`models[2].${fault}`])
  })
})

test('an embedding model may be neither the fallback of a chat model nor the candidate of a tier', () => {
  const file = JSON.parse(spoil('models.2', EMBEDDER))
  file.models[0].fallback = ['svc/gamma']
  file.tiers[0].candidates.push('svc/gamma')
  expect(faultsOf(JSON.stringify(file))).toEqual([
    'models[0].fallback[0]: svc/gamma embeds, and answers no conversation',
    'tiers[0].candidates[2]: svc/gamma embeds, and answers no conversation',
  ])
})
