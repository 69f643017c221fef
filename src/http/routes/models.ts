/** The model list and its entries: public, with one body for the client libraries of all families. */
import { Elysia } from 'elysia'
import { perCatalog } from '@/catalog/reload/live-catalog'
import { isOpenRouterLibrary } from '@/formats/openrouter-library'
import type { HttpDeps } from '@/http/deps'
import {
  commonModelBodies,
  ENTRY_DETAIL,
  FILTERS,
  findModelBody,
  type ModelBodies,
  modelAnswer,
  modelListSchema,
  ownModelBodies,
  pricedModelBodies,
} from '@/http/model-list'
import { exampleModel } from '@/http/openapi/example-model'
import { operation } from '@/http/openapi/operation'
import { describedAs } from '@/http/openapi/wildcards'
import { formatOfHeaders } from '@/http/request-format'
import { pathOf, queryOf } from '@/http/request-line'

export function modelsRoutes(deps: HttpDeps) {
  const formats = [...deps.formats.values()]
  const bodies = perCatalog(deps.catalog, (catalog) => ({
    common: commonModelBodies(catalog, deps.formats),
    priced: pricedModelBodies(catalog, deps.formats),
    own: new Map(
      formats.flatMap((format) =>
        format.modelListing ? [[format, ownModelBodies(catalog, deps.formats, format.modelListing)] as const] : [],
      ),
    ),
  }))
  const vary = [
    'user-agent',
    ...formats.flatMap(({ modelListing, recognition }) => (modelListing ? recognition.headers : [])),
  ]
  const bodiesFor = (headers: Headers): ModelBodies => {
    const format = formatOfHeaders(formats, headers)
    const { common, own } = bodies()
    return (format && own.get(format)) ?? common
  }
  const list = ({ request }: { request: Request }) => {
    const { common, priced } = bodies()
    return modelAnswer((isOpenRouterLibrary(request.headers) ? priced : common).list(queryOf(request.url)), vary)
  }
  const entry = ({ request }: { request: Request }) =>
    modelAnswer(findModelBody(bodiesFor(request.headers), pathOf(request.url)), vary)
  return (
    new Elysia({ name: 'models-routes' })
      .get('/v1/models', list, {
        detail: operation({
          tag: 'Models',
          summary: 'List all models and auto tiers',
          description: LIST_DESCRIPTION,
          parameters: FILTERS,
          responseSchema: modelListSchema(formats),
          errors: [],
          isPublic: true,
        }),
      })
      .get('/v1/models/*', entry, {
        detail: describedAs([{ '/v1/models/{model}': ENTRY_DETAIL }, exampleModel()]),
      })
      // For clients whose path has the version twice, or not at all.
      .get('/v1/v1/models', list, UNDOCUMENTED)
      .get('/v1/v1/models/*', entry, UNDOCUMENTED)
      .get('/models', list, UNDOCUMENTED)
      .get('/models/*', entry, UNDOCUMENTED)
  )
}

const LIST_DESCRIPTION =
  'Prices are USD per 1,000,000 tokens, and again per token as decimal texts. Auto tiers have no pricing of their own. Aliases ' +
  'come last, with the fields of what they stand for.'

/** Alternative spellings of documented paths. */
const UNDOCUMENTED = { detail: { hide: true } } as const
