/** The route `/`: browsers are redirected to the dashboard, programs get a list of URLs. */
import { Elysia } from 'elysia'
import { NO_SNIFFING, transportSecurity } from '@/http/pages'
import { PRODUCT } from '@/http/product'

type HomeDeps = {
  /** The dashboard's address, without trailing slash; undefined: taken from each request. */
  publicUrl: string | undefined
}

/** Browsers accept this type; client libraries don't ask for it. */
const PAGE_TYPE = /\btext\/html\b/

export function homeRoutes({ publicUrl }: HomeDeps) {
  const headers = { vary: 'accept', 'cache-control': 'no-cache', ...NO_SNIFFING, ...transportSecurity(publicUrl) }
  return new Elysia({ name: 'home-routes' }).get('/', ({ request }) => answer(request), { detail: { hide: true } })

  function answer(request: Request): Response {
    if (PAGE_TYPE.test(request.headers.get('accept') ?? '')) {
      const location = `${publicUrl ?? ''}/dashboard`
      return new Response(null, { status: 302, headers: { ...headers, location } })
    }
    const address = publicUrl ?? new URL(request.url).origin
    const pointers = {
      ...PRODUCT,
      docs: `${address}/docs`,
      openapi: `${address}/docs/json`,
      dashboard: `${address}/dashboard`,
      models: `${address}/v1/models`,
    }
    return Response.json(pointers, { headers })
  }
}
