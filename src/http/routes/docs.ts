/** The OpenAPI document of every route, for the reference page and for client generators. */
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
import { once } from '@/lib/once'

type DocsDeps = Pick<HttpDeps, 'catalog' | 'formats' | 'publicUrl'> & {
  /** Every route there is, once all are mounted. */
  routes(): DocumentedRoute[]
  sessionCookie: string
}

/** Mounts `GET /docs/json`. The document is built, and compressed, when it is first asked for. */
export function docsRoutes(deps: DocsDeps) {
  const headers = { 'cache-control': 'no-cache', ...OPEN_TO_PAGES, ...transportSecurity(deps.publicUrl) }
  const text = once(async () => JSON.stringify(await describe(deps)))
  const load = perCatalog(deps.catalog, (catalog) =>
    once(async () => toAsset(nameExampleModels(await text(), catalog))),
  )
  return new Elysia({ name: 'docs-routes' }).get(
    '/docs/json',
    async ({ request }) => assetResponse(await load()(), request, headers),
    { detail: { hide: true } },
  )
}

function describe({ routes, formats, publicUrl, sessionCookie }: DocsDeps): Promise<object> {
  return openApiDocument({
    routes,
    version: PRODUCT.version,
    publicUrl,
    errorFormat: defaultFormat(formats),
    sessionCookie,
  })
}

function toAsset(text: string): Promise<Asset> {
  return createAsset('application/json', new TextEncoder().encode(text))
}
