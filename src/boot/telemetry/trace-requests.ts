/** Traces each request from its arrival to the start of its answer, named by its route. */
import { pathOf } from '@/http/request-line'
import { createRouteNames } from '@/http/route-name'
import type { Tracing } from '@/telemetry/tracing'

type Route = { path: string; method: string }

export type TraceRequest = (
  request: Request,
  answer: () => Response | Promise<Response>,
) => Response | Promise<Response>

/** Paths that machines poll or browsers load. */
const UNTRACED = /^\/($|healthz$|readyz$|metrics$|api\/hello$|favicon|dashboard\/|dashboard$|docs)/
/** Playground requests are paid for, so they are traced. */
const PLAYGROUND = /^\/dashboard\/api\/a\/[^/]+\/playground\//

export function traceRequests(tracing: Tracing, routes: readonly Route[]): TraceRequest {
  const byMethod = Map.groupBy(routes, ({ method }) => method)
  const namers = new Map([...byMethod].map(([method, own]) => [method, routeNamer(own.map(({ path }) => path))]))
  return async (request, answer) => {
    const path = pathOf(request.url)
    if (UNTRACED.test(path) && !PLAYGROUND.test(path)) return answer()
    tracing.arrived(request, namers.get(request.method)?.(path))
    const response = await answer()
    tracing.responded(request, response.status)
    return response
  }
}

function routeNamer(paths: readonly string[]): (path: string) => string | undefined {
  const known = new Set(paths)
  const literals = new Set(paths.filter((path) => !/[:*]/.test(path)))
  const nameOf = createRouteNames(paths)
  return (path) => {
    if (literals.has(path)) return path
    const name = nameOf(path)
    return known.has(name) ? name : undefined
  }
}
