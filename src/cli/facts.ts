/** How commands show keys and orders: what an operator looks for, under the same names everywhere. */
import type { KeyListing } from '@/accounts/key-listing'
import type { Order } from '@/console/orders/types'
import { formatUsd } from '@/lib/money'

/** A key by the characters that its owner sees of it. */
export function shownKey(key: KeyListing) {
  const { keyId, name, prefix, lastFour, status, spentThisMonth, createdAt, lastUsedAt } = key
  const shown = `${prefix}…${lastFour}`
  return { keyId, name, shown, status, spentThisMonthUsd: formatUsd(spentThisMonth), createdAt, lastUsedAt }
}

/** What an order is about and how far it is. */
export function shownOrder(order: Order) {
  const { orderId, accountId, reference, method, state, createdAt, expiresAt, claimedAt } = order
  return {
    orderId,
    accountId,
    reference,
    method,
    state,
    amountUsd: usdOfCents(order.amountCents),
    paidUsd: usdOfCents(order.paidCents),
    createdAt,
    expiresAt,
    claimedAt,
  }
}

/** Hundredths as people write them. */
export function usdOfCents(cents: number): string {
  return (cents / 100).toFixed(2)
}
