/** An entry of the model list: properties, capabilities and prices of a model or tier, with our field names and OpenRouter's. */
import { type Static, Type } from '@sinclair/typebox'
import { providersWithTerms, ShownTerms } from '@/catalog/data-terms'
import { dearestToolPrices } from '@/catalog/tool-allowance'
import {
  CAPABILITIES,
  type Capability,
  type Catalog,
  MODEL_KINDS,
  type Model,
  type PriceList,
  type Prices,
  type Tier,
} from '@/catalog/types'
import type { FormatName } from '@/chat/format-name'
import { BILLABLES, type Billable, isPerMillion, isSameUnit, UNITS, type Unit } from '@/chat/units'
import type { Format } from '@/formats/format'
import { type Serving, supportedEmbeddingFields, supportedFields } from '@/formats/supported-fields'
import { assert } from '@/lib/assert'
import { formatTokenPrice, nanoToUsd, type Pico } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { titled } from './openapi/titled'
import { defaultFormat } from './request-format'

const PICO_PER_TOKEN_TO_USD_PER_1M = 1_000_000
const PICO_PER_USD = 1_000_000_000_000

const PRICES = {
  input_per_1m_tokens: Type.Number(),
  output_per_1m_tokens: Type.Number({ description: 'Reasoning included' }),
  cache_read_per_1m_tokens: Type.Number({ description: 'Input read from a cache' }),
  cache_write_per_1m_tokens: Type.Number({ description: 'Input written to a cache for five minutes' }),
  cache_write_1h_per_1m_tokens: Type.Number({ description: 'Input written to a cache for an hour' }),
}

const perToken = (description: string) => Type.String({ description: `${description}, decimal USD per token` })

const Lines = Type.Array(
  titled('PriceLine', {
    billable: oneOf(BILLABLES),
    unit: oneOf(UNITS),
    variant: Type.Optional(Type.String({ description: 'Such as a size and quality; else any that is not listed' })),
    usd: Type.Number({ description: 'Per 1,000,000 tokens or characters, or per other unit' }),
  }),
  {
    description:
      'Prices of sounds and pictures, and by other units than tokens. Tokens of such a line cost its price instead of that of input or output',
  },
)

const LIST = {
  ...PRICES,
  lines: Type.Optional(Lines),
  steps: Type.Array(titled('PriceStep', { above_input_tokens: Type.Integer(), ...PRICES }), {
    description: 'What the whole request costs once its input is longer than this, caches included; ascending',
  }),
}

/** OpenRouter's names for prices that the catalogue states as price lines. */
const OPENROUTER_LINES = [
  ['request', 'request', 'request'],
  ['image', 'input_image', 'image'],
  ['image_token', 'input_image', 'token'],
  ['image_output', 'output_image', 'token'],
  ['audio', 'input_audio', 'token'],
  ['audio_output', 'output_audio', 'token'],
] as const satisfies readonly (readonly [string, Billable, Unit])[]

const Pricing = Type.Object({
  ...LIST,
  currency: Type.Literal('USD'),
  service_tiers: Type.Optional(
    Type.Record(Type.String(), Type.Object(LIST), {
      description: 'Prices of other service tiers than the standard one, by name; one that is not listed is refused',
    }),
  ),
  tools: Type.Optional(
    Type.Record(Type.String(), Type.Object({ price: Type.Number(), per: oneOf(['use', 'request']) }), {
      description: 'Tools that run at the provider, by name; one that is not listed is refused',
    }),
  ),
  prompt: perToken('Input'),
  completion: perToken('Output'),
  input_cache_read: perToken('Input read from a cache'),
  input_cache_write: perToken('Input written to a cache for five minutes'),
  input_cache_write_1h: perToken('Input written to a cache for an hour'),
  ...Object.fromEntries(
    OPENROUTER_LINES.map(([name, billable, unit]) => [
      name,
      Type.Optional(Type.String({ description: `${billable}, decimal USD per ${unit}` })),
    ]),
  ),
})

const Architecture = Type.Object({
  modality: Type.String({ examples: ['text+image->text'] }),
  input_modalities: Type.Array(oneOf(['text', 'image', 'file', 'audio'])),
  output_modalities: Type.Array(oneOf(['text', 'embeddings', 'image', 'audio', 'rerank'])),
})

type Output = Static<typeof Architecture>['output_modalities'][number]

const OUTPUTS: Readonly<Record<Model['kind'], Output>> = {
  chat: 'text',
  embedding: 'embeddings',
  image: 'image',
  speech: 'audio',
  transcription: 'text',
  rerank: 'rerank',
}

/** The schema of an entry, for the documentation. */
export const ModelEntry = Type.Object(
  {
    kind: oneOf(MODEL_KINDS, {
      description:
        'Whether it answers conversations, embeds texts, makes pictures or speech, transcribes, or sorts documents',
    }),
    id: Type.String({ examples: ['svc/alpha', 'auto-smart'] }),
    alias_of: Type.Optional(Type.String({ description: 'Only for an alias: the id of the model or tier' })),
    aliases: Type.Array(Type.String(), { description: 'Other names that requests may use; each has an entry too' }),
    object: Type.Literal('model'),
    created: Type.Integer({ description: 'Unix seconds' }),
    owned_by: Type.String(),
    name: Type.String(),
    provider: Type.String({ description: 'The upstream provider, or the service itself for auto tiers' }),
    pricing: Type.Union([Pricing, Type.Null({ description: 'Auto tiers: the chosen model’s price applies' })]),
    batch_discount: Type.Number({ description: 'What its prices are multiplied by in batches; 1: the same' }),
    context_length: Type.Integer(),
    max_output_tokens: orNull(Type.Integer(), { description: 'null if it writes nothing' }),
    capabilities: Type.Array(oneOf(CAPABILITIES), {
      description: 'Of a tier: what any model that it chooses from can',
    }),
    architecture: Architecture,
    supported_parameters: Type.Array(Type.String(), {
      description:
        'Fields of `POST /v1/chat/completions`, or of `POST /v1/embeddings`, that the provider is sent or the gateway applies',
    }),
    type: Type.Literal('model'),
    display_name: Type.String(),
    created_at: Type.String({ description: 'ISO 8601' }),
    data_terms: Type.Array(ShownTerms, {
      description: 'What the operator states about content at each provider; of a tier, at each that it may choose',
    }),
    expiration_date: orNull(Type.String(), { description: 'The day after which it is no longer sold' }),
    top_provider: Type.Object({
      context_length: Type.Integer(),
      max_completion_tokens: orNull(Type.Integer()),
      is_moderated: Type.Literal(false),
    }),
    canonical_slug: Type.String({ description: 'The id of the model or tier' }),
    links: Type.Object({ details: Type.String({ description: 'The path of this entry' }) }),
    per_request_limits: Type.Null(),
    default_parameters: Type.Null(),
    supported_voices: Type.Null(),
  },
  { title: 'ModelEntry' },
)
export type ModelEntry = Static<typeof ModelEntry>

type Formats = ReadonlyMap<FormatName, Format>

/** The entry of a model or tier with its id. */
export function modelEntry(sold: Model | Tier, { service }: Catalog, formats: Formats): ModelEntry {
  const isTier = 'candidates' in sold
  const models = isTier ? sold.candidates : [sold]
  const kind = isTier ? 'chat' : sold.kind
  const can = (capability: Capability) => models.some(({ capabilities }) => capabilities.has(capability))
  const maxOutputTokens = Math.max(...models.map((model) => model.maxOutputTokens)) || null
  return {
    id: sold.id,
    aliases: [...sold.aliases],
    kind,
    object: 'model',
    created: sold.created,
    owned_by: isTier ? service : sold.ownedBy,
    name: sold.name,
    provider: isTier ? service : (sold.targets[0]?.provider.name ?? sold.ownedBy),
    pricing: isTier ? null : pricingOf(sold),
    batch_discount: isTier ? 1 : (sold.batchDiscount ?? 1),
    context_length: sold.contextLength,
    max_output_tokens: maxOutputTokens,
    capabilities: CAPABILITIES.filter(can),
    architecture: architectureOf(kind, models, can),
    supported_parameters: parametersOf(kind, models, formats),
    type: 'model',
    display_name: sold.name,
    created_at: new Date(sold.created * 1000).toISOString(),
    data_terms: providersWithTerms(models),
    expiration_date: isTier ? null : (sold.expirationDate ?? null),
    top_provider: {
      context_length: sold.contextLength,
      max_completion_tokens: maxOutputTokens,
      is_moderated: false,
    },
    canonical_slug: sold.id,
    links: { details: `/v1/models/${sold.id}` },
    per_request_limits: null,
    default_parameters: null,
    supported_voices: null,
  }
}

function pricingOf({ pricing, targets }: Model): ModelEntry['pricing'] {
  const { base } = pricing
  // Only service tiers that a target accepts.
  const tiers = [...(pricing.serviceTiers ?? [])]
    .filter(([name]) => targets.some(({ serviceTiers }) => serviceTiers?.has(name)))
    .map(([name, list]) => [name, listOf(list)] as const)
  // For each tool, the highest price among the targets.
  const tools = [...dearestToolPrices(targets)].map(
    ([name, { price, per }]) => [name, { price: nanoToUsd(price), per }] as const,
  )
  return {
    ...listOf(pricing),
    currency: 'USD',
    ...(tiers.length > 0 && { service_tiers: Object.fromEntries(tiers) }),
    ...(tools.length > 0 && { tools: Object.fromEntries(tools) }),
    prompt: formatTokenPrice(base.input),
    completion: formatTokenPrice(base.output),
    input_cache_read: formatTokenPrice(base.cacheRead),
    input_cache_write: formatTokenPrice(base.cacheWrite5m),
    input_cache_write_1h: formatTokenPrice(base.cacheWrite1h),
    ...openRouterLines(pricing),
  }
}

function openRouterLines({ lines = [] }: PriceList) {
  const stated = OPENROUTER_LINES.flatMap(([name, billable, unit]) => {
    const line = lines.find((one) => isSameUnit(one, { billable, unit }))
    return line ? [[name, formatTokenPrice(line.price)] as const] : []
  })
  return Object.fromEntries(stated)
}

function listOf({ base, steps, lines }: PriceList) {
  return {
    ...pricesOf(base),
    ...(lines && {
      lines: lines.map(({ price, ...line }) => ({
        ...line,
        usd: isPerMillion(line.unit) ? usdPer1m(price) : usdPerUnit(price),
      })),
    }),
    steps: steps.map(({ aboveInputTokens, prices }) => ({ above_input_tokens: aboveInputTokens, ...pricesOf(prices) })),
  }
}

function pricesOf({ input, output, cacheRead, cacheWrite5m, cacheWrite1h }: Prices) {
  return {
    input_per_1m_tokens: usdPer1m(input),
    output_per_1m_tokens: usdPer1m(output),
    cache_read_per_1m_tokens: usdPer1m(cacheRead),
    cache_write_per_1m_tokens: usdPer1m(cacheWrite5m),
    cache_write_1h_per_1m_tokens: usdPer1m(cacheWrite1h),
  }
}

function usdPer1m(price: Pico): number {
  return price / PICO_PER_TOKEN_TO_USD_PER_1M
}

function usdPerUnit(price: Pico): number {
  return price / PICO_PER_USD
}

function architectureOf(
  kind: Model['kind'],
  models: readonly Model[],
  can: (capability: Capability) => boolean,
): ModelEntry['architecture'] {
  const input: ModelEntry['architecture']['input_modalities'] = kind === 'transcription' ? ['audio'] : ['text']
  if (can('images')) input.push('image')
  if (can('files')) input.push('file')
  if (can('audio') && kind !== 'transcription') input.push('audio')
  const output: ModelEntry['architecture']['output_modalities'] = [OUTPUTS[kind]]
  const gives = (billable: Billable) =>
    models.some(({ pricing }) => pricing.lines?.some((line) => line.billable === billable))
  if (kind === 'chat' && gives('output_image')) output.push('image')
  if (kind === 'chat' && gives('output_audio')) output.push('audio')
  return { modality: `${input.join('+')}->${output.join('+')}`, input_modalities: input, output_modalities: output }
}

/** OpenRouter's name for answers that follow the schema of `response_format`. */
const STRUCTURED_OUTPUTS = 'structured_outputs'

function parametersOf(kind: Model['kind'], models: readonly Model[], formats: Formats): string[] {
  const client = defaultFormat(formats)
  const servings = models.flatMap((model) => model.targets.map((target) => servingOf(model, target, formats)))
  if (kind === 'embedding') return supportedEmbeddingFields(client, servings)
  if (kind !== 'chat') return []
  const supported = new Set(supportedFields(client, servings))
  supported.delete(STRUCTURED_OUTPUTS)
  const followsSchemas = models.some(({ capabilities }) => capabilities.has('json-schema'))
  if (followsSchemas && supported.has('response_format')) supported.add(STRUCTURED_OUTPUTS)
  return [...supported].sort()
}

function servingOf({ capabilities }: Model, target: Model['targets'][number], formats: Formats): Serving {
  const provider = formats.get(target.provider.format)
  assert(provider, 'every provider speaks a known format')
  return { provider, quirks: target.quirks, capabilities, sellsTools: target.toolPrices !== undefined }
}
