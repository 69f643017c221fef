/** Documents endpoints that are matched by a wildcard route, whose path doesn't show them. */
import type { DocumentDecoration, Elysia } from 'elysia'

/** A route as the router lists it. */
export type DocumentedRoute = Elysia['routes'][number]

/** The name of the `detail` field that contains the documented paths. */
const DESCRIBED_PATHS = 'x-described-paths'

type DescribedPaths = Readonly<Record<string, DocumentDecoration>>

/** The `detail` of a wildcard route for these paths; each contains `{model}`, with an example. */
export function describedAs(...groups: readonly (readonly [DescribedPaths, example: string])[]): DocumentDecoration {
  const described = groups.flatMap(([paths, example]) => describe(paths, example))
  return { [DESCRIBED_PATHS]: Object.fromEntries(described) } as DocumentDecoration
}

function describe(paths: DescribedPaths, example: string): (readonly [string, object])[] {
  const parameter = {
    name: 'model',
    in: 'path',
    required: true,
    schema: { type: 'string' },
    description: 'A model or tier from GET /v1/models, with its slash as it is or as `%2F`; `models/` may be left out',
    example,
  }
  return Object.entries(paths).map(([path, detail]) => {
    return [path, { ...detail, parameters: [parameter, ...(detail.parameters ?? [])] }] as const
  })
}

/** The documented paths of all wildcard routes, in OpenAPI form. */
export function describedPaths(routes: readonly DocumentedRoute[]): Record<string, object> {
  const described = routes.flatMap(({ method, hooks }) => {
    const paths: DescribedPaths = hooks.detail?.[DESCRIBED_PATHS] ?? {}
    return Object.entries(paths).map(([path, detail]) => [path, { [method.toLowerCase()]: detail }] as const)
  })
  return Object.fromEntries(described)
}
