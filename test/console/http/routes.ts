/** The routes of the dashboard as the running application has them. */
import type { TestGateway } from '@test/support/gateway'

export type Route = { method: string; path: string }

const PREFIX = '/dashboard/api'

/** Every route below `/dashboard/api`, by method and path. */
export function dashboardRoutesOf(gateway: TestGateway): Route[] {
  return gateway.gateway.app.routes
    .filter(({ path }) => path === PREFIX || path.startsWith(`${PREFIX}/`))
    .filter(({ method }) => method !== 'OPTIONS' && method !== 'HEAD')
    .map(({ method, path }) => ({ method, path: path.replace(/\/$/, '') }))
}

/** `GET /dashboard/api/keys/:id`. */
export function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}

/** The path with each `:name` replaced. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? 'unknown_0000000000'))
}
