/**
 * Headers that browsers need on every answer. Pages of any site may call the API: it knows a caller by the key in the request, and by nothing that a
 * browser adds. No answer is mistaken for another type.
 */

/** On every answer. */
export const NO_SNIFFING = { 'x-content-type-options': 'nosniff' } as const

/** For everything that answers alike to all callers with a key, or that needs none. Never with credentials. */
export const OPEN_TO_PAGES = { 'access-control-allow-origin': '*' } as const

const PREFLIGHT_SECONDS = 7_200

/** Where the paths of inference and of the models begin, in every spelling. */
export const OPEN_PREFIXES: readonly string[] = [
  '/v1/',
  '/v1beta/',
  '/v1alpha/',
  '/v1beta1/',
  '/models/',
  '/chat/',
  '/messages/',
  '/responses/',
]

/** Whether pages of other sites may call `path`. */
export function isOpenToPages(path: string): boolean {
  return OPEN_PREFIXES.some((prefix) => `${path}/`.startsWith(prefix))
}

/** Opens an answer to a page of another site. Only browsers say where a request comes from: no other caller pays for this. */
export function openToPage(request: Request, response: Response): Response {
  if (request.headers.has('origin')) {
    response.headers.set('access-control-allow-origin', '*')
    response.headers.set('access-control-expose-headers', '*')
  }
  return response
}

/** The answer to a browser that asks whether it may. `*` does not stand for `authorization`, so that is named. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...OPEN_TO_PAGES,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization, *',
      'access-control-max-age': String(PREFLIGHT_SECONDS),
    },
  })
}

/** Where people open the service by https, browsers are to know no other way to it. */
export function transportSecurity(publicUrl: string | undefined): Record<string, string> {
  return publicUrl?.startsWith('https:') ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}` } : {}
}

const YEAR_SECONDS = 31_536_000
