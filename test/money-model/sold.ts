/** What is sold and for how much: catalogues that reloads change, what a request holds and costs by them, and the same in integers. */
import { expect } from 'bun:test'
import { catalogOf, modelOf, providerOf, requestOf, tierOf } from '@test/routing/world'
import { measurePrompt } from '@/catalog/estimate'
import { requestCost } from '@/catalog/price'
import { createLiveCatalog, type LiveCatalog } from '@/catalog/reload/live-catalog'
import type { Catalog, Model } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { quickSize } from '@/gateway/hold/hold-size'
import type { Nano } from '@/lib/money'
import { buildPlan } from '@/routing/plan/plan'

/** Of each model the price of a token, in pico-USD, undefined if it is not sold; which of them the tier chooses from; and whether the first falls back to the second. */
type Offer = { prices: readonly (number | undefined)[]; candidates: readonly number[]; isFallingBack: boolean }

/** What one request was planned by: it stays so, whatever is sold by the time that it is charged. */
export type Sale = { model: Model; price: number; amount: Nano; inputCost: Nano; tokens: number }

const FIRST_OFFER: Offer = { prices: [2_000, 2_000, 75_000], candidates: [0, 1, 2], isFallingBack: true }

const TIER = 'auto-any'
const PICO_PER_USD = 1_000_000
const OUTPUT_FACTOR = 4
const NO_USAGE = { uncached: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 }

/** What one gateway sells. */
export type Shop = { live: LiveCatalog; offer: Offer }

/** A gateway that has just started. */
export function openShop(): Shop {
  return { live: createLiveCatalog(catalogFor(FIRST_OFFER)), offer: FIRST_OFFER }
}

/** From now on it sells this. */
export function reload(shop: Shop, offer: Offer): void {
  shop.live.replace(catalogFor(offer))
  shop.offer = offer
}

/** Which models may answer who asks for one, or for the tier where `asked` is none of them; by the offer alone. */
function answering({ prices, candidates, isFallingBack }: Offer, asked: number): number[] {
  if (asked >= prices.length) return candidates.filter((index) => prices[index] !== undefined)
  if (prices[asked] === undefined) return []
  return asked === 0 && isFallingBack && prices[1] !== undefined ? [0, 1] : [asked]
}

type Wish = { asked: number; tokens: number; output: number; answers: number }

/**
 * Plans a request and sizes its hold as the gateway does. Undefined if nobody sells what it asks for. `available` in the place of
 * `tokens` asks for as much as that pays for.
 */
export function plan({ live, offer }: Shop, wish: Wish, available?: number): Sale | undefined {
  const { asked, output, answers } = wish
  const named = asked < offer.prices.length ? idOf(asked) : TIER
  const request = requestOf({ model: named, maxOutputTokens: output })
  const may = answering(offer, asked)
  const planned = planOf(live.current, request)
  expect(planned?.models.map(({ id }) => id).sort()).toEqual(may.length === 0 ? undefined : may.map(idOf).sort())
  if (!planned) return undefined
  const prompt = measurePrompt(request)
  const dearest = Math.max(...may.map((index) => offer.prices[index] ?? 0))
  const beside = prompt.overheadTokens + OUTPUT_FACTOR * output
  const most = available === undefined ? wish.tokens : Math.floor((Math.max(available, 0) * 1_000) / dearest) - beside
  const tokens = Math.max(most, 0)
  const { amount, inputCost } = quickSize({ request, prompt, plan: planned }, tokens)
  // In integers once more: as much as the dearest asks, rounded up to a nano-USD, once.
  expect<number>(amount).toBe(Math.ceil(((tokens + beside) * dearest) / 1_000))
  const model = planned.models[answers % planned.models.length] as Model
  const price = offer.prices[may.find((index) => idOf(index) === model.id) ?? 0] ?? 0
  return { model, price, amount, inputCost, tokens: tokens + beside }
}

/** What a share of what was held for costs, in percent, at the model that answers. */
export function costOf({ model, price, tokens }: Sale, share: number): Nano {
  const used = Math.floor((tokens * share) / 100)
  const cost = requestCost(model.pricing, { ...NO_USAGE, uncached: used })
  expect<number>(cost).toBe(Math.ceil((used * price) / 1_000))
  return cost
}

function planOf(catalog: Catalog, request: ChatRequest) {
  try {
    return buildPlan(catalog, request)
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'model_not_found') return undefined
    throw error
  }
}

function idOf(index: number): string {
  return `svc/model-${index}`
}

function catalogFor({ prices, candidates, isFallingBack }: Offer): Catalog {
  const provider = providerOf('p')
  const models = prices.map((price, index) => {
    if (price === undefined) return undefined
    const fallback = index === 0 && isFallingBack && prices[1] !== undefined ? [idOf(1)] : []
    return modelOf(idOf(index), [provider], { usd: price / PICO_PER_USD, fallback })
  })
  const chosen = candidates.flatMap((index) => models[index] ?? [])
  const tiers = chosen.length > 0 ? [tierOf(TIER, 'smart', chosen)] : []
  return catalogOf(
    models.filter((model) => model !== undefined),
    tiers,
  )
}
