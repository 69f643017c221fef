/** Serves the HTML pages of dashboard and documentation, and the files they load. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import { type Asset, assetResponse } from '@/http/asset'
import { transportSecurity } from '@/http/pages'
import { BRAND_META, type Logo, pageBrandOf, type SiteBrand } from '@/lib/brand'
import { escapeHtml } from '@/lib/html/escape'
import type { Logger } from '@/lib/logger'
import type { DashboardAssets, LoadAssets } from './assets'

/** Allows scripts only from our own files. Allows inline styles, since the component library sets styles by scripts. */
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
  brand: SiteBrand
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
  return new Response(branded(text, deps.brand), { headers: pageHeaders(deps) })
}

const ICON = /<link rel="icon"[^>]*>/

/** A page with the operator's name in its title, and the brand's data for its scripts. */
function branded(page: string, brand: SiteBrand): string {
  const { name, logo } = brand
  const facts = pageBrandOf(brand)
  const meta = `<meta name="${BRAND_META}" content="${escapeHtml(JSON.stringify(facts))}">\n</head>`
  const titled = name === undefined ? page : page.replace('</title>', () => ` · ${escapeHtml(name)}</title>`)
  const icon = logo && `<link rel="icon" href="${facts.logo}" type="${logo.contentType}">`
  return (icon === undefined ? titled : titled.replace(ICON, icon)).replace('</head>', () => meta)
}

/** The policy lets a logo run no scripts and load no files, even if it is opened as a page. */
function logoResponse({ contentType, body }: Logo, cacheControl: string): Response {
  return new Response(body, {
    headers: {
      'content-type': contentType,
      'cache-control': cacheControl,
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    },
  })
}

async function file(deps: AssetDeps, name: string, request: Request): Promise<Response> {
  const { logo } = deps.brand
  if (logo && name === logo.name) return logoResponse(logo, IMMUTABLE)
  return send((await deps.loadAssets()).files.get(name), request, IMMUTABLE)
}

async function icon(deps: AssetDeps, request: Request): Promise<Response> {
  if (deps.brand.logo) return logoResponse(deps.brand.logo, A_DAY)
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
