/** What is sold and for how much: catalogues that reloads change, what a request holds and costs by them, and the same in integers. */
import { expect } from 'bun:test'
import { catalogOf, modelOf, providerOf, requestOf, tierOf } from '@test/routing/world'
import { measurePrompt } from '@/catalog/estimate'
import { requestCost } from '@/catalog/price'
import { createLiveCatalog, type LiveCatalog } from '@/catalog/reload/live-catalog'
import type { Catalog, Model, UnitPrice } from '@/catalog/types'
import { withFee } from '@/catalog/unit-prices'
import { GatewayError } from '@/chat/error'
import type { ChatRequest } from '@/chat/request'
import { withUnits } from '@/chat/usage'
import { quickSize } from '@/gateway/hold/hold-size'
import type { Nano, Pico } from '@/lib/money'
import { buildPlan } from '@/routing/plan/plan'

/** Of each model the price of a token, in pico-USD, undefined if it is not sold; which of them the tier chooses from; and whether the first falls back to the second. */
type Offer = { prices: readonly (number | undefined)[]; candidates: readonly number[]; isFallingBack: boolean }

/** What one request was planned by: it stays so, whatever is sold by the time that it is charged. */
export type Sale = { model: Model; index: number; price: number; amount: Nano; inputCost: Nano; tokens: number }

const FIRST_OFFER: Offer = { prices: [2_000, 2_000, 75_000], candidates: [0, 1, 2], isFallingBack: true }

const TIER = 'auto-any'
const PICO_PER_USD = 1_000_000
/** Of each model: the dearest price of an output token, in prices of its input, and the fee of a request in pico-USD. */
const OUTPUT_FACTORS = [4, 4, 8]
const FEES = [0, 700_000_500, 0]
/** The model whose output may be pictures, at a price of their own. */
const PICTURE_MODEL = 2
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
  const besideAt = (index: number) => prompt.overheadTokens + (OUTPUT_FACTORS[index] ?? 0) * output
  const picoAt = (index: number, used: number) => used * (offer.prices[index] ?? 0) + (FEES[index] ?? 0)
  const payable = may.map((index) => {
    const pico = Math.max(available ?? 0, 0) * 1_000 - (FEES[index] ?? 0)
    return Math.floor(pico / (offer.prices[index] ?? 0)) - besideAt(index)
  })
  const tokens = Math.max(available === undefined ? wish.tokens : Math.min(...payable), 0)
  const { amount, inputCost } = quickSize({ request, prompt, plan: planned }, tokens)
  // In integers once more: as much as the dearest asks, rounded up to a nano-USD, once.
  expect<number>(amount).toBe(
    Math.max(...may.map((index) => Math.ceil(picoAt(index, tokens + besideAt(index)) / 1_000))),
  )
  const model = planned.models[answers % planned.models.length] as Model
  const index = may.find((one) => idOf(one) === model.id) ?? 0
  return { model, index, price: offer.prices[index] ?? 0, amount, inputCost, tokens: tokens + besideAt(index) }
}

/** What a share of what was held for costs, in percent, at the model that answers. */
export function costOf({ model, index, price, tokens }: Sale, share: number): Nano {
  const used = Math.floor((tokens * share) / 100)
  const factor = OUTPUT_FACTORS[PICTURE_MODEL] ?? 1
  // About half of the charge is for pictures.
  const pictures = index === PICTURE_MODEL ? Math.floor(used / (2 * factor)) : 0
  const usage = withUnits({ ...NO_USAGE, uncached: used - factor * pictures, output: pictures }, [
    { billable: 'output_image', unit: 'token', count: pictures },
  ])
  const cost = requestCost(model.pricing, withFee(usage, model.pricing))
  expect<number>(cost).toBe(Math.ceil((used * price + (FEES[index] ?? 0)) / 1_000))
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

function linesOf(index: number, price: number): UnitPrice[] {
  const fee = FEES[index] ?? 0
  if (fee > 0) return [{ billable: 'request', unit: 'request', price: fee as Pico }]
  if (index !== PICTURE_MODEL) return []
  return [{ billable: 'output_image', unit: 'token', price: ((OUTPUT_FACTORS[index] ?? 0) * price) as Pico }]
}

function catalogFor({ prices, candidates, isFallingBack }: Offer): Catalog {
  const provider = providerOf('p')
  const models = prices.map((price, index) => {
    if (price === undefined) return undefined
    const fallback = index === 0 && isFallingBack && prices[1] !== undefined ? [idOf(1)] : []
    const model = modelOf(idOf(index), [provider], { usd: price / PICO_PER_USD, fallback })
    const lines = linesOf(index, price)
    return lines.length > 0 ? { ...model, pricing: { ...model.pricing, lines } } : model
  })
  const chosen = candidates.flatMap((index) => models[index] ?? [])
  const tiers = chosen.length > 0 ? [tierOf(TIER, 'smart', chosen)] : []
  return catalogOf(
    models.filter((model) => model !== undefined),
    tiers,
  )
}
