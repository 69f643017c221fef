/** Operations as routes of the dashboard: behind its guard, with their schemas and documents. */
import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, IN_ACCOUNT } from '@/console/http/guard'
import { NoFields } from '@/console/http/wire'
import { ERRORS } from '@/http/openapi/errors'
import { ADMIN_PREFIX } from '@/people/administration/context'
import {
  type AdministrationCaller,
  type AnyAdministration,
  type AnyOperation,
  type AnyUnbound,
  type Declaration,
  type Input,
  type OperationPath,
  type PersonalCaller,
  placeOf,
  takesQuery,
  type VisitorCaller,
} from './operation'
import { IF_MATCH, versionOf, withCurrent } from './version'

const PathName = Type.String({ minLength: 1, maxLength: 64 })

/** Mounts `operations` below `/dashboard/api/a/:accountId`. */
export function serveOperations<Deps extends GuardDeps>(
  deps: Deps,
  operations: readonly AnyOperation<NoInfer<Deps>>[],
) {
  const app = guarded(deps, 'account-operations', ACCOUNT_PREFIX)
  for (const operation of operations) {
    const { may: permission, isProved, maxBodyBytes, versioned } = operation
    const { method, place, schemas, inputOf } = routeOf(operation, IN_ACCOUNT)
    const isVersionedChange = versioned !== undefined && method !== 'GET'
    const read = isVersionedChange && operations.find(({ path }) => path === `GET ${place}`)
    app.route(
      method,
      place,
      async (caller) => {
        const context = { ...caller, deps }
        const perform = () => operation.run(context, inputOf(caller))
        const given = await (read ? withCurrent(perform, () => currently(read, context)) : perform())
        if (versioned) caller.set.headers.etag = versionOf(versioned(given))
        return given
      },
      {
        may: { permission, ...(isProved && { isProved }), ...(maxBodyBytes !== undefined && { maxBodyBytes }) },
        ...schemas,
        ...(isVersionedChange && {
          headers: Type.Object(IF_MATCH),
          detail: { ...schemas.detail, [ERRORS]: [412] },
        }),
      },
    )
  }
  return app
}

/** The current result of a `GET` operation, and its version. */
async function currently<Deps>(read: AnyOperation<Deps>, context: Parameters<AnyOperation<Deps>['run']>[0]) {
  const current = await read.run(context, {})
  return { current: current as object, etag: versionOf(read.versioned?.(current) ?? {}) }
}

/** Mounts `operations` of administrators below `/dashboard/api/admin`. */
export function serveAdministration<Deps extends GuardDeps>(
  deps: Deps,
  operations: readonly AnyAdministration<NoInfer<Deps>>[],
) {
  const app = guarded(deps, 'administration', ADMIN_PREFIX, 'Administration')
  for (const operation of operations) {
    const { needs, maxBodyBytes } = operation
    const { method, place, schemas, inputOf } = routeOf(operation, {})
    const admission = maxBodyBytes === undefined || { maxBodyBytes }
    const perform = (caller: AdministrationCaller & Arrival) => operation.run({ ...caller, deps }, inputOf(caller))
    if (needs === 'movesMoney') app.route(method, place, perform, { movesMoney: admission, ...schemas })
    else app.route(method, place, perform, { administrator: admission, ...schemas })
  }
  return app
}

/** Mounts operations of a person, and of visitors, below `/dashboard/api`. */
export function serveUnbound<Deps extends GuardDeps>(
  deps: Deps,
  personal: readonly AnyUnbound<PersonalCaller, NoInfer<Deps>>[],
  visitors: readonly AnyUnbound<VisitorCaller, NoInfer<Deps>>[],
) {
  const app = guarded(deps, 'unbound-operations', '/dashboard/api')
  for (const operation of personal) {
    const { method, place, schemas, inputOf } = routeOf(operation, {})
    const perform = (caller: PersonalCaller & Arrival) => operation.run({ ...caller, deps }, inputOf(caller))
    app.route(method, place, perform, { signedIn: true, ...schemas })
  }
  for (const operation of visitors) {
    const { method, place, schemas, inputOf } = routeOf(operation, {})
    const perform = (caller: VisitorCaller & Arrival) => operation.run({ ...caller, deps }, inputOf(caller))
    app.route(method, place, perform, { sameOrigin: true, ...schemas })
  }
  return app
}

type Arrival = { query: object; body: unknown; params: Record<string, string> }
type Declared = Pick<
  Declaration<OperationPath, Input, TSchema>,
  'path' | 'names' | 'takes' | 'gives' | 'file' | 'summary' | 'description'
>

function routeOf(operation: Declared, inPrefix: TProperties) {
  const { names: known, takes, gives: response, file, summary, description } = operation
  const { method, place } = placeOf(operation)
  const names = [...place.matchAll(/:(\w+)/g)].map(([, key = '']) => [key, known?.[key] ?? PathName] as const)
  const isQuery = takesQuery(method)
  const schemas: { params?: TSchema; query?: TSchema; body?: TSchema; response?: TSchema; detail: object } = {
    ...(names.length > 0 && { params: Type.Object({ ...inPrefix, ...Object.fromEntries(names) }) }),
    ...(isQuery ? takes && { query: takes } : { body: takes ?? NoFields }),
    ...(file ? { detail: { summary, description, responses: file } } : { response, detail: { summary, description } }),
  }
  const inputOf = ({ query, body }: Arrival) => (isQuery ? query : (body ?? {})) as object
  return { method, place, schemas, inputOf }
}
