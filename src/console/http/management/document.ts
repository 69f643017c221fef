/** Documents an operation of the management API in OpenAPI, from the texts and schemas of the dashboard's route. */
import type { TSchema } from '@sinclair/typebox'
import type { DocumentDecoration } from 'elysia'
import { ACCOUNT_PREFIX } from '@/console/http/guard'
import { NoFields } from '@/console/http/wire'
import { IDEMPOTENCY_PARAMETER } from '@/http/idempotency/header'
import { operation, type Parameter } from '@/http/openapi/operation'
import { withoutClosing } from '@/http/openapi/refine'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import type { ManagementOperation } from '@/people/manage'

export type MountedRoute = { method: string; path: string; hooks: object }

type RouteHooks = {
  body?: TSchema
  response?: TSchema
  query?: TSchema
  params?: TSchema
  headers?: TSchema
  detail?: { summary?: string; description?: string }
}

const READS = [400, 401, 403, 404, 429, 500, 503]
const WRITES = [400, 401, 403, 404, 409, 413, 415, 429, 500, 503]

/** The dashboard's route for an operation. Asserts that it exists. */
export function routeOf({ method, path }: ManagementOperation, routes: readonly MountedRoute[]): RouteHooks {
  const place = ACCOUNT_PREFIX + path
  const route = routes.find((one) => one.method === method && one.path.replace(/\/$/, '') === place)
  assert(route, `the dashboard has ${method} ${place}`)
  return route.hooks
}

type DocumentedOperation = {
  method: string
  scope: string
  tag?: 'Management' | 'Operator'
  parameters?: readonly Parameter[]
}

/** The documentation of an operation that `route` performs. */
export function documentOperation(
  { method, scope, tag = 'Management', parameters = [] }: DocumentedOperation,
  { body, response, query, params, headers, detail }: RouteHooks,
): DocumentDecoration {
  return operation({
    tag,
    summary: detail?.summary ?? '',
    description: `${detail?.description ?? ''} Needs the scope \`${scope}\`.`,
    parameters: [
      ...parametersOf('path', params).filter(({ name }) => tag === 'Operator' || name !== 'accountId'),
      ...parametersOf('query', query),
      ...parametersOf('header', headers),
      ...parameters,
      ...(method === 'GET' ? [] : [IDEMPOTENCY_PARAMETER]),
    ],
    // A body without required fields is not documented.
    ...(body && body !== NoFields && { requestSchema: body }),
    ...(response && { responseSchema: JSON.parse(JSON.stringify(response), withoutClosing) }),
    errors: [...(method === 'GET' ? READS : WRITES), ...(headers ? [412] : [])],
  })
}

function parametersOf(place: 'path' | 'query' | 'header', schema: TSchema | undefined): Parameter[] {
  const properties: Record<string, TSchema> = schema?.properties ?? {}
  return Object.entries(properties).map(([name, { description, ...own }]) => ({
    ...{ name, in: place, schema: own as unknown as JsonObject },
    ...(place === 'path' && { required: true }),
    ...(description !== undefined && { description }),
  }))
}
