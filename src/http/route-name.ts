/** The name of the route that a path belongs to, for metrics and logs: always one of ours, whatever a client writes. */

/** The name of every path that is no route. */
export const UNKNOWN_ROUTE = 'unknown'

/** Names paths after `routes`, each a path with `:name` for one segment and `*` for the rest; the most exact one first. */
export function createRouteNames(routes: readonly string[]): (path: string) => string {
  const templates = [...new Set(routes)]
    .map((route) => ({ route, segments: route.split('/'), literals: literalsOf(route) }))
    .toSorted((one, other) => other.literals - one.literals)
  return (path) => {
    const segments = path.split('/')
    return templates.find((template) => matches(template.segments, segments))?.route ?? UNKNOWN_ROUTE
  }
}

function literalsOf(route: string): number {
  return route.split('/').filter((segment) => segment !== '*' && !segment.startsWith(':')).length
}

function matches(template: readonly string[], segments: readonly string[]): boolean {
  const isOpen = template.at(-1) === '*'
  const fixed = isOpen ? template.slice(0, -1) : template
  if (isOpen ? segments.length < template.length : segments.length !== template.length) return false
  return fixed.every((segment, index) => segment.startsWith(':') || segment === segments[index])
}
