/** The model list and its entries: public, made once from the catalogue, in one body that the client libraries of all families read. */
import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Catalog, Model, Tier } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import { modelOfResource } from '@/formats/generate-content/client-side/path'
import { encodeModel } from '@/formats/generate-content/index'
import type { HttpDeps } from '@/http/deps'
import { isFamilyThree } from '@/http/errors'
import { operation } from '@/http/openapi'
import { pathOf } from '@/http/request-line'

const PICO_PER_TOKEN_TO_USD_PER_1M = 1_000_000

export const ModelEntry = Type.Object({
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
    }),
    Type.Null({ description: 'Auto tiers: the chosen model’s price applies' }),
  ]),
  context_length: Type.Integer(),
  type: Type.Literal('model'),
  display_name: Type.String(),
  created_at: Type.String({ description: 'ISO 8601' }),
})
export type ModelEntry = Static<typeof ModelEntry>

const ModelList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(ModelEntry),
  has_more: Type.Literal(false),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  models: Type.Array(Type.Object({ name: Type.String(), displayName: Type.String() }), {
    description: 'The same models as family 3 lists them',
  }),
})

/** Mounts the model lists and entries of all families. They need no credential. */
export function modelsRoutes(deps: HttpDeps) {
  const bodies = modelBodies(deps.catalog)
  const list = ({ request }: { request: Request }) => {
    return json(pathOf(request.url).startsWith('/v1beta') ? bodies.familyThreeList : bodies.list)
  }
  const entry = ({ request }: { request: Request }) => {
    const path = pathOf(request.url)
    const isThree = path.startsWith('/v1beta') || isFamilyThree(request.headers)
    return json(findBody(isThree ? bodies.familyThreeEntries : bodies.entries, path))
  }
  return (
    new Elysia({ name: 'models-routes' })
      .get('/v1/models', list, {
        detail: operation({
          tag: 'Models',
          summary: 'List all models and auto tiers',
          description: 'Prices are USD per 1,000,000 tokens. Auto tiers have no pricing of their own.',
          responseSchema: ModelList,
          errors: [],
          isPublic: true,
        }),
      })
      .get('/v1/models/*', entry, UNDOCUMENTED)
      .get('/v1beta/models', list, {
        detail: operation({
          tag: 'Models',
          summary: 'List all models and auto tiers (family 3)',
          description: 'The list as clients of the generate-content format read it, everything on one page.',
          errors: [],
          isPublic: true,
        }),
      })
      .get('/v1beta/models/*', entry, UNDOCUMENTED)
      // A base address with the version twice, or without.
      .get('/v1/v1/models', list, UNDOCUMENTED)
      .get('/v1/v1/models/*', entry, UNDOCUMENTED)
      .get('/v1beta/v1/models', list, UNDOCUMENTED)
      .get('/v1beta/v1/models/*', entry, UNDOCUMENTED)
      .get('/v1beta/v1beta/models', list, UNDOCUMENTED)
      .get('/v1beta/v1beta/models/*', entry, UNDOCUMENTED)
      .get('/models', list, UNDOCUMENTED)
      .get('/models/*', entry, UNDOCUMENTED)
  )
}

/** Wildcards are described in wildcard-docs.ts; the rest are other spellings of what is described. */
const UNDOCUMENTED = { detail: { hide: true } } as const

/**
 * Every body, written once: one entry serves the clients of all families, who each read the fields they know. Only `name` means
 * two things: the display name, and in family 3 the resource.
 */
function modelBodies(catalog: Catalog) {
  const entries = listEntries(catalog)
  const familyThree = [...catalog.models.values(), ...catalog.tiers.values()]
  const list = {
    object: 'list',
    data: entries,
    has_more: false,
    first_id: entries[0]?.id ?? null,
    last_id: entries[entries.length - 1]?.id ?? null,
    models: familyThree.map((sold) => encodeModel(sold)),
  }
  return {
    list: JSON.stringify(list),
    familyThreeList: JSON.stringify({ models: list.models }),
    entries: new Map(
      familyThree.map((sold, index) => [sold.id, JSON.stringify({ ...encodeModel(sold), ...entries[index] })]),
    ),
    familyThreeEntries: new Map(
      familyThree.map((sold, index) => [sold.id, JSON.stringify({ ...entries[index], ...encodeModel(sold) })]),
    ),
  }
}

/** All entries in the catalogue's order, models first. */
function listEntries(catalog: Catalog): ModelEntry[] {
  return [
    ...[...catalog.models.values()].map(modelEntry),
    ...[...catalog.tiers.values()].map((tier) => tierEntry(tier, catalog.service)),
  ]
}

function modelEntry(model: Model): ModelEntry {
  const { input, output } = model.pricing.base
  return {
    ...commonEntry(model),
    owned_by: model.ownedBy,
    provider: model.targets[0]?.provider.name ?? model.ownedBy,
    pricing: {
      input_per_1m_tokens: input / PICO_PER_TOKEN_TO_USD_PER_1M,
      output_per_1m_tokens: output / PICO_PER_TOKEN_TO_USD_PER_1M,
      currency: 'USD',
    },
  }
}

function tierEntry(tier: Tier, service: string): ModelEntry {
  return { ...commonEntry(tier), owned_by: service, provider: service, pricing: null }
}

function commonEntry(sold: Model | Tier) {
  return {
    id: sold.id,
    object: 'model',
    created: sold.created,
    name: sold.name,
    context_length: sold.contextLength,
    type: 'model',
    display_name: sold.name,
    created_at: new Date(sold.created * 1000).toISOString(),
  } as const
}

function findBody(bodies: ReadonlyMap<string, string>, path: string): string {
  const id = modelOfResource(decodePath(path))
  const body = bodies.get(id)
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

function json(body: string): Response {
  return new Response(body, {
    headers: {
      'content-type': 'application/json',
      'cache-control': 'public, max-age=60',
      vary: 'x-goog-api-client, x-goog-api-key',
    },
  })
}
