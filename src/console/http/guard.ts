/** What every route of the dashboard shares: JSON bodies within limits, the session behind a request, and a same-origin check. */
import { Elysia } from 'elysia'
import { GatewayError } from '@/chat/error'
import type { IdentifyViewer, Viewer } from '@/console/auth/viewer'
import { type BodyLimits, readJsonBody } from '@/http/body'
import { pathOf } from '@/http/request-line'
import { allowSilence } from '@/http/silence'
import { assert } from '@/lib/assert'

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
    .onTransform({ as: 'scoped' }, ({ set }) => {
      set.headers['cache-control'] ??= 'no-store'
    })
    .onParse({ as: 'scoped' }, async ({ request }) => {
      // What is to be deleted is named by the path; browsers send neither a body nor its type then.
      if (request.method === 'DELETE' && request.body === null) return null
      return (await readJsonBody(request, limitsOf(request, deps))).json
    })
    .macro({
      signedIn: {
        transform: ({ request }: { request: Request }) => admit(request, requireViewer(deps, request)),
        resolve: ({ request }: { request: Request }) => ({ viewer: admitted(request) }),
      },
      administrator: {
        transform: ({ request }: { request: Request }) => admit(request, requireAdministrator(deps, request)),
        resolve: ({ request }: { request: Request }) => ({ viewer: admitted(request) }),
      },
      sameOrigin: {
        beforeHandle: ({ request }: { request: Request }) => checkOrigin(deps, request),
      },
    })
}

/** Who sent a request, from the moment that is known: before anything it says is checked, and so before anything is told. */
const viewers = new WeakMap<Request, Viewer>()

async function admit(request: Request, viewer: Promise<Viewer>): Promise<void> {
  viewers.set(request, await viewer)
  allowSilence(request)
}

function admitted(request: Request): Viewer {
  const viewer = viewers.get(request)
  assert(viewer, 'a guarded route is reached by those who were admitted')
  return viewer
}

/** Whoever signs in is nobody yet, and gets no memory for a body beyond what a form needs. */
function limitsOf(request: Request, deps: GuardDeps): BodyLimits {
  if (!pathOf(request.url).startsWith(SIGN_IN_PREFIX)) return deps
  return { ...deps, maxBodyBytes: Math.min(deps.maxBodyBytes, SIGN_IN_BODY_BYTES) }
}

const SIGN_IN_PREFIX = '/dashboard/api/session/'
const SIGN_IN_BODY_BYTES = 16 * 1024

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
