/** Keeps who an end user is out of the books: what a body names becomes a keyed hash, the same for all requests of an account. */
import { once } from '@/lib/once'

/** The hash of a name of 1 to 128 characters; undefined for longer ones, and until the secret is known. */
export type HashEndUser = (accountId: string, name: string) => string | undefined

const MAX_NAME_CHARS = 128
const HASH_CHARS = 32

/** Hashes by a secret that all gateways share: the one that is `given`, or what `read` gives, for which no request waits. */
export function createEndUserHash(given: string | undefined, read: () => Promise<string>): HashEndUser {
  const readOnce = once(read)
  let known = given

  /** Where it can't be had now, the next request asks again. */
  async function learn(): Promise<void> {
    known = await readOnce().catch(() => undefined)
  }

  if (known === undefined) void learn()
  return (accountId, name) => {
    if (name === '' || name.length > MAX_NAME_CHARS) return undefined
    if (known === undefined) {
      void learn()
      return undefined
    }
    const content = `${accountId} ${name}`
    return new Bun.CryptoHasher('sha256', `end user ${known}`).update(content).digest('hex').slice(0, HASH_CHARS)
  }
}
