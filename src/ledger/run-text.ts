import { createHash } from 'node:crypto'
import type { RedisClient } from './store/connection'

/** The digest of each script that was run, by its text. It stays small, because all scripts are part of the program. */
const digests = new Map<string, string>()

/** Runs a Lua script outside the ledger by its digest; the text is sent only if Redis doesn't know it. Rejects with the error of Redis. */
export async function runText(
  redis: RedisClient,
  text: string,
  names: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(digestOf(text), names.length, ...names, ...args)
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
  }
  return await redis.eval(text, names.length, ...names, ...args)
}

function digestOf(text: string): string {
  const known = digests.get(text)
  if (known !== undefined) return known
  const digest = createHash('sha1').update(text).digest('hex')
  digests.set(text, digest)
  return digest
}
