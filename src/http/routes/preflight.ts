/** CORS preflight endpoints, for pages of other sites that call the API. The dashboard has none. */
import { Elysia } from 'elysia'
import { OPEN_PREFIXES, preflight } from '@/http/pages'
import { pathOf } from '@/http/request-line'

export function preflightRoutes() {
  const routes = new Elysia({ name: 'preflight-routes' })
  const answer = ({ request }: { request: Request }) => preflight(pathOf(request.url))
  for (const prefix of OPEN_PREFIXES) {
    routes.options(prefix.slice(0, -1), answer, HIDDEN).options(`${prefix}*`, answer, HIDDEN)
  }
  return routes
}

const HIDDEN = { detail: { hide: true } }
