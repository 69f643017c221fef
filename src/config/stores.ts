/** Redis addresses (one server, Sentinels or a cluster) and the prefix of our Redis keys. */
import { Type } from '@sinclair/typebox'
import type { Fault } from '@/lib/fault'
import { isSentinelUrl, parseSentinelUrl } from '@/lib/sentinel-url'
import { optional, secret } from './variables'

const ONE = 'rediss?://[^\\s,]+'
const SENTINELS = 'rediss?\\+sentinel://\\S+'

export const REDIS_VARIABLES = {
  REDIS_URL: optional(
    secret(
      `^(${ONE}(,${ONE})*|${SENTINELS})$`,
      'redis:// or rediss:// addresses, separated by commas without spaces, or one redis+sentinel:// address',
    ),
  ),
  // No braces, which a cluster would read as a hash tag, and no wildcard characters.
  REDIS_KEY_PREFIX: optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$',
      description: 'up to 64 letters, digits and _ . : -, such as svc:',
    }),
  ),
}

/** Reports faults that involve more than one Redis variable. */
export function redisFaults({ REDIS_URL: url, REDIS_KEY_PREFIX: prefix }: Record<string, unknown>): Fault[] {
  const faults: Fault[] = []
  if (typeof url === 'string' && isSentinelUrl(url) && !parseSentinelUrl(url)) {
    const expected = 'redis+sentinel://user:password@host:26379,host:26379/name, with ?sentinel_password=… if need be'
    faults.push({ place: 'REDIS_URL', message: `expected ${expected}; its value (not shown) is something else` })
  }
  if (prefix !== undefined && url === undefined) {
    faults.push({ place: 'REDIS_KEY_PREFIX', message: 'is for a Redis that others use as well: set REDIS_URL, too' })
  }
  return faults
}
