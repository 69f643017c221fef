/** What we sell, as the rest of the code sees it: the catalogue file after validation, with prices as integers. */
import type { FormatName } from '@/chat/format-name'
import type { Dialect } from '@/dialects/dialect'
import type { Fault } from '@/lib/fault'
import type { Nano, Pico } from '@/lib/money'

/** How long each phase of an upstream call may take, in milliseconds; `firstByteMs` and `totalMs` begin with the call. */
export type Timeouts = {
  connectMs: number
  firstByteMs: number
  idleMs: number
  totalMs: number
  /** Silence after which another target is asked beside this one, at least; undefined: see routing/failover/admission.ts. */
  hedgeMs?: number
}

/** When the client leaves: stop; or read on for the usage, always or only if it is unknown. */
export type DisconnectPolicy = { kind: 'abort' } | { kind: 'auto' | 'drain'; maxMs: number; maxConcurrent: number }

export type Provider = {
  name: string
  format: FormatName
  /** How the format is reached there. */
  dialect: Dialect
  /** Without trailing slash. */
  baseUrl: string
  /** The version in its addresses, where its dialect has one and the file names another than the usual. */
  apiVersion: string | undefined
  /** One without a secret where calls are authorized otherwise; none if it can't be called. */
  keys: ProviderKey[]
  timeouts: Timeouts
  /** A proxy stands between: whether the provider itself takes connections can't be seen from here. */
  isProxied: boolean
  /** Calls in flight at once; Infinity unless the catalogue says less. */
  maxConcurrency: number
  /** Sent with every call, e.g. an organisation id. */
  headers: Record<string, string>
  onDisconnect: DisconnectPolicy
  /** Dialect switches that the format's encoder reads. */
  quirks: ReadonlySet<string>
  /** Fields of a body that it is sent although no list of its format knows or prices them: the operator bears what they cost. */
  passFields: ReadonlySet<string>
  /** Beta interfaces that it may be asked for, by name, with or without date; undefined = the usual ones. */
  betas: ReadonlySet<string> | undefined
}

/** `secret` is never logged or shown; `id` (a short digest) stands for it everywhere. */
export type ProviderKey = { id: string; secret: string; weight: number }

/** pico-USD per token for each class of tokens. Reasoning is inside output. */
export type Prices = {
  input: Pico
  cacheRead: Pico
  cacheWrite5m: Pico
  cacheWrite1h: Pico
  output: Pico
}

/** A price list that applies to the whole request once its input exceeds `aboveInputTokens`. */
export type PriceStep = { aboveInputTokens: number; prices: Prices }

/** The price list of one service tier, with its steps in ascending order. */
export type PriceList = { base: Prices; steps: PriceStep[] }

/** The list of the standard tier, and those of other service tiers by the names of `chat/service-tier.ts`. */
export type Pricing = PriceList & { serviceTiers?: ReadonlyMap<string, PriceList> }

/** A tool's price per use or request, the provider's (missing: unknown), and limits other than the format's. */
export type ToolPrice = { price: Nano; cost?: Nano; per: 'use' | 'request'; maxUses?: number; tokensPerUse?: number }

/** By the tool's name, such as `web_search`. */
export type ToolPrices = ReadonlyMap<string, ToolPrice>

/** `cost` is what the provider charges us, by the operator's word: undefined if it is not stated. Customers never see it. */
export type Target = {
  provider: Provider
  model: string
  /** What the foundation model is called, where its name at the provider doesn't say so. */
  family?: string
  quirks: ReadonlySet<string>
  /** How often it is asked first of those beside it that have a weight too; missing where the order of the file decides. */
  weight?: number
  cost?: Pricing
  /** The service tiers with a price that it can be asked for beside the standard one; missing where there are none. */
  serviceTiers?: ReadonlySet<string>
  /** What customers pay for tools that run there; missing where none may be used. */
  toolPrices?: ToolPrices
}

export const CAPABILITIES = ['tools', 'images', 'files', 'audio', 'reasoning', 'json-schema'] as const
export type Capability = (typeof CAPABILITIES)[number]

export const MODEL_KINDS = ['chat', 'embedding'] as const
/** What a model gives: answers in a conversation, or the vectors of texts. */
export type ModelKind = (typeof MODEL_KINDS)[number]

export type Model = {
  id: string
  /** Other names that requests may use for it. */
  aliases: readonly string[]
  kind: ModelKind
  name: string
  /** Unix seconds. */
  created: number
  ownedBy: string
  targets: Target[]
  pricing: Pricing
  /** Tokens of a whole conversation, or of each text to embed. */
  contextLength: number
  /** 0 for one that embeds, and whose output costs nothing. */
  maxOutputTokens: number
  capabilities: ReadonlySet<Capability>
  /** The day after which it is no longer sold, such as 2027-01-31; undefined = none is known. */
  expirationDate?: string
  /** Model ids to try when this one fails and the request names none. */
  fallback: string[]
  /** How good its answers are, 0 to 1, for the tiers' choice; undefined = not stated. */
  quality?: number
  /** An exact tokenizer count times this is still an upper bound of what the provider counts. */
  tokenizerSafetyFactor: number
}

export type Tier = {
  id: string
  /** Other names that requests may use for it. */
  aliases: readonly string[]
  name: string
  created: number
  contextLength: number
  strategy: string
  /** What the strategy's score weighs, by name; empty = the strategy's own defaults. */
  weights: ReadonlyMap<string, number>
  /** The share of its requests whose answers are counted by model, from 0 (none) to 1. */
  observe: number
  candidates: Model[]
}

/** Limits of a key that sets none of its own. */
export type DefaultLimits = { requestsPerMinute: number; tokensPerMinute: number; concurrency: number }

export type Catalog = {
  service: string
  providers: ReadonlyMap<string, Provider>
  /** In the file's order. */
  models: ReadonlyMap<string, Model>
  tiers: ReadonlyMap<string, Tier>
  /** What each alias of a model or tier stands for. */
  aliases: ReadonlyMap<string, Model | Tier>
  limits: DefaultLimits
  /** What is wrong with the file and keeps a provider from being called, and nothing else. */
  warnings?: readonly Fault[]
}
