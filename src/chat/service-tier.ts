/** Service tiers by one name each, whichever format's word a request or an answer says. */

/** The tier at the usual price; formats and services call it differently. */
export const STANDARD_TIER = 'standard'
const STANDARD_WORDS: ReadonlySet<string> = new Set([
  ...['default', STANDARD_TIER, 'standard_only', 'unspecified'],
  ...['on_demand', 'traffic_type_unspecified'],
])
/** The provider chooses. */
const AUTO = 'auto'
const MAX_NAME_CHARS = 64

/** The name of a tier in lower case. `undefined` if the provider chooses, or the value is no word. */
export function serviceTierOf(word: unknown): string | undefined {
  if (typeof word !== 'string' || word === '') return undefined
  const name = word.slice(0, MAX_NAME_CHARS).toLowerCase()
  if (name === AUTO) return undefined
  return STANDARD_WORDS.has(name) ? STANDARD_TIER : name
}

/** The tier that a request asks for beside the standard one. `undefined` for most requests. */
export function extraTier(word: string | undefined): string | undefined {
  if (word === undefined) return undefined
  const tier = serviceTierOf(word)
  return tier === STANDARD_TIER ? undefined : tier
}
