/** Maps a path to its route's name, for metrics and logs, so that these never contain text from clients. */

export const UNKNOWN_ROUTE = 'unknown'

/** Names paths after `routes`, in which `:name` is one segment and `*` the rest; the most specific route first. */
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
