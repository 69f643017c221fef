/** Operations as routes of the dashboard: behind its guard, with their schemas and documents. */
import { Type } from '@sinclair/typebox'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, IN_ACCOUNT } from '@/console/http/guard'
import { NoFields } from '@/console/http/wire'
import { ERRORS } from '@/http/openapi/errors'
import { type AnyOperation, placeOf } from './operation'
import { IF_MATCH, versionOf, withCurrent } from './version'

const PathName = Type.String({ minLength: 1, maxLength: 64 })

/** Mounts `operations` below `/dashboard/api/a/:accountId`. */
export function serveOperations<Deps extends GuardDeps>(
  deps: Deps,
  name: string,
  operations: readonly AnyOperation<Deps>[],
) {
  const app = guarded(deps, name, ACCOUNT_PREFIX)
  for (const operation of operations) {
    const {
      may,
      isProved,
      maxBodyBytes,
      names: known,
      takes,
      gives: response,
      summary,
      description,
      versioned,
    } = operation
    const { method, place } = placeOf(operation)
    const names = [...place.matchAll(/:(\w+)/g)].map(([, key = '']) => [key, known?.[key] ?? PathName] as const)
    const isQuery = method === 'GET'
    const isVersionedChange = versioned !== undefined && !isQuery
    const read = isVersionedChange && operations.find(({ path }) => path === `GET ${place}`)
    app.route(
      method,
      place,
      async (caller) => {
        const context = { ...caller, deps }
        const perform = () => operation.run(context, isQuery ? caller.query : (caller.body ?? {}))
        const given = await (read ? withCurrent(perform, () => currently(read, context)) : perform())
        if (versioned) caller.set.headers.etag = versionOf(versioned(given))
        return given
      },
      {
        may: { permission: may, ...(isProved && { isProved }), ...(maxBodyBytes !== undefined && { maxBodyBytes }) },
        ...(names.length > 0 && { params: Type.Object({ ...IN_ACCOUNT, ...Object.fromEntries(names) }) }),
        ...(isQuery ? takes && { query: takes } : method !== 'DELETE' && { body: takes ?? NoFields }),
        ...(isVersionedChange && { headers: Type.Object(IF_MATCH) }),
        response,
        detail: { summary, description, ...(isVersionedChange && { [ERRORS]: [412] }) },
      },
    )
  }
  return app
}

/** What an operation that reads gives now, and its version. */
async function currently<Deps>(read: AnyOperation<Deps>, context: Parameters<AnyOperation<Deps>['run']>[0]) {
  const current = await read.run(context, {})
  return { current: current as object, etag: versionOf(read.versioned?.(current) ?? {}) }
}
