/** A caller's routing preferences: our extension of every format. */
import type { Pico } from '@/lib/money'

export const SORTS = ['price', 'latency', 'throughput'] as const
export type Sort = (typeof SORTS)[number]

/** Maximum of `cacheSeconds`, the age of cached answers that a request accepts: one day. */
export const MAX_CACHE_SECONDS = 86_400

/** Highest prices of plain input and output that the caller accepts. */
export type MaxPrice = { input?: Pico; output?: Pico }

/** A region as catalogues and requests name it: a word of a-z, 0-9 and -, at most 64 characters. */
export const REGION_PATTERN = '^[a-z0-9][a-z0-9-]{0,63}$'

/** Owners of data rules, which limit the providers that may get content. A request can also set such rules. */
export const RULE_OWNERS = ['account', 'member', 'key'] as const
export type RuleOwner = (typeof RULE_OWNERS)[number]

/** A property that a provider must state about its use of content. `from`: the request field that requires it, or the rule's owner. */
export type DataRule =
  | { kind: 'zero-retention'; from: string }
  | { kind: 'no-training'; from: string }
  | { kind: 'regions'; regions: readonly string[]; from: string }

/** Routing preferences. Lists name providers as in the catalogue; an empty list has no effect. */
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
  data?: readonly DataRule[]
  /** The greatest age of a cached answer that the caller accepts. */
  cacheSeconds?: number
}

/** The preferences of a request without any. */
export const NO_PREFERENCES: RoutePreferences = { order: [], only: [], ignore: [] }
