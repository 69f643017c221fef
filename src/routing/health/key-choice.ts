/** Chooses one of several usable keys by weight: the same for a whole conversation, or a random one. */
import type { Provider, ProviderKey } from '@/catalog/types'
import { sha256Hex } from '@/lib/ids'
import { providerKeyId } from './target-id'

/** Number of the hash's hexadecimal digits to use: 12 digits fit into a number without rounding. */
const LOT_DIGITS = 12

/** The key of a conversation, by weight: each key gets a pseudorandom number, so that a changed key affects only its conversations. */
export function keyOf(provider: Provider, keys: readonly ProviderKey[], conversation: string): ProviderKey | undefined {
  let [best, shortest]: [ProviderKey | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
  for (const key of keys) {
    const wait = -Math.log(lotOf(conversation, providerKeyId(provider, key))) / key.weight
    if (wait < shortest) [best, shortest] = [key, wait]
  }
  return best
}

/** The fixed pseudorandom number of `name` in a conversation, between 0 and 1 (exclusive). */
export function lotOf(conversation: string, name: string): number {
  return (Number.parseInt(sha256Hex(`${conversation}\n${name}`).slice(0, LOT_DIGITS), 16) + 0.5) / 16 ** LOT_DIGITS
}

/** A random key, by weight. */
export function draw(keys: readonly ProviderKey[], random: () => number): ProviderKey | undefined {
  let drawn = random() * keys.reduce((sum, key) => sum + key.weight, 0)
  for (const key of keys) {
    drawn -= key.weight
    if (drawn < 0) return key
  }
  return keys[keys.length - 1]
}
