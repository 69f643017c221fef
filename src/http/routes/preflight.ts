/** The endpoints that browsers ask before a page of another site may call the API: the dashboard has none. */
import { Elysia } from 'elysia'
import { OPEN_PREFIXES, preflight } from '@/http/pages'

/** Mounts `OPTIONS` for the paths of inference and of the models. */
export function preflightRoutes() {
  const routes = new Elysia({ name: 'preflight-routes' })
  for (const prefix of OPEN_PREFIXES) {
    routes.options(prefix.slice(0, -1), preflight, HIDDEN).options(`${prefix}*`, preflight, HIDDEN)
  }
  return routes
}

const HIDDEN = { detail: { hide: true } }
