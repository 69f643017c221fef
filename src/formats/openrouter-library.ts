/** Its name in the user agent. */
const OPENROUTER_LIBRARY = '@openrouter/sdk'

/**
 * Detects OpenRouter's own library. It refuses a list with an entry without prices, an answer without `system_fingerprint`, and a stream
 * chunk with `null` for its usage or its fingerprint.
 */
export function isOpenRouterLibrary(headers: Headers): boolean {
  return headers.get('user-agent')?.includes(OPENROUTER_LIBRARY) === true
}
