/** Serves the HTML pages of dashboard and documentation, and the files they load. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { type Asset, assetResponse } from '@/http/asset'
import { transportSecurity } from '@/http/pages'
import type { Logger } from '@/lib/logger'
import type { DashboardAssets, LoadAssets } from './assets'

/** Scripts only from our own files. The component library sets element styles from scripts, which needs inline styles. */
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

/** A year: changed content gets another file name. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
const A_DAY = 'public, max-age=86400'
const HIDDEN = { detail: { hide: true } }

export type AssetDeps = {
  loadAssets: LoadAssets
  publicUrl: string | undefined
  logger: Logger
}

export function assetRoutes(deps: AssetDeps) {
  return new Elysia({ name: 'asset-routes' })
    .get('/dashboard/assets/:name', ({ params, request }) => file(deps, params.name, request), HIDDEN)
    .get('/favicon.ico', ({ request }) => icon(deps, request), HIDDEN)
    .get('/dashboard', () => page(deps), HIDDEN)
    .get('/dashboard/*', ({ params }) => page(deps, params['*']), HIDDEN)
    .get('/docs', async () => document(deps, (await load(deps)).docsPage), HIDDEN)
}

async function page(deps: AssetDeps, path = ''): Promise<Response> {
  if (path === 'api' || path.startsWith('api/')) {
    throw new GatewayError('not_found', 'There is no such route of the dashboard. GET /docs lists all endpoints.')
  }
  return document(deps, (await load(deps)).page)
}

function load(deps: AssetDeps): Promise<DashboardAssets> {
  return deps.loadAssets().catch((cause) => {
    deps.logger.error('dashboard_unavailable', { error: cause })
    throw new GatewayError('overloaded', 'The pages could not be built. The log says why.', { cause })
  })
}

function document(deps: AssetDeps, text: string): Response {
  return new Response(text, { headers: pageHeaders(deps) })
}

async function file(deps: AssetDeps, name: string, request: Request): Promise<Response> {
  return send((await deps.loadAssets()).files.get(name), request, IMMUTABLE)
}

async function icon(deps: AssetDeps, request: Request): Promise<Response> {
  const { icon, files } = await deps.loadAssets()
  return send(files.get(icon), request, A_DAY)
}

function send(asset: Asset | undefined, request: Request, cacheControl: string): Response {
  if (!asset) throw new GatewayError('not_found', 'There is no such file.')
  return assetResponse(asset, request, { 'cache-control': cacheControl })
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
