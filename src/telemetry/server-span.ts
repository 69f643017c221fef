/** The attributes of a span for one HTTP request, by the HTTP conventions, without texts of the caller. */
import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api'
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  ATTR_URL_PATH,
  ATTR_URL_SCHEME,
} from '@opentelemetry/semantic-conventions'

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const OTHER_METHOD = '_OTHER'

/** The span's name and its initial attributes. */
export function describeRequest(request: Request, route: string | undefined): { name: string; attributes: Attributes } {
  const isKnown = METHODS.has(request.method)
  const shown = isKnown ? request.method : 'HTTP'
  return {
    name: route === undefined ? shown : `${shown} ${route}`,
    attributes: {
      [ATTR_HTTP_REQUEST_METHOD]: isKnown ? request.method : OTHER_METHOD,
      [ATTR_URL_SCHEME]: request.url.startsWith('https:') ? 'https' : 'http',
      [ATTR_HTTP_ROUTE]: route,
      // The attribute gets the route, because a path may contain any text from the caller, even a key.
      [ATTR_URL_PATH]: route,
    },
  }
}

/** Only our own failures are errors of the server span. */
export function tellStatus(span: Span, status: number): void {
  span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, status)
  if (status < 500) return
  span.setAttribute(ATTR_ERROR_TYPE, String(status))
  span.setStatus({ code: SpanStatusCode.ERROR })
}
