/** Serves the dashboard to browsers: one document for all of its pages, and the files it loads. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { transportSecurity } from '@/http/pages'
import type { Logger } from '@/lib/logger'
import type { Asset, LoadAssets } from './assets'

/** Scripts only from our own files; the component library styles elements from scripts, which needs inline styles. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A year; a file with another content has another name. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
const HIDDEN = { detail: { hide: true } }

export type AssetDeps = {
  loadAssets: LoadAssets
  publicUrl: string | undefined
  logger: Logger
}

/** Mounts `GET /dashboard`, every page below it, and `/dashboard/assets`. */
export function assetRoutes(deps: AssetDeps) {
  return new Elysia({ name: 'asset-routes' })
    .get('/dashboard/assets/:name', ({ params, request }) => file(deps, params.name, request), HIDDEN)
    .get('/dashboard', () => page(deps), HIDDEN)
    .get('/dashboard/*', ({ params }) => page(deps, params['*']), HIDDEN)
}

async function page(deps: AssetDeps, path = ''): Promise<Response> {
  if (path === 'api' || path.startsWith('api/')) {
    throw new GatewayError('not_found', 'There is no such route of the dashboard. GET /docs lists all endpoints.')
  }
  const assets = await deps.loadAssets().catch((cause) => {
    deps.logger.error('dashboard_unavailable', { error: cause })
    throw new GatewayError('overloaded', 'The dashboard could not be built. The log says why.', { cause })
  })
  return new Response(assets.page, { headers: pageHeaders(deps) })
}

async function file(deps: AssetDeps, name: string, request: Request): Promise<Response> {
  const asset = (await deps.loadAssets()).files.get(name)
  if (!asset) throw new GatewayError('not_found', 'There is no such file.')
  const { body, encoding } = chooseEncoding(asset, request.headers.get('accept-encoding') ?? '')
  return new Response(body as Uint8Array<ArrayBuffer>, {
    headers: {
      'content-type': asset.contentType,
      'cache-control': IMMUTABLE,
      'x-content-type-options': 'nosniff',
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding }),
    },
  })
}

function chooseEncoding(asset: Asset, accepted: string): { body: Uint8Array; encoding?: string } {
  if (/\bbr\b/.test(accepted)) return { body: asset.brotli, encoding: 'br' }
  if (/\bgzip\b/.test(accepted)) return { body: asset.gzip, encoding: 'gzip' }
  return { body: asset.body }
}

function pageHeaders({ publicUrl }: AssetDeps): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': CONTENT_SECURITY_POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
    ...transportSecurity(publicUrl),
  }
}
