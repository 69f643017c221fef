/** What every route of the dashboard shares: JSON bodies within limits, the session behind a request, and a same-origin check. */
import { Elysia } from 'elysia'
import type { IdentifyViewer, Viewer } from '@/auth/viewer'
import { GatewayError } from '@/chat/error'
import { type BodyLimits, readJsonBody } from '@/http/body'

export type GuardDeps = BodyLimits & {
  identifyViewer: IdentifyViewer
  /** The address people open, without trailing slash; undefined: the one a request was sent to. */
  publicUrl: string | undefined
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * A plugin to `use` in each group of dashboard routes. Its options for a route: `signedIn: true` hands `viewer` to the
 * handler or answers 401; `administrator: true` does the same for administrators only, and answers 404 to everybody else,
 * who need not know what there is; `sameOrigin: true` is for routes that need no session. All three refuse requests that
 * change something and were sent by another site's page (403).
 */
export function guard(deps: GuardDeps) {
  return new Elysia({ name: 'dashboard-guard' })
    .onParse({ as: 'scoped' }, async ({ request }) => (await readJsonBody(request, deps)).json)
    .macro({
      signedIn: {
        resolve: async ({ request }: { request: Request }) => ({ viewer: await requireViewer(deps, request) }),
      },
      administrator: {
        resolve: async ({ request }: { request: Request }) => ({ viewer: await requireAdministrator(deps, request) }),
      },
      sameOrigin: {
        beforeHandle: ({ request }: { request: Request }) => checkOrigin(deps, request),
      },
    })
}

async function requireViewer(deps: GuardDeps, request: Request): Promise<Viewer> {
  checkOrigin(deps, request)
  const viewer = await deps.identifyViewer(request)
  if (!viewer) throw new GatewayError('invalid_credentials', 'Sign in first.', { code: 'not_signed_in' })
  return viewer
}

async function requireAdministrator(deps: GuardDeps, request: Request): Promise<Viewer> {
  const viewer = await requireViewer(deps, request)
  if (viewer.role !== 'admin') throw new GatewayError('not_found', 'There is no such page.')
  return viewer
}

/** A cookie travels with requests that other sites cause; their origin gives them away. Browsers always send it with a POST. */
function checkOrigin(deps: GuardDeps, request: Request): void {
  if (SAFE_METHODS.has(request.method)) return
  const own = new URL(deps.publicUrl ?? request.url).origin
  if (request.headers.get('origin') === own) return
  throw new GatewayError('forbidden', 'The request does not come from a page of the dashboard.', {
    code: 'cross_origin',
  })
}
