import { Elysia } from 'elysia'

import { perCatalog } from '@/catalog/reload/live-catalog'
import { type Asset, assetResponse, createAsset } from '@/http/asset'
import type { HttpDeps } from '@/http/deps'
import { openApiDocument } from '@/http/openapi/document'
import { nameExampleModels } from '@/http/openapi/example-model'
import type { DocumentedRoute } from '@/http/openapi/wildcards'
import { OPEN_TO_PAGES, transportSecurity } from '@/http/pages'
import { PRODUCT } from '@/http/product'
import { defaultFormat } from '@/http/request-format'
import { PROGRAM_NAME } from '@/lib/brand'
import { once } from '@/lib/once'

type DocsDeps = Pick<HttpDeps, 'brand' | 'catalog' | 'formats' | 'publicUrl'> & {
  /** All routes. Call it once all are mounted. */
  routes(): DocumentedRoute[]
  sessionCookie: string
}

/** Mounts `GET /docs/json`: the customers' routes, or all with `?internal=true`; built and compressed at the first request. */
export function docsRoutes(deps: DocsDeps) {
  const headers = { 'cache-control': 'no-cache', ...OPEN_TO_PAGES, ...transportSecurity(deps.publicUrl) }
  function loader(isInternal: boolean) {
    const text = once(async () => JSON.stringify(await describe(deps, isInternal)))
    return perCatalog(deps.catalog, (catalog) => once(async () => toAsset(nameExampleModels(await text(), catalog))))
  }
  const load = loader(false)
  const loadAll = loader(true)
  return new Elysia({ name: 'docs-routes' }).get(
    '/docs/json',
    async ({ request, query }) => {
      const asset = await (query.internal === 'true' ? loadAll : load)()()
      return assetResponse(asset, request, headers)
    },
    { detail: { hide: true } },
  )
}

function describe(
  { brand, routes, formats, publicUrl, sessionCookie }: DocsDeps,
  isInternal: boolean,
): Promise<object> {
  return openApiDocument({
    routes,
    isInternal,
    name: brand.name ?? PROGRAM_NAME,
    version: PRODUCT.version,
    publicUrl,
    errorFormat: defaultFormat(formats),
    sessionCookie,
  })
}

function toAsset(text: string): Promise<Asset> {
  return createAsset('application/json', new TextEncoder().encode(text))
}
