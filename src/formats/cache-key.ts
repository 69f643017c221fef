/** The name under which a provider caches a caller's prompts: made of name and account, since all share the provider's account. */
import { sha256Hex } from '@/lib/ids'

/** No provider takes more than 64 characters. */
const KEY_CHARS = 40

/**
 * A provider with this quirk in the catalogue keeps what it caches by `prompt_cache_key`, and is given one for callers who choose none: else
 * all of them share what is kept by the beginnings of prompts, and `cached_tokens` tells one what another has sent. Not for all, since
 * services that don't know the field may refuse it.
 */
export const CACHE_KEY_QUIRK = 'account-cache-key'

/** The provider's name for what an account calls `given`, stable and nobody else's; undefined where none is to be sent. */
export function cacheKeyOf(
  { accountId, quirks }: { accountId: string; quirks: ReadonlySet<string> },
  given: string | undefined,
): string | undefined {
  if (given === undefined && !quirks.has(CACHE_KEY_QUIRK)) return undefined
  return sha256Hex(`${accountId}\n${given ?? ''}`).slice(0, KEY_CHARS)
}
