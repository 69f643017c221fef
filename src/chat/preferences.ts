/** A caller's wishes for routing besides the model; an extension of ours in every format. */
import type { Pico } from '@/lib/money'

export const SORTS = ['price', 'latency', 'throughput'] as const
export type Sort = (typeof SORTS)[number]

/** Prices of plain input and output beyond which a model is too dear. */
export type MaxPrice = { input?: Pico; output?: Pico }

/** Providers by the names that the catalogue gives them; an empty list says nothing. */
export type RoutePreferences = {
  /** The least quality of a tier's candidates, 0 to 1. */
  quality?: number
  maxPrice?: MaxPrice
  /** These first, in this order. */
  order: readonly string[]
  /** No other than these. */
  only: readonly string[]
  /** Not these. */
  ignore: readonly string[]
  sort?: Sort
  /** Whether a model's first target is asked alone. */
  firstTargetOnly?: true
  /** The field in which the providers were named, where that is not `svc.providers`. */
  spelling?: 'provider'
  /** Whether what constrains the answer may be left out if a provider's format cannot say it. */
  lossy?: true
}
