/** Logs work that blocked the event loop, with the route's name instead of the URL, which may contain a key. */
import { pathOf } from '@/http/request-line'
import { createRouteNames, UNKNOWN_ROUTE } from '@/http/route-name'
import type { Logger } from '@/lib/logger'
import type { StallWatch } from '@/metrics/process-metrics'

/** The name if no request arrived while the event loop was blocked: a timer or earlier work blocked it. */
const NO_ROUTE = 'none'

export function createStallReports(logger: Logger): StallWatch & { know(routes: readonly { path: string }[]): void } {
  let paths: readonly string[] = []
  let nameOf = (_: string) => NO_ROUTE
  return {
    onStall(url, milliseconds) {
      const route = url === undefined ? NO_ROUTE : nameOf(pathOf(url))
      logger.warn('event_loop_stalled', { route, milliseconds: Math.round(milliseconds) })
      return route
    },
    routes: () => [NO_ROUTE, UNKNOWN_ROUTE, ...paths],
    know(routes) {
      paths = [...new Set(routes.map(({ path }) => path))]
      nameOf = createRouteNames(paths)
    },
  }
}
