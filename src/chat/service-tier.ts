/** Common names for the service tiers that formats call differently. */

export const STANDARD_TIER = 'standard'
const STANDARD_WORDS: ReadonlySet<string> = new Set([
  ...['default', STANDARD_TIER, 'standard_only', 'unspecified'],
  ...['on_demand', 'traffic_type_unspecified'],
])
const AUTO = 'auto'
const MAX_NAME_CHARS = 64

/** A tier's name in lower case. `undefined` if the provider chooses or the value is no text. */
export function serviceTierOf(word: unknown): string | undefined {
  if (typeof word !== 'string' || word === '') return undefined
  const name = word.slice(0, MAX_NAME_CHARS).toLowerCase()
  if (name === AUTO) return undefined
  return STANDARD_WORDS.has(name) ? STANDARD_TIER : name
}

/** The requested tier, if it is not the standard one. `undefined` for most requests. */
export function extraTier(word: string | undefined): string | undefined {
  if (word === undefined) return undefined
  const tier = serviceTierOf(word)
  return tier === STANDARD_TIER ? undefined : tier
}
