/** The operator's API: its operations as routes below `/v1/operator`, for programs with an operator key. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { OperatorKey, OperatorKeys } from '@/accounts/management/operator-keys'
import type { Auth } from '@/console/auth/auth'
import { changesWith } from '@/console/auth/limits'
import { readBody, refuseNulIn } from '@/console/http/guard'
import { documentOperation } from '@/console/http/management/document'
import { changeOnce } from '@/console/http/management/once'
import { NoFields } from '@/console/http/wire'
import { bearerToken } from '@/http/auth'
import { clientAddress } from '@/http/client-address'
import type { HttpDeps } from '@/http/deps'
import { readRequestName } from '@/http/idempotency/header'
import { requireOperator } from '@/http/management/manager'
import { NO_SNIFFING } from '@/http/pages'
import { requestIdOf } from '@/http/request-id'
import { allowSilence } from '@/http/silence'
import { assert } from '@/lib/assert'
import { placeOf } from '@/people/operation'
import type { OperatorCall, OperatorDeps } from './accounts'
import { OPERATOR_OPERATIONS, type OperatorOperation } from './operations'

export type OperatorRouteDeps = OperatorDeps &
  Pick<HttpDeps, 'unpaid'> & { operatorKeys: Pick<OperatorKeys, 'identify'>; auth: Pick<Auth, 'parts'> }

const PREFIX = '/v1/operator'

const PathName = Type.String({ minLength: 1, maxLength: 64, pattern: '^\\w+$' })

/** Mounts the {@link OPERATOR_OPERATIONS}. */
export function operatorRoutes(deps: OperatorRouteDeps) {
  const app = new Elysia({ name: 'operator-routes', prefix: PREFIX })
  for (const operation of OPERATOR_OPERATIONS) {
    const { method, place } = placeOf(operation)
    const names = [...place.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, PathName] as const)
    const { takes, gives: response, summary, description, parameters = [], maxBodyBytes } = operation
    const bodySchema = method === 'GET' || method === 'DELETE' ? undefined : (takes ?? NoFields)
    const schemas = {
      ...(names.length > 0 && { params: Type.Object(Object.fromEntries(names)) }),
      ...(method === 'GET' && takes && { query: takes }),
      ...(bodySchema && { body: bodySchema }),
    }
    const about = { method, scope: operation.scope, tag: 'Operator', parameters } as const
    app.route(method, place, (context) => answer(deps, operation, context), {
      async parse({ request }) {
        await admit(deps, operation, request)
        return request.body === null ? undefined : readBody(deps, request, maxBodyBytes)
      },
      async transform(context) {
        const { request } = context
        if (!admitted.has(request)) await admit(deps, operation, request)
        refuseNulIn(request.url)
        if (bodySchema) context.body ??= {}
        allowSilence(request)
      },
      ...schemas,
      detail: documentOperation(about, { ...schemas, response, detail: { summary, description } }),
    })
  }
  return app
}

/** The operator key of each request. It is checked before the request's body is read. */
const admitted = new WeakMap<Request, OperatorKey>()

async function admit(deps: OperatorRouteDeps, operation: OperatorOperation, request: Request): Promise<void> {
  const key = await requireOperator(deps, request, operation.scope)
  if (placeOf(operation).method !== 'GET') await deps.auth.parts.throttle.attempt(changesWith(key.keyId))
  admitted.set(request, key)
}

type Arrival = { request: Request; params?: object; query: object; body: unknown }

/** Performs the operation. If a change has an `Idempotency-Key`, repeated requests perform it only once. */
async function answer(deps: OperatorRouteDeps, operation: OperatorOperation, arrival: Arrival): Promise<Response> {
  const { request, query, body } = arrival
  const key = admitted.get(request)
  assert(key, 'an operator key was admitted')
  const isQuery = placeOf(operation).method === 'GET'
  const perform = async () => {
    const result = await operation.run(callOf(deps, key, arrival), isQuery ? query : (body ?? {}))
    const headers = { 'cache-control': 'no-store', 'x-request-id': requestIdOf(request), ...NO_SNIFFING }
    return Response.json(result, { headers })
  }
  const name = isQuery ? undefined : readRequestName(request, deps.idempotency !== undefined)
  if (!name) return await perform()
  name.ofBody(new TextEncoder().encode(JSON.stringify(body ?? null)))
  const secret = bearerToken(request.headers.get('authorization') ?? '') ?? ''
  return await changeOnce(deps, { manager: { accountId: key.keyId, keyId: key.keyId }, secret, name, request }, perform)
}

/** The call of an operator key, which acts like an admin of the account in the path. The audit log names the key. */
function callOf(deps: OperatorRouteDeps, { keyId, name }: OperatorKey, { request, params }: Arrival): OperatorCall {
  const named = { ...params } as Record<string, string>
  const { accountId = '' } = named
  const actor = { userId: null, email: `operator key ${name}` }
  return {
    ...{ deps, request, operatorKeyId: keyId, params: named },
    by: {
      ...{ actor, operatorKeyId: keyId, requestId: requestIdOf(request) },
      ip: clientAddress(request, deps.trustedProxyHops),
    },
    viewer: {
      ...{ userId: keyId, name, email: actor.email, accountId, ownAccountId: accountId, operatorKeyId: keyId },
      ...{ accountRole: 'admin', seesAllUsage: true, role: 'member' },
      ...{ sessionId: '', isTotpEnabled: false, provedAtMs: 0 },
    },
  }
}
