/** A caller's routing preferences: our extension of every format. */
import type { Pico } from '@/lib/money'

export const SORTS = ['price', 'latency', 'throughput'] as const
export type Sort = (typeof SORTS)[number]

/** Highest prices of plain input and output that the caller accepts. */
export type MaxPrice = { input?: Pico; output?: Pico }

/** Providers by their catalogue names; an empty list has no effect. */
export type RoutePreferences = {
  /** Minimal quality of a tier's candidates, 0 to 1. */
  quality?: number
  maxPrice?: MaxPrice
  order: readonly string[]
  only: readonly string[]
  ignore: readonly string[]
  sort?: Sort
  /** Only the model's first target is called, without failover. */
  firstTargetOnly?: true
  /** The field that named the providers, if not `svc.providers`. */
  spelling?: 'provider'
  /** Whether constraining fields may be omitted if a provider's format lacks them. */
  lossy?: true
}
