/** Reads whether a request accepts a cached answer: the header `x-svc-cache`, or `svc.cache` in its body. */
import { invalidRequest } from '@/chat/error'
import { MAX_CACHE_SECONDS, type RoutePreferences } from '@/chat/preferences'

export const CACHE_HEADER = 'x-svc-cache'

const SECONDS = /^[1-9]\d{0,4}$/

export const CACHE_PARAMETER = {
  name: CACHE_HEADER,
  in: 'header',
  description:
    'The answer may be that of an equal request at most this many seconds ago, and is stored for as long. Overrides `svc.cache` of the ' +
    'body. The answer says in the same header whether it was a `hit` (free), a `miss`, or a `bypass`.',
  schema: { type: 'integer', minimum: 1, maximum: MAX_CACHE_SECONDS },
} as const

/**
 * The maximum age in seconds of a cached answer; undefined if the request accepts none. The header overrides the body. Throws
 * `invalid_request` for invalid values, and if the request demands zero retention, since the cache would break that rule.
 */
export function readCacheSeconds(headers: Headers, preferences: RoutePreferences | undefined): number | undefined {
  const said = headers.get(CACHE_HEADER)
  const seconds = said === null ? preferences?.cacheSeconds : readSeconds(said)
  if (seconds === undefined) return undefined
  const rule = preferences?.data?.find(({ kind }) => kind === 'zero-retention')
  if (!rule) return seconds
  const param = said === null ? 'svc.cache' : CACHE_HEADER
  throw invalidRequest(`${param} stores the answer, which ${rule.from} forbids; send one of them`, param)
}

function readSeconds(text: string): number {
  const seconds = SECONDS.test(text) ? Number(text) : 0
  if (seconds >= 1 && seconds <= MAX_CACHE_SECONDS) return seconds
  const message = `${CACHE_HEADER} must be an integer from 1 to ${MAX_CACHE_SECONDS}, the greatest age of an answer in seconds`
  throw invalidRequest(message, CACHE_HEADER)
}
