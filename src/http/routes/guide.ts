/** The guide for customers and operators: pages made from the repository's Markdown, with styles, script and search index. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { assetResponse } from '@/http/asset'
import { transportSecurity } from '@/http/pages'
import type { SiteBrand } from '@/lib/brand'
import { once } from '@/lib/once'

/** All files come from this origin; the pages contain no inline scripts or styles. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HIDDEN = { detail: { hide: true } }

export function guideRoutes({ publicUrl, brand }: { publicUrl: string | undefined; brand?: SiteBrand }) {
  // Read and rendered at the first request.
  const loadBook = once(async () => (await import('@/http/guide/book')).createBook(publicUrl, brand))
  const safety = { 'content-security-policy': CONTENT_SECURITY_POLICY, 'referrer-policy': 'no-referrer' }

  async function answer(name: string, request: Request): Promise<Response> {
    const load = (await loadBook()).get(name.replace(/\/$/, ''))
    if (!load) throw new GatewayError('not_found', 'There is no such page. GET /docs/guide lists all of them.')
    // URLs of assets contain their version.
    const cacheControl = name.startsWith('assets/') ? 'public, max-age=86400' : 'no-cache'
    return assetResponse(await load(), request, {
      'cache-control': cacheControl,
      ...safety,
      ...transportSecurity(publicUrl),
    })
  }

  return new Elysia({ name: 'guide-routes' })
    .get('/docs/guide', ({ request }) => answer('', request), HIDDEN)
    .get('/docs/guide/*', ({ params, request }) => answer(params['*'], request), HIDDEN)
}
