/** Headers of responses for browsers and pages. Pages of any site may call the API, since it identifies callers by key. */

/** Headers of every response: a browser must not guess its content type. */
export const NO_SNIFFING = { 'x-content-type-options': 'nosniff' } as const

/** CORS headers of responses that don't depend on cookies. They never allow credentials. */
export const OPEN_TO_PAGES = { 'access-control-allow-origin': '*' } as const

const PREFLIGHT_SECONDS = 7_200

/** Path prefixes of inference and model lists, in every spelling. */
export const OPEN_PREFIXES: readonly string[] = [
  '/v1/',
  '/v2/',
  '/v1beta/',
  '/v1alpha/',
  '/v1beta1/',
  '/models/',
  '/chat/',
  '/messages/',
  '/responses/',
]

/** The operator's API is closed to pages: everybody who opens the page could read an operator key in it. */
const CLOSED_PREFIX = '/v1/operator/'

/** Whether pages of other sites may call `path`. */
export function isOpenToPages(path: string): boolean {
  return !`${path}/`.startsWith(CLOSED_PREFIX) && OPEN_PREFIXES.some((prefix) => `${path}/`.startsWith(prefix))
}

/** Lets pages of other sites read a response. Adds the header only if the request has an Origin header. */
export function openToPage(request: Request, response: Response): Response {
  if (request.headers.has('origin')) {
    response.headers.set('access-control-allow-origin', '*')
    response.headers.set('access-control-expose-headers', '*')
  }
  return response
}

/** The response to a CORS preflight, without permission if pages may not call `path`. `authorization` is listed, since `*` does not include it. */
export function preflight(path: string): Response {
  if (!isOpenToPages(path)) return new Response(null, { status: 204 })
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

/** HSTS, if the service's address uses https. */
export function transportSecurity(publicUrl: string | undefined): Record<string, string> {
  return publicUrl?.startsWith('https:') ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}` } : {}
}

const YEAR_SECONDS = 31_536_000
