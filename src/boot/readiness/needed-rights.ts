/** Redis rights that the gateway's user needs besides those of the ledger: key patterns with their commands. */
import { type Right, rightsOn } from '@/ledger/store-rights'

/** One call of each Redis command in the scripts of idempotency keys; `@` is the key. */
const CLAIM_LINES = [
  ...['HMGET @ f', 'HSET @ f 1', 'HDEL @ f', 'DEL @', 'PTTL @', 'PEXPIRE @ 1', 'DECRBY @ 1', 'TIME'],
  ...['ZADD @ 1 m', 'ZREM @ m', 'ZCARD @', 'ZRANGE @ 0 0', 'ZRANGEBYSCORE @ 0 0', 'ZREMRANGEBYSCORE @ 0 0'],
]
const HEALTH_LINES = ['HGET @ f', 'HGETALL @', 'HSET @ f 1', 'HDEL @ f', 'TIME']
const SIGN_IN_LINES = ['INCR @', 'DECR @', 'EXPIRE @ 1', 'TTL @', 'EXISTS @', 'DEL @']

/** Rights that requests need. Those with `isOptional` are for routing, ledger checks and sign-ins. */
export function neededRights({ hasIdempotencyKeys }: { hasIdempotencyKeys: boolean }): Right[] {
  return [
    ...(hasIdempotencyKeys ? rightsOn('idempotency:', CLAIM_LINES) : []),
    ...rightsOn('sig:', ['DEL @', 'INCRBY @ 1', 'EXPIRE @ 1 NX']),
    ...rightsOn('resp:', ['DEL @']),
    ...rightsOn('routing:', HEALTH_LINES, true),
    ...rightsOn('ledger-check:', ['DEL @'], true),
    ...rightsOn('sign-in:', SIGN_IN_LINES, true),
  ]
}
