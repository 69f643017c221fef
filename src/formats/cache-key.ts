/**
 * Under which name a provider keeps what it has cached of a caller's prompts. Callers choose such names as they like, and all of them
 * share the provider's account: without their own account in it, one would be told by the time of an answer what another has asked.
 */
import { sha256Hex } from '@/lib/ids'

/** No provider takes more than 64 characters. */
const KEY_CHARS = 40

/** The provider's name for what `accountId` calls `given`: the same each time, and nobody else's. */
export function cacheKeyFor(accountId: string, given: string): string {
  return sha256Hex(`${accountId}\n${given}`).slice(0, KEY_CHARS)
}
