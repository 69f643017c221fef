/** The library's name in the user agent. */
const OPENROUTER_LIBRARY = '@openrouter/sdk'

/** Detects OpenRouter's library, which refuses a model without prices, an answer without `system_fingerprint`, and null in chunks. */
export function isOpenRouterLibrary(headers: Headers): boolean {
  return headers.get('user-agent')?.includes(OPENROUTER_LIBRARY) === true
}
