/** Bodies of the model lists, made from the catalogue: a common list, and one for each format that defines its own. */
import { type TSchema, Type } from '@sinclair/typebox'
import type { Catalog, Model, Tier } from '@/catalog/types'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { FormatName } from '@/chat/format-name'
import type { Format, ListedModel, ModelListing } from '@/formats/format'
import { orNull } from '@/lib/schemas'
import { ModelEntry, modelEntry } from './model-entry'
import { operation, type Parameter } from './openapi/operation'
import { NO_SNIFFING, OPEN_TO_PAGES } from './pages'

type Formats = ReadonlyMap<FormatName, Format>

/** The schema of the common list, plus one list field for each format that defines its own. */
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
    total_count: Type.Integer(),
    links: Type.Object({ next: Type.Null() }),
    ...Object.fromEntries(own),
  })
}

/** The schemas of list and entry in a format's own form. */
export function ownListSchema({ field, entrySchema }: ModelListing): TSchema {
  return Type.Object({ [field]: Type.Array(entrySchema) })
}

export const ENTRY_DETAIL = operation({
  tag: 'Models',
  summary: 'Get one model or auto tier',
  description: 'The id or alias follows the path as it is (`/v1/models/svc/alpha`) or with its slash as `%2F`.',
  responseSchema: ModelEntry,
  errors: [404],
  isPublic: true,
})

export const FILTERS: readonly Parameter[] = [
  {
    name: 'supported_parameters',
    in: 'query',
    description:
      'Only entries that have all of these fields among their `supported_parameters`, with commas between them',
    schema: { type: 'string' },
  },
  {
    name: 'output_modalities',
    in: 'query',
    description:
      'Only entries that give one of these, with commas between them: `text`, `image`, `audio`, `embeddings`, `rerank`, or `all`',
    schema: { type: 'string' },
  },
]

/** A name that can be requested: its entry in the common list, and its data for the lists in formats' own forms. */
type Listed = { entry: ModelEntry; listed: ListedModel }

/** The model list, and each entry by id or alias, as JSON texts. */
export type ModelBodies = {
  list(query: string): string
  entries: ReadonlyMap<string, string>
}

/** The list for clients of all formats, which each read the fields they know. `name` is the display name. */
export function commonModelBodies(catalog: Catalog, formats: Formats): ModelBodies {
  return commonBodies(listSold(catalog, formats), formats)
}

/** Prices of tiers. OpenRouter uses -1 for a price that varies. */
const VARIES = { prompt: '-1', completion: '-1' }

/** The list for OpenRouter's library, which fails at entries without prices. */
export function pricedModelBodies(catalog: Catalog, formats: Formats): ModelBodies {
  const priced = listSold(catalog, formats).map(({ entry, listed }) => ({
    entry: { ...entry, pricing: entry.pricing ?? VARIES } as ModelEntry,
    listed,
  }))
  return commonBodies(priced, formats)
}

function commonBodies(sold: readonly Listed[], formats: Formats): ModelBodies {
  const listings = [...formats.values()].flatMap(({ modelListing }) => modelListing ?? [])
  const write = (chosen: readonly Listed[]) =>
    JSON.stringify({
      object: 'list',
      data: chosen.map(({ entry }) => entry),
      has_more: false,
      first_id: chosen[0]?.entry.id ?? null,
      last_id: chosen.at(-1)?.entry.id ?? null,
      total_count: chosen.length,
      links: { next: null },
      ...Object.fromEntries(
        listings.map(({ field, encodeModel }) => [field, chosen.map(({ listed }) => encodeModel(listed))]),
      ),
    })
  const own = (listed: ListedModel) => Object.assign({}, ...listings.map(({ encodeModel }) => encodeModel(listed)))
  return bodiesOf(sold, write, ({ entry, listed }) => ({ ...own(listed), ...entry }))
}

/** The list in a format's own form, for clients that identify themselves as clients of that format. */
export function ownModelBodies(catalog: Catalog, formats: Formats, { field, encodeModel }: ModelListing): ModelBodies {
  const write = (chosen: readonly Listed[]) =>
    JSON.stringify({ [field]: chosen.map(({ listed }) => encodeModel(listed)) })
  return bodiesOf(listSold(catalog, formats), write, ({ entry, listed }) => ({ ...entry, ...encodeModel(listed) }))
}

function bodiesOf(
  sold: readonly Listed[],
  write: (chosen: readonly Listed[]) => string,
  entryOf: (one: Listed) => object,
): ModelBodies {
  const whole = write(sold)
  return {
    list(query) {
      if (query === '') return whole
      const chosen = narrow(sold, new URLSearchParams(query))
      return chosen === sold ? whole : write(chosen)
    },
    entries: new Map(sold.map((one) => [one.entry.id, JSON.stringify(entryOf(one))])),
  }
}

function narrow(sold: readonly Listed[], query: URLSearchParams): readonly Listed[] {
  const parameters = wordsOf(query, 'supported_parameters')
  const modalities = wordsOf(query, 'output_modalities')
  if (parameters.length === 0 && modalities.length === 0) return sold
  return sold.filter(({ entry: { supported_parameters: supported, architecture } }) => {
    if (!parameters.every((name) => supported.includes(name))) return false
    if (modalities.length === 0 || modalities.includes('all')) return true
    return architecture.output_modalities.some((modality) => modalities.includes(modality))
  })
}

function wordsOf(query: URLSearchParams, name: string): string[] {
  const text = query.getAll(name).join(',')
  if (text.includes('\0')) throw invalidRequest(`${name} must be words with commas between them`, name)
  const words = text.split(',')
  return words.map((word) => word.trim()).filter((word) => word !== '')
}

/** The response of a list. `vary`: the headers that select among several lists. */
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

/** The entry named by a path such as `/v1/models/svc/alpha` or `/v1/models/svc%2Falpha`. */
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

/** All ids in the catalogue's order, models first, then all aliases. */
function listSold(catalog: Catalog, formats: Formats): Listed[] {
  const sold: (Model | Tier)[] = [...catalog.models.values(), ...catalog.tiers.values()]
  const entries = new Map(sold.map((one) => [one.id, modelEntry(one, catalog, formats)]))
  const listed = (one: Model | Tier, id: string): Listed[] => {
    const entry = entries.get(one.id)
    if (!entry) return []
    if (id === one.id) return [{ entry, listed: one }]
    return [{ entry: { ...entry, id, alias_of: one.id }, listed: { ...one, id, aliasOf: one.id } }]
  }
  return [
    ...sold.flatMap((one) => listed(one, one.id)),
    ...[...catalog.aliases].flatMap(([alias, one]) => listed(one, alias)),
  ]
}
