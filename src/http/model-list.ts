/** The bodies of the model lists, each written once from the catalogue: a common one, and one for each format that has its own. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { dearestToolPrices } from '@/catalog/tool-allowance'
import type { Catalog, Model, PriceList, Tier } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { Format, ModelListing } from '@/formats/format'
import { nanoToUsd } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { operation } from './openapi/operation'
import { NO_SNIFFING, OPEN_TO_PAGES } from './pages'

const PICO_PER_TOKEN_TO_USD_PER_1M = 1_000_000

const ENTRY = {
  kind: oneOf(['chat', 'embedding'], { description: 'Whether it answers conversations or embeds texts' }),
  id: Type.String({ examples: ['svc/alpha', 'auto-smart'] }),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'Unix seconds' }),
  owned_by: Type.String(),
  name: Type.String(),
  provider: Type.String({ description: 'The upstream provider, or the service itself for auto tiers' }),
  pricing: Type.Union([
    Type.Object({
      input_per_1m_tokens: Type.Number(),
      output_per_1m_tokens: Type.Number(),
      currency: Type.Literal('USD'),
      service_tiers: Type.Optional(
        Type.Record(
          Type.String(),
          Type.Object({ input_per_1m_tokens: Type.Number(), output_per_1m_tokens: Type.Number() }),
          {
            description:
              'Prices of other service tiers than the standard one, by name; one that is not listed is refused',
          },
        ),
      ),
      tools: Type.Optional(
        Type.Record(Type.String(), Type.Object({ price: Type.Number(), per: oneOf(['use', 'request']) }), {
          description: 'Tools that run at the provider, by name; one that is not listed is refused',
        }),
      ),
    }),
    Type.Null({ description: 'Auto tiers: the chosen model’s price applies' }),
  ]),
  context_length: Type.Integer(),
  type: Type.Literal('model'),
  display_name: Type.String(),
  created_at: Type.String({ description: 'ISO 8601' }),
}

const ModelEntry = Type.Object(ENTRY, { title: 'ModelEntry' })
type ModelEntry = Static<typeof ModelEntry>

/** The common list, with the field of each format that has a list of its own. */
export function modelListSchema(formats: Iterable<Format>): TSchema {
  const own = Array.from(formats).flatMap(({ name, modelListing }) => {
    if (!modelListing) return []
    const description = `The same models as clients of ${name} read them`
    return [[modelListing.field, Type.Array(modelListing.entrySchema, { description })] as const]
  })
  return Type.Object({
    object: Type.Literal('list'),
    data: Type.Array(ModelEntry),
    has_more: Type.Literal(false),
    first_id: orNull(Type.String()),
    last_id: orNull(Type.String()),
    ...Object.fromEntries(own),
  })
}

/** The schemas of the list and an entry, in a format's own form. */
export function ownListSchema({ field, entrySchema }: ModelListing): TSchema {
  return Type.Object({ [field]: Type.Array(entrySchema) })
}

/** How every operation that answers with one entry is documented. */
export const ENTRY_DETAIL = operation({
  tag: 'Models',
  summary: 'Get one model or auto tier',
  description: 'The id follows the path as it is (`/v1/models/svc/alpha`) or with its slash as `%2F`.',
  responseSchema: ModelEntry,
  errors: [404],
  isPublic: true,
})

/** A list and its entries by id, as JSON. */
export type ModelBodies = { list: string; entries: ReadonlyMap<string, string> }

/**
 * What clients of all formats read, who each take the fields they know. Only `name` means two things, the display name and a
 * format's own resource: the display name it is here.
 */
export function commonModelBodies(catalog: Catalog, formats: Iterable<Format>): ModelBodies {
  const entries = listEntries(catalog)
  const listings = Array.from(formats).flatMap(({ modelListing }) => modelListing ?? [])
  const own = listings.map(({ field, encodeModel }) => [field, soldIn(catalog).map(encodeModel)] as const)
  const list = {
    object: 'list',
    data: entries,
    has_more: false,
    first_id: entries[0]?.id ?? null,
    last_id: entries[entries.length - 1]?.id ?? null,
    ...Object.fromEntries(own),
  }
  const entryOf = (sold: Model | Tier, index: number) => {
    const fields = Object.assign({}, ...listings.map(({ encodeModel }) => encodeModel(sold)), entries[index])
    return [sold.id, JSON.stringify(fields)] as const
  }
  return { list: JSON.stringify(list), entries: new Map(soldIn(catalog).map(entryOf)) }
}

/** What clients of one format read where they say that they are its own. */
export function ownModelBodies(catalog: Catalog, { field, encodeModel }: ModelListing): ModelBodies {
  const entries = listEntries(catalog)
  const entryOf = (sold: Model | Tier, index: number) =>
    [sold.id, JSON.stringify({ ...entries[index], ...encodeModel(sold) })] as const
  return {
    list: JSON.stringify({ [field]: soldIn(catalog).map(encodeModel) }),
    entries: new Map(soldIn(catalog).map(entryOf)),
  }
}

/** The answer of a list. `vary` are the headers that choose between several. */
export function modelAnswer(body: string, vary: readonly string[] = []): Response {
  return new Response(body, {
    headers: {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=60',
      ...NO_SNIFFING,
      ...OPEN_TO_PAGES,
      ...(vary.length > 0 && { vary: vary.join(', ') }),
    },
  })
}

const RESOURCE = '/models/'

/** The entry that a path such as `/v1/models/svc/alpha` or `/v1/models/svc%2Falpha` names. */
export function findModelBody({ entries }: ModelBodies, path: string): string {
  const decoded = decodePath(path)
  const names = decoded.slice(decoded.indexOf(RESOURCE) + RESOURCE.length).split('/')
  const id = names.filter((name) => name !== '').join('/')
  const body = entries.get(id)
  if (body !== undefined) return body
  throw new GatewayError('model_not_found', `The model '${id.slice(0, 128)}' does not exist.`, {
    param: 'model',
    code: 'model_not_found',
  })
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function soldIn({ models, tiers }: Catalog): (Model | Tier)[] {
  return [...models.values(), ...tiers.values()]
}

/** All entries in the catalogue's order, models first. */
function listEntries(catalog: Catalog): ModelEntry[] {
  return [
    ...[...catalog.models.values()].map(modelEntry),
    ...[...catalog.tiers.values()].map((tier) => tierEntry(tier, catalog.service)),
  ]
}

function modelEntry(model: Model): ModelEntry {
  return {
    ...commonEntry(model),
    owned_by: model.ownedBy,
    provider: model.targets[0]?.provider.name ?? model.ownedBy,
    pricing: {
      ...listed(model.pricing),
      currency: 'USD',
      ...tiersOf(model),
      ...toolsOf(model),
    },
  }
}

function listed({ base: { input, output } }: PriceList) {
  return {
    input_per_1m_tokens: input / PICO_PER_TOKEN_TO_USD_PER_1M,
    output_per_1m_tokens: output / PICO_PER_TOKEN_TO_USD_PER_1M,
  }
}

/** The prices of the service tiers that can be asked for. */
function tiersOf({ pricing, targets }: Model): Pick<NonNullable<ModelEntry['pricing']>, 'service_tiers'> {
  const tiers = [...(pricing.serviceTiers ?? [])]
    .filter(([name]) => targets.some(({ serviceTiers }) => serviceTiers?.has(name)))
    .map(([name, list]) => [name, listed(list)] as const)
  return tiers.length > 0 ? { service_tiers: Object.fromEntries(tiers) } : {}
}

/** What a use costs at the dearest target. */
function toolsOf({ targets }: Model): Pick<NonNullable<ModelEntry['pricing']>, 'tools'> {
  const dearest = dearestToolPrices(targets)
  const tools = [...dearest].map(([name, { price, per }]) => [name, { price: nanoToUsd(price), per }] as const)
  return tools.length > 0 ? { tools: Object.fromEntries(tools) } : {}
}

function tierEntry(tier: Tier, service: string): ModelEntry {
  return { ...commonEntry(tier), owned_by: service, provider: service, pricing: null }
}

function commonEntry(sold: Model | Tier) {
  return {
    id: sold.id,
    kind: 'candidates' in sold ? 'chat' : sold.kind,
    object: 'model',
    created: sold.created,
    name: sold.name,
    context_length: sold.contextLength,
    type: 'model',
    display_name: sold.name,
    created_at: new Date(sold.created * 1000).toISOString(),
  } as const
}
