/** CORS preflight endpoints, for pages of other sites that call the API. The dashboard has none. */
import { Elysia } from 'elysia'
import { OPEN_PREFIXES, preflight } from '@/http/pages'

export function preflightRoutes() {
  const routes = new Elysia({ name: 'preflight-routes' })
  for (const prefix of OPEN_PREFIXES) {
    routes.options(prefix.slice(0, -1), preflight, HIDDEN).options(`${prefix}*`, preflight, HIDDEN)
  }
  return routes
}

const HIDDEN = { detail: { hide: true } }
