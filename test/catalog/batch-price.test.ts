/** The batch prices of a model: each price times the discount, rounded up. */
import { expect, test } from 'bun:test'
import { atBatchPrice } from '@/catalog/batch-price'
import { faultsOf, type Json, load, SAMPLE, spoil } from './sample-catalog'

const LIST = { inputPer1mTokens: 1, outputPer1mTokens: 3.000001 }
const PRICING = {
  ...LIST,
  steps: [{ aboveInputTokens: 1_000, inputPer1mTokens: 2, outputPer1mTokens: 4 }],
  lines: [{ billable: 'request', unit: 'request', usd: 0.01 }],
  serviceTiers: { flex: { inputPer1mTokens: 0.5, outputPer1mTokens: 1 } },
}

function model(discount: number | undefined) {
  const file = structuredClone(SAMPLE) as unknown as { models: Record<string, unknown>[] }
  Object.assign(file.models[1] ?? {}, { pricing: PRICING, ...(discount !== undefined && { batchDiscount: discount }) })
  const found = load(JSON.stringify(file)).models.get('svc/beta')
  if (!found) throw new Error('no svc/beta')
  return found
}

test('a batch discount multiplies base prices, steps, service tiers and prices of other units, rounded up', () => {
  const own = model(0.5)
  const { pricing } = atBatchPrice(own)
  expect(pricing.base as unknown).toMatchObject({ input: 500_000, output: 1_500_001 })
  expect(pricing.steps as unknown).toMatchObject([{ aboveInputTokens: 1_000, prices: { input: 1e6, output: 2e6 } }])
  expect(pricing.serviceTiers?.get('flex') as unknown).toMatchObject({ base: { input: 250_000, output: 500_000 } })
  expect(pricing.lines as unknown).toEqual([{ billable: 'request', unit: 'request', price: 5_000_000_000 }])
  expect(own.pricing.base.input as number).toBe(1e6)
  expect(atBatchPrice(own)).toBe(atBatchPrice(own))
})

test.each([undefined, 1])('a batch discount of %p changes no price', (discount) => {
  const own = model(discount)
  expect(atBatchPrice(own)).toBe(own)
})

test.each<Json>([0, -1, 1.5, '0.5'])('a batch discount of %p is refused', (discount) => {
  expect(faultsOf(spoil('models.1.batchDiscount', discount))).toEqual([
    expect.stringContaining('models[1].batchDiscount: expected a factor above 0 and at most 1'),
  ])
})
