/** Requests, prices and models for the tests of estimates and prices. */
import { fc } from '@test/support/property'
import type { Model, Prices, Pricing } from '@/catalog/types'
import type { ChatRequest, ContentBlock, UserBlock } from '@/chat/request'
import type { Pico } from '@/lib/money'

/** A request with one turn of `content`, whose words cost the same whoever says them. */
export function requestOf(content: ContentBlock[] | string, more: Partial<ChatRequest> = {}): ChatRequest {
  const blocks: ContentBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return {
    model: 'svc/alpha',
    stream: false,
    system: [],
    turns: [{ role: 'user', content: blocks as UserBlock[] }],
    tools: [],
    sampling: {},
    choices: 1,
    output: { type: 'text' },
    fallback: [],
    wantsUsage: false,
    extensions: {},
    ...more,
  }
}

/** Prices in pico-USD per token, by class. */
export function prices(input: number, output: number, more: Partial<Record<keyof Prices, number>> = {}): Prices {
  return { input, cacheRead: input, cacheWrite5m: input, cacheWrite1h: input, output, ...more } as Prices
}

/** A model of these prices and limits that nobody serves. */
export function modelOf(pricing: Pricing, maxOutputTokens = 1000): Model {
  return {
    id: 'svc/alpha',
    aliases: [],
    kind: 'chat',
    name: 'Alpha',
    created: 0,
    ownedBy: 'nobody',
    targets: [],
    pricing,
    contextLength: 100_000,
    maxOutputTokens,
    capabilities: new Set(),
    fallback: [],
    tokenizerSafetyFactor: 1,
  }
}

const pico = fc.integer({ min: 0, max: 100_000_000 }).map((value) => value as Pico)
const arbitraryPrices: fc.Arbitrary<Prices> = fc.record({
  input: pico,
  cacheRead: pico,
  cacheWrite5m: pico,
  cacheWrite1h: pico,
  output: pico,
})

/** Price lists with up to three steps, in order. */
export const arbitraryPricing: fc.Arbitrary<Pricing> = fc
  .tuple(
    arbitraryPrices,
    fc.uniqueArray(fc.integer({ min: 1, max: 400_000 }), { maxLength: 3 }),
    fc.array(arbitraryPrices, { minLength: 3, maxLength: 3 }),
  )
  .map(([base, limits, lists]) => ({
    base,
    steps: limits
      .sort((left, right) => left - right)
      .map((aboveInputTokens, index) => ({ aboveInputTokens, prices: lists[index] ?? base })),
  }))
