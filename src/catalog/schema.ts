/** The schema of the catalogue file: checks of each part alone, by TypeBox. */
import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { AuthSchema } from '@/catalog/dialects/auth-schema'
import { FORMAT_NAMES } from '@/chat/format-name'
import { REGION_PATTERN } from '@/chat/preferences'
import { BILLABLES, UNITS, VARIANT_PATTERN } from '@/chat/units'
import { DIALECT_NAMES } from '@/dialects/dialect'
import { oneOf } from '@/lib/schemas'
import { CAPABILITIES, MEDIA_KINDS, MODEL_KINDS, type ModelKind } from './types'

const MAX_DURATION_MS = 24 * 3_600_000
const MAX_TOKENS = 100_000_000

/** A name that is safe in a header, a metric label and a fault's place. */
const NAME = '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$'
const TIER_NAME = '^[a-z][a-z0-9_-]{0,63}$'
const Quirks = Type.Array(Type.String({ pattern: '^[a-z][a-z0-9_-]*$', description: 'a word of a-z, 0-9, _ and -' }))
const Milliseconds = Type.Integer({
  minimum: 1,
  maximum: MAX_DURATION_MS,
  description: `a positive whole number of milliseconds, at most ${MAX_DURATION_MS}`,
})
const Price = Type.Number({ minimum: 0, maximum: 1_000_000, description: 'a price in USD per 1,000,000 tokens' })
const Tokens = Type.Integer({ minimum: 1, maximum: MAX_TOKENS, description: 'a positive whole number of tokens' })
const Count = Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: 'a positive whole number' })
const Label = Type.String({ minLength: 1, maxLength: 128, description: 'a text of 1 to 128 characters' })
const UnixSeconds = Type.Integer({ minimum: 0, maximum: 253_402_300_799, description: 'a time in Unix seconds' })

export const ServiceSchema = Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$', description: 'a lower-case word' })
export const ProviderNameSchema = Type.String({
  pattern: NAME,
  description: 'as name a word of letters, digits, _ and -',
})

const Weight = Type.Number({ exclusiveMinimum: 0, maximum: 1000, description: 'a number above 0 and at most 1000' })
const KeySchema = Type.Union([Type.String(), strict({ key: Type.String(), weight: Weight })], {
  description: 'a key, or {"key": …, "weight": a number above 0 and at most 1000}',
})

/** The longest retention that a catalogue may state, in days: a hundred years. */
const MAX_RETENTION_DAYS = 36_500

/** The fields for data terms. A provider's apply to all its targets; a target may replace them. */
const DATA_TERMS = {
  retention: Type.Optional(
    Type.Union([oneOf(['none', 'unknown']), Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS })], {
      description: `"none", "unknown" or days from 1 to ${MAX_RETENTION_DAYS}`,
    }),
  ),
  trains: Type.Optional(
    Type.Union([Type.Boolean(), Type.Literal('unknown')], { description: 'true, false or "unknown"' }),
  ),
  region: Type.Optional(Type.String({ pattern: REGION_PATTERN, description: 'a region such as eu or eu-central-1' })),
}

export const ProviderSchema = strict({
  ...DATA_TERMS,
  format: oneOf(FORMAT_NAMES, { description: `one of ${FORMAT_NAMES.join(', ')}` }),
  baseUrl: Type.Optional(Type.String({ description: 'an http:// or https:// address' })),
  dialect: Type.Optional(oneOf(DIALECT_NAMES, { description: `one of ${DIALECT_NAMES.join(', ')}` })),
  apiVersion: Type.Optional(Type.String({ maxLength: 64, description: 'a version such as v1beta' })),
  project: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9.:_-]{1,128}$', description: 'the id of a project' })),
  location: Type.Optional(Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'a location such as global' })),
  auth: Type.Optional(AuthSchema),
  keys: Type.Optional(
    Type.Array(KeySchema, { minItems: 1, maxItems: 1000, description: 'a list of at least one key' }),
  ),
  timeouts: Type.Optional(
    strict({
      connectMs: Type.Optional(Milliseconds),
      firstByteMs: Type.Optional(Milliseconds),
      idleMs: Type.Optional(Milliseconds),
      hedgeMs: Type.Optional(Milliseconds),
      totalMs: Type.Optional(Milliseconds),
    }),
  ),
  maxConcurrency: Type.Optional(Count),
  headers: Type.Optional(Type.Record(Type.String(), Type.String({ description: 'a text' }))),
  onDisconnect: Type.Optional(
    strict({
      policy: oneOf(['auto', 'drain', 'abort'], { description: 'auto, drain or abort' }),
      maxSeconds: Type.Optional(
        Type.Number({ exclusiveMinimum: 0, maximum: 3600, description: 'seconds, above 0 and at most 3600' }),
      ),
      maxConcurrent: Type.Optional(Count),
    }),
  ),
  quirks: Type.Optional(Quirks),
  passFields: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 128, description: 'the name of a field' }), {
      maxItems: 256,
      description: 'a list of names of fields',
    }),
  ),
  betas: Type.Optional(
    Type.Array(
      Type.String({
        pattern: '^(?:\\*|[A-Za-z0-9][A-Za-z0-9_.-]{0,95})$',
        description: 'the name of a beta interface, or *',
      }),
      {
        maxItems: 256,
        description: 'a list of names of beta interfaces',
      },
    ),
  ),
})

const PRICES = {
  inputPer1mTokens: Price,
  outputPer1mTokens: Price,
  cacheReadPer1mTokens: Type.Optional(Price),
  cacheWritePer1mTokens: Type.Optional(Price),
  cacheWrite1hPer1mTokens: Type.Optional(Price),
}
/** The fields for costs: what the provider charges us. */
const COSTS = {
  costPer1mInputTokens: Type.Optional(Price),
  costPer1mOutputTokens: Type.Optional(Price),
  costPer1mCacheReadTokens: Type.Optional(Price),
  costPer1mCacheWriteTokens: Type.Optional(Price),
  costPer1mCacheWrite1hTokens: Type.Optional(Price),
}
const PriceStepSchema = strict({ aboveInputTokens: Tokens, ...PRICES, ...COSTS })
const CostStepSchema = strict({ aboveInputTokens: Tokens, ...COSTS })
const LineUsd = Type.Number({
  minimum: 0,
  maximum: 1_000_000,
  description: 'a price in USD per image, second, search unit or request, or per 1,000,000 tokens or characters',
})
const LINE = {
  billable: oneOf(BILLABLES, { description: `one of ${BILLABLES.join(', ')}` }),
  unit: oneOf(UNITS, { description: `one of ${UNITS.join(', ')}` }),
  variant: Type.Optional(
    Type.String({ pattern: VARIANT_PATTERN, description: 'a name of letters, digits, . _ and -, such as hd' }),
  ),
  usd: LineUsd,
}
/** The schema of price lines, which state prices besides those of the token classes. */
function linesOf<Properties extends TProperties>(properties: Properties) {
  return Type.Optional(Type.Array(strict(properties), { maxItems: 64, description: 'a list of price lines' }))
}
const COST_LIST = {
  ...COSTS,
  lines: linesOf(LINE),
  steps: Type.Optional(Type.Array(CostStepSchema, { maxItems: 16, description: 'a list of cost steps' })),
}
const CostSchema = strict({ ...COST_LIST, serviceTiers: byTier(strict(COST_LIST), 'costs') })
const PRICE_LIST = {
  ...PRICES,
  ...COSTS,
  lines: linesOf({ ...LINE, costUsd: Type.Optional(LineUsd) }),
  steps: Type.Optional(Type.Array(PriceStepSchema, { maxItems: 16, description: 'a list of price steps' })),
}

const ToolUsd = Type.Number({ minimum: 0, maximum: 1_000, description: 'a price in USD for each use' })
const ToolPricesSchema = Type.Record(
  Type.String(),
  Type.Union(
    [
      ToolUsd,
      strict({
        usd: ToolUsd,
        costUsd: Type.Optional(ToolUsd),
        per: Type.Optional(oneOf(['use', 'request'])),
        maxUses: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
        tokensPerUse: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
      }),
    ],
    {
      description:
        'a price in USD for each use, or {"usd": …, "costUsd": …, "per": "use" or "request", "maxUses": …, "tokensPerUse": …}',
    },
  ),
  { description: 'an object of prices by the name of a tool' },
)

const TargetName = Type.String({ minLength: 1, maxLength: 256, description: 'the name of the model at the provider' })

const Family = Type.String({
  pattern: '^[a-z0-9][a-z0-9.:-]{0,127}$',
  description: 'how the foundation model is called, such as anthropic.claude',
})

/** An alias: words separated by slashes. It can't begin like a path of generate-content, such as `models/`. */
const ALIAS = '^(?!(?:models|publishers|v1[a-z0-9]*)/)[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*$'
const Aliases = Type.Array(
  Type.String({
    pattern: ALIAS,
    maxLength: 128,
    description: 'a name of 1 to 128 letters, digits, . _ - and / between words, not below models/, publishers/ or v1/',
  }),
  { maxItems: 64, description: 'a list of names' },
)

const MODEL = {
  id: Type.String({ description: 'a model id' }),
  aliases: Type.Optional(Aliases),
  name: Label,
  created: UnixSeconds,
  ownedBy: Label,
  /** The sources of its prices and limits, for human readers. */
  source: Type.Optional(Type.String({ maxLength: 512, description: 'a text of at most 512 characters' })),
  contextLength: Tokens,
  expirationDate: Type.Optional(
    Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$', description: 'a day such as 2027-01-31' }),
  ),
  tokenizerSafetyFactor: Type.Optional(Type.Number({ minimum: 1, maximum: 10, description: 'a factor from 1 to 10' })),
  batchDiscount: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'a factor above 0 and at most 1' }),
  ),
}

/** A schema of targets: the common properties and `properties`. */
function targetsWith<Properties extends TProperties>(properties: Properties) {
  const target = {
    provider: Type.String({ description: 'the name of a provider' }),
    model: TargetName,
    family: Type.Optional(Family),
    weight: Type.Optional(Weight),
    quirks: Type.Optional(Quirks),
    ...DATA_TERMS,
    ...properties,
  }
  return Type.Array(strict(target), { minItems: 1, maxItems: 100, description: 'a list of at least one target' })
}

const Capabilities = Type.Optional(
  Type.Array(oneOf(CAPABILITIES, { description: `one of ${CAPABILITIES.join(', ')}` }), {
    uniqueItems: true,
    description: `a list without repetition, of ${CAPABILITIES.join(', ')}`,
  }),
)

/** Token prices, optional because a price line may state them. catalog/pricing.ts requires the field or the line. */
const UNREQUIRED = {
  inputPer1mTokens: Type.Optional(Price),
  outputPer1mTokens: Type.Optional(Price),
}

export const ModelSchema = strict({
  ...MODEL,
  kind: Type.Optional(Type.Literal('chat' satisfies ModelKind, { description: `one of ${MODEL_KINDS.join(', ')}` })),
  targets: targetsWith({
    cost: Type.Optional(CostSchema),
    toolPrices: Type.Optional(ToolPricesSchema),
    serviceTiers: Type.Optional(
      Type.Array(Type.String({ description: 'the name of a service tier' }), {
        uniqueItems: true,
        description: 'a list of service tiers with a price in `pricing.serviceTiers`',
      }),
    ),
  }),
  pricing: strict({
    ...PRICE_LIST,
    ...UNREQUIRED,
    toolPrices: Type.Optional(ToolPricesSchema),
    serviceTiers: byTier(strict(PRICE_LIST), 'prices'),
  }),
  maxOutputTokens: Tokens,
  capabilities: Capabilities,
  fallback: Type.Optional(
    Type.Array(Type.String({ description: 'a model id' }), { description: 'a list of model ids' }),
  ),
  quality: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'a number from 0 to 1' })),
})

const EmbeddingCost = { costPer1mInputTokens: Type.Optional(Price) }

/** An embedding model: it has only an input price. */
export const EmbeddingModelSchema = strict({
  ...MODEL,
  kind: Type.Literal('embedding' satisfies ModelKind),
  targets: targetsWith({ cost: Type.Optional(strict(EmbeddingCost)) }),
  pricing: strict({ inputPer1mTokens: Price, ...EmbeddingCost }),
})

/** A model that is sold by other units: it has price lines, token prices, or both. */
export const MediaModelSchema = strict({
  ...MODEL,
  kind: oneOf(MEDIA_KINDS),
  targets: targetsWith({ cost: Type.Optional(strict(COST_LIST)) }),
  pricing: strict({ ...PRICE_LIST, ...UNREQUIRED }),
  maxOutputTokens: Type.Optional(Tokens),
  capabilities: Capabilities,
})

export const TierSchema = strict({
  id: Type.String({ description: 'a tier id' }),
  aliases: Type.Optional(Aliases),
  name: Label,
  created: Type.Optional(UnixSeconds),
  contextLength: Tokens,
  strategy: Type.String({ description: 'the name of a strategy' }),
  candidates: Type.Array(Type.String({ description: 'a model id' }), {
    minItems: 1,
    uniqueItems: true,
    description: 'a list of at least one model id, without repetition',
  }),
  weights: Type.Optional(Type.Record(Type.String(), Type.Number({ description: 'a number' }))),
  observe: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'a share from 0 to 1' })),
})

export const LimitsSchema = strict({
  requestsPerMinute: Count,
  tokensPerMinute: Count,
  concurrency: Count,
})

export type ProviderFile = Static<typeof ProviderSchema>
export type ToolPricesFile = Static<typeof ToolPricesSchema>
export type StatedTerms = Static<TObject<typeof DATA_TERMS>>
export type ModelFile = Static<typeof ModelSchema>
export type EmbeddingModelFile = Static<typeof EmbeddingModelSchema>
export type MediaModelFile = Static<typeof MediaModelSchema>
export type TierFile = Static<typeof TierSchema>
export type CostFile = Static<typeof CostSchema>

/** A schema of an object with one value for each service tier except standard; `what` describes the value. */
function byTier<List extends TSchema>(list: List, what: string) {
  return Type.Optional(
    Type.Record(Type.String({ pattern: TIER_NAME }), list, {
      additionalProperties: false,
      description: `an object of ${what} by the name of a service tier, a word of a-z, 0-9, _ and -`,
    }),
  )
}

/** An object schema that rejects unknown properties, such as misspelt ones. */
function strict<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false, description: 'an object' })
}
