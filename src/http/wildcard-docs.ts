/** Documents the endpoints whose paths only a wildcard route can match, which the plugin leaves out of the document. */
import { ModelEntry } from './model-list'
import { operation } from './openapi'

const MODEL_PARAMETER = {
  name: 'model',
  in: 'path',
  required: true,
  schema: { type: 'string' },
  description: 'A model or tier from GET /v1/models, with its slash as it is or as `%2F`; `models/` may be left out',
  example: 'svc/alpha',
} as const

export const MODEL_ENTRY = operation({
  tag: 'Models',
  summary: 'Get one model or auto tier',
  description: 'The id follows the path as it is (`/v1/models/svc/alpha`) or with its slash as `%2F`.',
  responseSchema: ModelEntry,
  errors: [404],
  isPublic: true,
})

/** OpenAPI path items of endpoints with a `{model}` in their path. */
export function documentWildcards<Item extends object>(paths: Readonly<Record<string, Item>>) {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [path, { ...item, parameters: [MODEL_PARAMETER] }]),
  )
}
