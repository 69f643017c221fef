/** The checks that all dashboard routes share, in order: origin, session, rate of changes, body size. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Membership } from '@/accounts/members/memberships'
import { mayDo, type Permission } from '@/accounts/members/permissions'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { Auth } from '@/console/auth/auth'
import type { IdentifyViewer, Member, Viewer } from '@/console/auth/viewer'
import { type BodyLimits, readJsonBody } from '@/http/body'
import type { HttpDeps } from '@/http/deps'
import { noSuchField } from '@/http/errors'
import { readRequestName } from '@/http/idempotency/header'
import { ERRORS } from '@/http/openapi/errors'
import { BY_SESSION } from '@/http/openapi/security'
import { NO_SNIFFING, transportSecurity } from '@/http/pages'
import { requestIdOf } from '@/http/request-id'
import { pathOf } from '@/http/request-line'
import { allowSilence, knowCaller } from '@/http/silence'
import { assert } from '@/lib/assert'
import type { JsonObject, JsonValue } from '@/lib/json'
import { changedBy } from './changed-by'
import { openChange } from './management/once'
import type { Reads } from './reads'

export type GuardDeps = BodyLimits & {
  identifyViewer: IdentifyViewer
  membershipIn(accountId: string, userId: string): Promise<Membership | undefined>
  countChange: Auth['countChange']
  /** The dashboard's address, without trailing slash; undefined: taken from each request. */
  publicUrl: string | undefined
  trustedProxyHops: number
  /** Queues reads by account. */
  reads: Reads
  /** Stores the responses to changes, so that a repeated request gets the same one; undefined if that is disabled. */
  idempotency: HttpDeps['idempotency']
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

const SESSION_PREFIX = '/dashboard/api/session'
/** The session's token in a Cookie header. */
const SESSION_TOKEN = /session_token=([^;]+)/

/** Body size for forms. */
const FORM_BYTES = 16 * 1024

/** The value of a route's option such as `signedIn`. An object also allows bodies larger than a form. */
type Admission = boolean | { maxBodyBytes: number }

/** The permission that the route needs. `isProved` also requires a recent re-authentication (403). */
type Required = Permission | { permission: Permission; maxBodyBytes?: number; isProved?: true }

/**
 * Field of a route's documentation: the permission that the route needs.
 * @internal Exported for tests. Knip does not see the use as a computed name below.
 */
export const PERMISSION = 'x-permission'

export const ACCOUNT_PREFIX = '/dashboard/api/a/:accountId'

export const IN_ACCOUNT = { accountId: Type.String({ description: 'An account that one is a member of' }) }

/**
 * A plugin for each group of dashboard routes. It adds these options to routes. `signedIn: true` gives the handler `viewer`, and `by` for
 * the audit log, or answers 401. `may: '<permission>'` is for routes below {@link ACCOUNT_PREFIX}: the viewer then has the path's account,
 * must be its member (404 otherwise) and have a role with the permission (403 otherwise). `administrator: true` admits only administrators;
 * it answers 404 to all others, and 403 to administrators without an authenticator app. `movesMoney: true` also requires a recent
 * re-authentication (403). `sameOrigin: true` is for routes without a session. All of them refuse changes that another site's page sent
 * (403). No body is read before these checks.
 */
export function guard(deps: GuardDeps) {
  const safety = { ...NO_SNIFFING, ...transportSecurity(deps.publicUrl) }
  return (
    new Elysia({ name: 'dashboard-guard' })
      .onTransform({ as: 'scoped' }, ({ set, request }) => {
        refuseNulIn(request.url)
        set.headers['x-request-id'] = requestIdOf(request)
        set.headers['cache-control'] ??= 'no-store'
        Object.assign(set.headers, safety)
      })
      .onBeforeHandle({ as: 'scoped' }, ({ request, body, set }) => openPress(deps, request, body, set))
      .onAfterHandle({ as: 'scoped' }, ({ request, responseValue, set }) => {
        deps.reads.end(request)
        return endPress(request, responseValue, set.status)
      })
      .onError({ as: 'scoped' }, ({ request }) => {
        deps.reads.end(request)
        return freePress(request)
      })
      // `end` may be called twice, since this hook also runs after errors.
      .onAfterResponse({ as: 'scoped' }, ({ request }) => deps.reads.end(request))
      .macro({
        signedIn: (admission: Admission) => ({ ...admitting(deps, admission, requireViewer), detail: BY_A_PERSON }),
        may(required: Required) {
          const needed = typeof required === 'string' ? { permission: required } : required
          const { permission, maxBodyBytes = FORM_BYTES } = needed
          return {
            ...admitting(deps, { maxBodyBytes }, (_, arrival) => requireMember(deps, arrival, needed)),
            detail: { ...BY_A_PERSON, [PERMISSION]: permission } as object,
          }
        },
        administrator: (admission: Admission) => ({
          ...admitting(deps, admission, requireAdministrator),
          detail: BY_AN_ADMINISTRATOR,
        }),
        movesMoney: (admission: Admission) => ({
          ...admitting(deps, admission, requireProvenAdministrator),
          detail: BY_AN_ADMINISTRATOR,
        }),
        sameOrigin: {
          detail: BY_ANYBODY,
          parse({ request }: Pick<Arrival, 'request'>) {
            checkOrigin(deps, request)
            return readBody(deps, request, FORM_BYTES)
          },
          beforeHandle: ({ request }: Pick<Arrival, 'request'>) => checkOrigin(deps, request),
        },
      })
  )
}

/** A group of routes below `prefix`, each protected by the {@link guard}. */
export function guarded<const Prefix extends string>(
  deps: GuardDeps,
  name: string,
  prefix: Prefix,
  tag: 'Dashboard' | 'Administration' = 'Dashboard',
) {
  return new Elysia({ name, prefix, tags: [tag] }).use(guard(deps))
}

const BY_ANYBODY = { security: [], [ERRORS]: [403, 500, 503] } as object
const BY_A_PERSON = { security: BY_SESSION, [ERRORS]: [401, 403, 404, 429, 500, 503] } as object
const BY_AN_ADMINISTRATOR = { ...BY_A_PERSON, [ERRORS]: [401, 403, 404, 500, 503] } as object

type Arrival = {
  request: Request
  params: Readonly<Record<string, string | undefined>>
  route: string
}

/** Elysia parses before it transforms, but doesn't parse requests without a body. So both hooks call this, and the first call checks. */
function admitting<Admitted extends Viewer>(
  deps: GuardDeps,
  admission: Admission,
  require: (deps: GuardDeps, arrival: Arrival) => Promise<Admitted>,
) {
  const maxBodyBytes = typeof admission === 'object' ? admission.maxBodyBytes : FORM_BYTES
  return {
    async parse(arrival: Arrival) {
      const { request } = arrival
      await admit(deps, request, require(deps, arrival))
      return readBody(deps, request, maxBodyBytes)
    },
    async transform(arrival: Arrival) {
      const { request } = arrival
      if (!viewers.has(request)) await admit(deps, request, require(deps, arrival))
      allowSilence(request)
    },
    resolve({ request }: Pick<Arrival, 'request'>) {
      const viewer = admitted(request) as Admitted
      return { viewer, by: changedBy(deps, viewer, request) }
    },
  }
}

/** The viewer of each request, known before its input is validated or logged. */
const viewers = new WeakMap<Request, Viewer>()

async function admit(deps: GuardDeps, request: Request, admitting: Promise<Viewer | Member>): Promise<void> {
  const viewer = await admitting
  viewers.set(request, viewer)
  knowCaller(request)
  // A read on a route without an account in its path counts for the person's own account.
  const whose = 'accountId' in viewer ? viewer.accountId : viewer.ownAccountId
  if (SAFE_METHODS.has(request.method)) await deps.reads.begin(request, whose)
}

function admitted(request: Request): Viewer {
  const viewer = viewers.get(request)
  assert(viewer, 'a guarded route is reached by those who were admitted')
  return viewer
}

/** Changes in progress that were sent with an idempotency key. */
const presses = new WeakMap<Request, Exclude<Awaited<ReturnType<typeof openChange>>, Response>>()

/** If a page repeats a change with the same idempotency key, the change is made once. Not for sign-in: cookies aren't stored. */
async function openPress(
  deps: GuardDeps,
  request: Request,
  body: unknown,
  set: { status?: number | string; headers: Record<string, unknown> },
): Promise<unknown> {
  const viewer = viewers.get(request)
  if (!viewer || !deps.idempotency || SAFE_METHODS.has(request.method)) return undefined
  const name = readRequestName(request, true)
  const [, secret] = SESSION_TOKEN.exec(request.headers.get('cookie') ?? '') ?? []
  if (!name || secret === undefined || pathOf(request.url).startsWith(SESSION_PREFIX)) return undefined
  name.ofBody(new TextEncoder().encode(JSON.stringify(body ?? null)))
  const { userId } = viewer
  const opened = await openChange(deps.idempotency, {
    ...{ accountId: `person ${userId}`, sender: userId, secret, name, request },
  })
  if (opened instanceof Response) {
    set.status = opened.status
    set.headers['idempotent-replayed'] = 'true'
    return await opened.json()
  }
  presses.set(request, opened)
  return undefined
}

async function endPress(request: Request, value: unknown, status: number | string | undefined): Promise<void> {
  const press = presses.get(request)
  if (!press) return
  presses.delete(request)
  if (value instanceof Response) return await press.free()
  const kept = Response.json(value ?? null, { status: typeof status === 'number' ? status : 200 })
  await press.end(kept)
}

async function freePress(request: Request): Promise<void> {
  const press = presses.get(request)
  presses.delete(request)
  await press?.free()
}

/** Reads the body of a change. Refuses texts and field names that later steps can't process. */
export async function readBody(deps: BodyLimits, request: Request, maxBytes = FORM_BYTES): Promise<JsonObject | null> {
  // A DELETE has no body: the path names what to delete.
  if (request.method === 'DELETE' && request.body === null) return null
  const limits = { ...deps, maxBodyBytes: Math.min(deps.maxBodyBytes, maxBytes) }
  const { json } = await readJsonBody(request, limits)
  const [field] = Object.keys(json)
  if (request.method === 'DELETE' && field !== undefined) throw noSuchField(field)
  refuseNul(json)
  refuseConversions(json)
  return json
}

async function requireViewer(deps: GuardDeps, { request }: Arrival): Promise<Viewer> {
  const viewer = await requireSession(deps, request)
  if (!SAFE_METHODS.has(request.method)) await deps.countChange(viewer, viewer.ownAccountId)
  return viewer
}

async function requireSession(deps: GuardDeps, request: Request): Promise<Viewer> {
  checkOrigin(deps, request)
  const viewer = await deps.identifyViewer(request)
  if (!viewer) throw new GatewayError('invalid_credentials', 'Sign in first.', { code: 'not_signed_in' })
  return viewer
}

const managed = new WeakMap<Request, { member: Member; path: string }>()

/** Admits `request` of a management key to the route of `path`, and to no other. */
export function admitManaged(request: Request, member: Member, path: string): void {
  managed.set(request, { member, path })
}

/** The response for another person's account is the same as for one that does not exist. */
async function requireMember(
  deps: GuardDeps,
  { request, params, route }: Arrival,
  { permission, isProved }: Exclude<Required, string>,
): Promise<Member> {
  const manager = managed.get(request)
  if (manager) {
    const isMeant = manager.path === route && manager.member.accountId === params.accountId && !isProved
    if (isMeant && mayDo(manager.member.accountRole, permission)) return manager.member
    throw notPermitted('A management key does not do this.')
  }
  const viewer = await requireSession(deps, request)
  const { accountId = '' } = params
  const membership = await deps.membershipIn(accountId, viewer.userId)
  if (!membership) throw new GatewayError('not_found', 'There is no such account.')
  const { role: accountRole, seesAllUsage } = membership
  if (!mayDo(accountRole, permission)) throw notPermitted()
  if (isProved) requireProof(viewer)
  if (!SAFE_METHODS.has(request.method)) await deps.countChange(viewer, accountId)
  return { ...viewer, accountId, accountRole, seesAllUsage }
}

/** The error for members whose role doesn't allow the request. */
export function notPermitted(message = 'Your role in this account does not allow this.', param?: string): GatewayError {
  return new GatewayError('forbidden', message, { code: 'not_permitted', ...(param !== undefined && { param }) })
}

async function requireAdministrator(deps: GuardDeps, arrival: Arrival): Promise<Viewer> {
  const viewer = await requireViewer(deps, arrival)
  if (viewer.role !== 'admin') throw new GatewayError('not_found', 'There is no such page.')
  if (viewer.isTotpEnabled) return viewer
  throw new GatewayError('forbidden', 'Set up an authenticator app first: administrators sign in with a second step.', {
    code: 'totp_setup_required',
  })
}

/** Requires a recent re-authentication, so that an unattended browser or a stolen session cannot move money. */
async function requireProvenAdministrator(deps: GuardDeps, arrival: Arrival): Promise<Viewer> {
  const viewer = await requireAdministrator(deps, arrival)
  requireProof(viewer)
  return viewer
}

function requireProof({ provedAtMs }: Viewer): void {
  if (Date.now() - provedAtMs <= PROOF_LIFE_MS) return
  throw new GatewayError('forbidden', 'Confirm that it is you, with a code or your password.', {
    code: 'step_up_required',
  })
}

/** How long a re-authentication is valid for moving money and granting access. */
const PROOF_LIFE_MS = 5 * 60_000

/** Cookies are also sent with requests caused by other sites. The Origin header, which browsers send with every POST, reveals those. */
function checkOrigin(deps: GuardDeps, request: Request): void {
  if (SAFE_METHODS.has(request.method)) return
  const own = new URL(deps.publicUrl ?? request.url).origin
  if (request.headers.get('origin') === own) return
  throw new GatewayError('forbidden', 'The request does not come from a page of the dashboard.', {
    code: 'cross_origin',
  })
}

const CONVERSIONS: ReadonlySet<string> = new Set(['toString', 'valueOf'])

/** Throws `invalid_request` if a field at any depth has a name in CONVERSIONS. The reader has limited the depth. */
function refuseConversions(value: JsonValue | undefined): void {
  if (typeof value !== 'object' || value === null) return
  // An array's field names are its indexes, which are never in CONVERSIONS.
  for (const [name, item] of Object.entries(value)) {
    if (CONVERSIONS.has(name)) throw invalidRequest(`The body must not hold a field of the name ${name}.`, name)
    refuseConversions(item)
  }
}

const NUL = String.fromCharCode(0)

/** Throws `invalid_request` for a body with a NUL in any text or name. The reader has limited its depth. */
function refuseNul(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (!hasNul(name) && !hasNul(value)) continue
    const field = name.replaceAll(NUL, '')
    throw invalidRequest(`${field || 'The body'}: must not contain the character NUL (U+0000).`, field || undefined)
  }
}

/** Throws `invalid_request` for a URL with a NUL. */
export function refuseNulIn(url: string): void {
  if (!url.includes('%00')) return
  const [field] = [...new URL(url).searchParams].find((parameter) => hasNul(parameter)) ?? []
  throw invalidRequest(`${field ?? 'The address'}: must not contain the character NUL (U+0000).`, field)
}

function hasNul(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return value.includes(NUL)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasNul)
  return Object.entries(value).some(([name, item]) => name.includes(NUL) || hasNul(item))
}
