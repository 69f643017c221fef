/**
 * Bodies of requests that are answered unread. The server takes them off their connections all the same, which costs its event loop about
 * a millisecond for each 4 MiB. An address has so many such bytes a minute. Beyond that the answer is the last on its connection.
 */
import type { Config } from '@/config/config'
import { clientAddress } from '@/http/client-address'
import { isLarge } from '@/http/unpaid'
import { type Clock, systemClock } from '@/lib/clock'
import { createAllowance } from '@/lib/quota/allowance'
import { networkOf } from '@/lib/quota/network'
import { SHARED } from '@/limits/shared-resources'

/** Whether the connection of a request is to be closed after its answer. */
export type UnreadBodies = { isTooMuch(request: Request, response: Response): boolean }

const TOO_LARGE = 413

/** Creates the count of one process. */
export function createUnreadBodies(
  { maxBodyBytes, signIn: { trustedProxyHops } }: Pick<Config, 'maxBodyBytes' | 'signIn'>,
  { monotonic }: Pick<Clock, 'monotonic'> = systemClock,
): UnreadBodies {
  const unread = createAllowance(() => SHARED.unreadBytes.perAccount, monotonic)
  return {
    isTooMuch(request, { status }) {
      // A body that is too large was read in part.
      if (request.bodyUsed && status !== TOO_LARGE) return false
      const network = networkOf(clientAddress(request, trustedProxyHops))
      const isOver = unread.waitMs(network) > 0
      // Bytes that are not taken off a connection count for nothing.
      if (!isOver) unread.charge(network, Number(request.headers.get('content-length') ?? maxBodyBytes))
      return isOver
    },
  }
}

/** Whether a request has a body large enough to count. */
export function hasLargeBody(request: Request): boolean {
  return isLarge(request) && (request.headers.has('content-length') || request.headers.has('transfer-encoding'))
}
