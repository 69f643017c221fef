/** Tells a trace when a request comes to the server and when its answer begins, by the name of its route. */
import { pathOf } from '@/http/request-line'
import { createRouteNames } from '@/http/route-name'
import type { Tracing } from '@/telemetry/tracing'

type Route = { path: string; method: string }

/** Answers a request, and tells of it. */
export type TraceRequest = (
  request: Request,
  answer: () => Response | Promise<Response>,
) => Response | Promise<Response>

/** Asked every few seconds by machines, or loaded by a browser that shows a page. */
const UNTRACED = /^\/($|healthz$|readyz$|metrics$|api\/hello$|favicon|dashboard\/|dashboard$|docs)/
/** The page on which people try models: its requests are paid for like any other. */
const PLAYGROUND = /^\/dashboard\/api\/a\/[^/]+\/playground\//

/** Traces the requests of an application that has these routes. */
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

/** Names a path by its route; undefined if it has none. Most are routes themselves. */
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
