/** The routes of the dashboard as the running application has them. */
import type { TestGateway } from '@test/support/gateway'
import type { Permission } from '@/accounts/members/permissions'
import { PERMISSION } from '@/console/http/guard'

export type Route = { method: string; path: string; may?: Permission }

const PREFIX = '/dashboard/api'

/** Every route below `/dashboard/api`, by method and path. */
export function dashboardRoutesOf(gateway: TestGateway): Route[] {
  return gateway.gateway.app.routes
    .filter(({ path }) => path === PREFIX || path.startsWith(`${PREFIX}/`))
    .filter(({ method }) => method !== 'OPTIONS' && method !== 'HEAD')
    .map(({ method, path, hooks }) => ({ method, path: path.replace(/\/$/, ''), ...permissionIn(hooks) }))
}

/** What the guard asks of a member, as the route's documentation says it. */
function permissionIn(hooks: { detail?: Record<string, unknown> } | undefined): { may?: Permission } {
  const permission = hooks?.detail?.[PERMISSION]
  return permission === undefined ? {} : { may: permission as Permission }
}

/** `GET /dashboard/api/a/:accountId/keys/:id`. */
export function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}

/** The path with each `:name` replaced. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? 'unknown_0000000000'))
}
