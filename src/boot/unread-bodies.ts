/**
 * Limits the bytes of unread request bodies. The server must still receive them, which blocks its event loop for about a millisecond per 4
 * MiB. Each network may send a limited number of such bytes per minute. If it sends more, the answer closes the connection.
 */
import type { Config } from '@/config/config'
import { clientAddress } from '@/http/client-address'
import { isLarge } from '@/http/unpaid'
import { type Clock, systemClock } from '@/lib/clock'
import { createAllowance } from '@/lib/quota/allowance'
import { networkOf } from '@/lib/quota/network'
import { SHARED } from '@/limits/shared-resources'

export type UnreadBodies = { isTooMuch(request: Request, response: Response): boolean }

const TOO_LARGE = 413

/** Counts the unread bytes of each network, in one process. */
export function createUnreadBodies(
  { maxBodyBytes, signIn: { trustedProxyHops } }: Pick<Config, 'maxBodyBytes' | 'signIn'>,
  { monotonic }: Pick<Clock, 'monotonic'> = systemClock,
): UnreadBodies {
  const unread = createAllowance(() => SHARED.unreadBytes.perAccount, monotonic)
  return {
    isTooMuch(request, { status }) {
      // A body that was refused as too large counts, although a part of it was read.
      if (request.bodyUsed && status !== TOO_LARGE) return false
      const network = networkOf(clientAddress(request, trustedProxyHops))
      const isOver = unread.waitMs(network) > 0
      // The bytes of a connection that closes are not received, so they are not counted.
      if (!isOver) unread.charge(network, Number(request.headers.get('content-length') ?? maxBodyBytes))
      return isOver
    },
  }
}

/** Whether a request has a body large enough to count. */
export function hasLargeBody(request: Request): boolean {
  return isLarge(request) && (request.headers.has('content-length') || request.headers.has('transfer-encoding'))
}
