/** Runs Lua scripts outside the ledger by their digest, and sends the text only if Redis doesn't know it. */
import { createHash } from 'node:crypto'
import type { RedisClient } from './store/connection'

/** The digests of all sent scripts: few, and all part of the program. */
const digests = new Map<string, string>()

/** Runs `text` on `names`. Rejects with the error of Redis. */
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
