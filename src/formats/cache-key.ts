/**
 * Under which name a provider keeps what it has cached of a caller's prompts. Callers choose such names as they like, and all of them
 * share the provider's account: without their own account in it, one would be told by the time of an answer what another has asked.
 */
import { sha256Hex } from '@/lib/ids'

/** No provider takes more than 64 characters. */
const KEY_CHARS = 40

/**
 * A provider with this quirk in the catalogue keeps what it caches by `prompt_cache_key`, and is given one for callers who choose none: else
 * all of them share what is kept by the beginnings of prompts, and `cached_tokens` tells one what another has sent. Not for all, since
 * services that don't know the field may refuse it.
 */
export const CACHE_KEY_QUIRK = 'account-cache-key'

/**
 * The provider's name for what an account calls `given`: the same each time, and nobody else's. Undefined where the caller has named nothing
 * and the provider is to be told nothing.
 */
export function cacheKeyOf(
  { accountId, quirks }: { accountId: string; quirks: ReadonlySet<string> },
  given: string | undefined,
): string | undefined {
  if (given === undefined && !quirks.has(CACHE_KEY_QUIRK)) return undefined
  return sha256Hex(`${accountId}\n${given ?? ''}`).slice(0, KEY_CHARS)
}
