import { once } from '@/lib/once'

/** The hash of an id of 1 to 128 characters; undefined for longer ids, and until the secret is known. */
export type HashEndUser = (accountId: string, name: string) => string | undefined

const MAX_NAME_CHARS = 128
const HASH_CHARS = 32

/** Hashes an end user's id with a secret that all gateways share. The hash is the same within an account. No request waits for `read`. */
export function createEndUserHash(given: string | undefined, read: () => Promise<string>): HashEndUser {
  const readOnce = once(read)
  let known = given

  /** If reading the secret fails, the next request tries again. */
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
