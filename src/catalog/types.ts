/** The catalogue after validation, as the rest of the code uses it, with prices as integers. */
import type { FormatName } from '@/chat/format-name'
import type { UnitCount } from '@/chat/units'
import type { Dialect } from '@/dialects/dialect'
import type { Fault } from '@/lib/fault'
import type { Nano, Pico } from '@/lib/money'

export type Timeouts = {
  connectMs: number
  firstByteMs: number
  idleMs: number
  totalMs: number
  /** Minimum silence after which another target is called in parallel; undefined: see routing/failover/admission.ts. */
  hedgeMs?: number
}

/** If the client disconnects: abort the upstream call, or read on for its usage, always (`drain`) or only if unknown (`auto`). */
export type DisconnectPolicy = { kind: 'abort' } | { kind: 'auto' | 'drain'; maxMs: number; maxConcurrent: number }

export type Provider = {
  name: string
  format: FormatName
  dialect: Dialect
  /** Without trailing slash. */
  baseUrl: string
  /** The API version in its URLs; undefined: the dialect's default. */
  apiVersion: string | undefined
  /** One entry without a secret if calls are authorized without keys; empty if the provider can't be called. */
  keys: ProviderKey[]
  timeouts: Timeouts
  /** Calls go through a proxy, so a refused connection says nothing about the provider itself. */
  isProxied: boolean
  /** Maximal calls at once; Infinity by default. */
  maxConcurrency: number
  /** Headers sent with every call, such as an organisation id. */
  headers: Record<string, string>
  onDisconnect: DisconnectPolicy
  /** Names of deviations that the format's encoder handles. */
  quirks: ReadonlySet<string>
  /** Body fields that are passed on although unknown or without price: the operator bears their cost. */
  passFields: ReadonlySet<string>
  /** Beta features that may be requested, with or without date; undefined: the default ones. */
  betas: ReadonlySet<string> | undefined
  /** Data terms of its targets that state none of their own. */
  data?: DataTerms
}

/** `secret` is never logged or shown; `id` (a short digest) represents it. */
export type ProviderKey = { id: string; secret: string; weight: number }

/** pico-USD per token by token class. Reasoning counts as output. */
export type Prices = {
  input: Pico
  cacheRead: Pico
  cacheWrite5m: Pico
  cacheWrite1h: Pico
  output: Pico
}

/** Prices for the whole request if its input exceeds `aboveInputTokens`. */
export type PriceStep = { aboveInputTokens: number; prices: Prices }

/** The price of one unit. If the unit is a token, the price replaces the token class's for a part of the input or output. */
export type UnitPrice = Omit<UnitCount, 'count'> & { price: Pico }

/** The prices of one service tier; `steps` by ascending input size. `lines`: prices besides those of tokens, equal at every step. */
export type PriceList = { base: Prices; steps: PriceStep[]; lines?: readonly UnitPrice[] }

/** The standard tier's list, and lists of other service tiers, named as in `chat/service-tier.ts`. */
export type Pricing = PriceList & { serviceTiers?: ReadonlyMap<string, PriceList> }

/** A tool's price per use or request, the provider's price (missing: unknown), and limits that differ from the format's. */
export type ToolPrice = { price: Nano; cost?: Nano; per: 'use' | 'request'; maxUses?: number; tokensPerUse?: number }

/** Prices by tool name, such as `web_search`. */
export type ToolPrices = ReadonlyMap<string, ToolPrice>

/** How a provider treats the content of requests, as the operator states it. */
export type DataTerms = {
  /** Days for which content is kept; 0: not at all; missing: unknown, which counts as kept. */
  retentionDays?: number
  /** Whether models are trained on content; missing: unknown, which counts as training. */
  trains?: boolean
  /** Where content is processed, such as `eu` or `eu-central-1`; missing: unknown. */
  region?: string
}

/** `cost`: what the provider charges us, as stated by the operator. Never shown to customers. */
export type Target = {
  provider: Provider
  model: string
  /** Name of the foundation model, if the target's model name doesn't contain it. */
  family?: string
  quirks: ReadonlySet<string>
  /** Relative frequency of being tried first among weighted targets; missing: the file's order decides. */
  weight?: number
  cost?: Pricing
  /** Service tiers with a price, besides standard, that a request may use; missing if there are none. */
  serviceTiers?: ReadonlySet<string>
  /** Prices for tools that run at the provider; missing if none may be used. */
  toolPrices?: ToolPrices
  /** Missing if the catalogue states no data terms. */
  data?: DataTerms
}

export const CAPABILITIES = ['tools', 'images', 'files', 'audio', 'reasoning', 'json-schema'] as const
export type Capability = (typeof CAPABILITIES)[number]

export const MEDIA_KINDS = ['image', 'speech', 'transcription', 'rerank'] as const
/** Kinds of models that are sold by other units than text tokens. */
export type MediaKind = (typeof MEDIA_KINDS)[number]

export const MODEL_KINDS = ['chat', 'embedding', ...MEDIA_KINDS] as const
/** A model's purpose: it answers conversations, embeds texts, makes pictures, speaks, transcribes, or sorts documents. */
export type ModelKind = (typeof MODEL_KINDS)[number]

export type Model = {
  id: string
  aliases: readonly string[]
  kind: ModelKind
  name: string
  created: number
  ownedBy: string
  targets: Target[]
  pricing: Pricing
  /** The factor for its prices in batches; undefined: batches cost the same. */
  batchDiscount?: number
  /** Maximum tokens of a whole conversation, or of each text to embed. */
  contextLength: number
  /** 0 for models without output tokens. */
  maxOutputTokens: number
  capabilities: ReadonlySet<Capability>
  /** The last day on which it is sold, such as 2027-01-31; undefined: unknown. */
  expirationDate?: string
  /** Models to try if this one fails and the request names no fallback. */
  fallback: string[]
  /** Quality of its answers from 0 to 1, for tiers; undefined: not stated. */
  quality?: number
  /** A tokenizer count multiplied by this is an upper bound of the provider's count. */
  tokenizerSafetyFactor: number
}

export type Tier = {
  id: string
  aliases: readonly string[]
  name: string
  created: number
  contextLength: number
  strategy: string
  /** Weights of the strategy's score, by name; empty: the strategy's defaults. */
  weights: ReadonlyMap<string, number>
  /** Share of requests, 0 to 1, whose answers are counted by model. */
  observe: number
  candidates: Model[]
}

/** Limits of a key that sets none of its own. */
export type DefaultLimits = { requestsPerMinute: number; tokensPerMinute: number; concurrency: number }

export type Catalog = {
  service: string
  providers: ReadonlyMap<string, Provider>
  /** The models by id, in the file's order. */
  models: ReadonlyMap<string, Model>
  tiers: ReadonlyMap<string, Tier>
  aliases: ReadonlyMap<string, Model | Tier>
  limits: DefaultLimits
  warnings?: readonly Fault[]
}
