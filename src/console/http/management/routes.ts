/** The management API: checks key, scope and rate, then passes the request to the dashboard's route in the name of the key. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Manager } from '@/accounts/management/management-keys'
import { GatewayError } from '@/chat/error'
import type { Auth } from '@/console/auth/auth'
import { changesAt, changesWith } from '@/console/auth/limits'
import type { Member } from '@/console/auth/viewer'
import { ACCOUNT_PREFIX, admitManaged } from '@/console/http/guard'
import { NullableText } from '@/console/http/wire'
import { bearerToken } from '@/http/auth'
import { type BodyLimits, readJsonBody } from '@/http/body'
import { clientAddress, rememberPeer } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { readRequestName } from '@/http/idempotency/header'
import { type ManagerDeps, requireManager } from '@/http/management/manager'
import { operation } from '@/http/openapi/operation'
import { NO_SNIFFING } from '@/http/pages'
import { sameIdentity } from '@/http/request-id'
import { pathOf, queryOf } from '@/http/request-line'
import { allowSilence } from '@/http/silence'
import { oneOf } from '@/lib/schemas'
import { MANAGED_OPERATIONS } from '@/people/all-operations'
import { MAX_KEY_BODY_BYTES } from '@/people/keys/bodies'
import type { ManagementOperation } from '@/people/manage'
import { Scopes } from '@/people/management-keys/operations'
import type { Members } from '@/people/members/members'
import { documentOperation, type MountedRoute, routeOf } from './document'
import { changeOnce } from './once'

type ManagementDeps = ManagerDeps &
  BodyLimits &
  Pick<HttpDeps, 'idempotency'> & {
    auth: Pick<Auth, 'parts'>
    members: Pick<Members, 'findKind'>
    routes: readonly MountedRoute[]
    dispatch(request: Request): Promise<Response>
  }

const PREFIX = '/v1'

const AccountBody = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: oneOf(['personal', 'organisation']),
  managementKey: Type.Object(
    { id: Type.String(), name: Type.String(), scopes: Scopes, expiresAt: NullableText },
    { description: 'The key of this request' },
  ),
})

export function managementRoutes(deps: ManagementDeps) {
  const app = new Elysia({ name: 'management-routes' }).get(
    `${PREFIX}/account`,
    ({ request }) => account(deps, request),
    {
      detail: operation({
        tag: 'Management',
        summary: 'The account, and the key of this request',
        description: 'Needs no scope.',
        responseSchema: AccountBody,
        errors: [401, 403, 429, 503],
      }),
    },
  )
  for (const offered of MANAGED_OPERATIONS) {
    const route = routeOf(offered, deps.routes)
    app.route(offered.method, PREFIX + offered.path, ({ request }) => perform(deps, offered, request), {
      parse: 'none',
      detail: documentOperation(offered, route),
    })
  }
  return app
}

async function account(deps: ManagementDeps, request: Request): Promise<Response> {
  const { keyId, accountId, name, scopes, expiresAt } = await requireManager(deps, request)
  const found = await deps.members.findKind(accountId)
  if (!found) throw new GatewayError('not_found', 'There is no such account.')
  const managementKey = { id: keyId, name, scopes, expiresAt: expiresAt?.toISOString() ?? null }
  const body = { id: accountId, name: found.name, kind: found.kind, managementKey }
  return Response.json(body, { headers: { 'cache-control': 'no-store', ...NO_SNIFFING } })
}

async function perform(deps: ManagementDeps, offered: ManagementOperation, request: Request): Promise<Response> {
  const manager = await requireManager(deps, request, offered.scope)
  if (offered.method === 'GET') return await deps.dispatch(inDashboard(offered, request, undefined, manager))
  const name = readRequestName(request, deps.idempotency !== undefined)
  const { keyId, accountId } = manager
  await deps.auth.parts.throttle.attempt(changesWith(keyId), changesAt(accountId))
  const body = await readBody(deps, offered.method, request)
  allowSilence(request)
  const change = () => deps.dispatch(inDashboard(offered, request, body, manager))
  if (!name) return await change()
  name.ofBody(body ?? NOTHING)
  const secret = bearerToken(request.headers.get('authorization') ?? '') ?? ''
  return await changeOnce(deps, { manager, secret, name, request }, change)
}

const NOTHING = new TextEncoder().encode('{}')

/** Reads the body, which is optional if the operation has no required fields. */
async function readBody(
  deps: ManagementDeps,
  method: ManagementOperation['method'],
  request: Request,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.body === null) return method === 'DELETE' ? undefined : NOTHING
  let bytes: Uint8Array<ArrayBuffer> | undefined
  const limits = { ...deps, maxBodyBytes: Math.min(deps.maxBodyBytes, MAX_KEY_BODY_BYTES) }
  await readJsonBody(request, limits, {
    onBytes(read) {
      bytes = new Uint8Array(read)
    },
  })
  return bytes
}

/** The request for the dashboard's route. It has only those headers that name the client's addresses and the expected version. */
function inDashboard(
  { method, path }: ManagementOperation,
  request: Request,
  body: Uint8Array<ArrayBuffer> | undefined,
  manager: Manager,
): Request {
  const { accountId } = manager
  const url = new URL(request.url)
  const query = queryOf(request.url)
  const place = ACCOUNT_PREFIX.replace(':accountId', accountId) + pathOf(request.url).slice(PREFIX.length)
  const headers = new Headers()
  for (const name of ['x-forwarded-for', 'if-match']) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  if (body) {
    headers.set('content-type', 'application/json')
    headers.set('content-length', String(body.length))
  }
  const inner = new Request(`${url.origin}${place}${query === '' ? '' : `?${query}`}`, {
    method,
    headers,
    ...(body && { body }),
  })
  sameIdentity(inner, request)
  rememberPeer(inner, clientAddress(request, 0))
  admitManaged(inner, memberOf(manager), ACCOUNT_PREFIX + path)
  return inner
}

/** A key has the rights of an admin within its scopes. Audit entries of its actions have its maker's name. */
function memberOf({ keyId, accountId, scopes, createdBy: { userId, name, email } }: Manager): Member {
  return {
    ...{ userId, name, email, accountId, ownAccountId: accountId, accountRole: 'admin' },
    ...{ managementKeyId: keyId, managementScopes: scopes },
    ...{ seesAllUsage: true, role: 'member', sessionId: '', isTotpEnabled: false, provedAtMs: 0 },
  }
}
