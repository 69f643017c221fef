/** Operations as routes of the dashboard: behind its guard, with their schemas and documents. */
import { Type } from '@sinclair/typebox'
import { ACCOUNT_PREFIX, type GuardDeps, guarded, IN_ACCOUNT } from '@/console/http/guard'
import { NoFields } from '@/console/http/wire'
import { type AnyOperation, placeOf } from './operation'

const PathName = Type.String({ minLength: 1, maxLength: 64 })

/** Mounts `operations` below `/dashboard/api/a/:accountId`. */
export function serveOperations<Deps extends GuardDeps>(
  deps: Deps,
  name: string,
  operations: readonly AnyOperation<Deps>[],
) {
  const app = guarded(deps, name, ACCOUNT_PREFIX)
  for (const {
    run,
    may,
    maxBodyBytes,
    names: known,
    takes,
    gives: response,
    summary,
    description,
    ...rest
  } of operations) {
    const { method, place } = placeOf(rest)
    const names = [...place.matchAll(/:(\w+)/g)].map(([, key = '']) => [key, known?.[key] ?? PathName] as const)
    const isQuery = method === 'GET'
    app.route(method, place, (caller) => run({ ...caller, deps }, isQuery ? caller.query : (caller.body ?? {})), {
      may: { permission: may, ...(maxBodyBytes !== undefined && { maxBodyBytes }) },
      ...(names.length > 0 && { params: Type.Object({ ...IN_ACCOUNT, ...Object.fromEntries(names) }) }),
      ...(isQuery ? takes && { query: takes } : method !== 'DELETE' && { body: takes ?? NoFields }),
      response,
      detail: { summary, description },
    })
  }
  return app
}
