/** Headers of the request that creates a batch and apply to each of its lines: usage labels, preferences, versions of formats. */
import { APP_ADDRESS_HEADER, APP_TITLE_HEADERS, TAGS_HEADER } from '@/http/labels/read-labels'
import { LOSSY_HEADER, QUALITY_HEADER } from '@/http/preference-headers'

const KEPT = [
  TAGS_HEADER,
  APP_ADDRESS_HEADER,
  ...APP_TITLE_HEADERS,
  QUALITY_HEADER,
  LOSSY_HEADER,
  'anthropic-version',
  'anthropic-beta',
]
/** Maximum characters of a header's value. No label or version is longer. */
const MAX_CHARS = 4_096

/** The headers to store with the batch, by name. */
export function keptHeaders(headers: Headers): Record<string, string> {
  const kept = KEPT.flatMap((name) => {
    const value = headers.get(name)
    return value === null || value.length > MAX_CHARS ? [] : [[name, value] as const]
  })
  return Object.fromEntries(kept)
}
