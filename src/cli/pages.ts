/** Shared by commands that list or show rows: page options, and the output for keys and orders. */

import type { KeyListing } from '@/accounts/key-listing'
import type { Order } from '@/console/orders/types'
import { MAX_PAGE_SIZE, type Page, type PageRequest } from '@/db/paging'
import { formatUsd } from '@/lib/money'
import { type CommandResult, optional, type Values } from './command'
import { readOptionalCount, readText } from './values'

export const PAGE_OPTIONS = {
  limit: optional('n', `rows of a page, 1 to ${MAX_PAGE_SIZE}; otherwise 50`),
  cursor: optional('C', '`nextCursor` of the page before'),
}

/** The requested page. */
export function readPage(values: Values): PageRequest {
  const limit = readOptionalCount(values, 'limit', MAX_PAGE_SIZE)
  return {
    ...(limit !== null && { limit }),
    ...(values.cursor !== undefined && { cursor: readText(values, 'cursor') }),
  }
}

/** A page as output, with its rows as `name`. */
export function printPage<Item>(
  name: string,
  { items, nextCursor }: Page<Item>,
  toRow: (item: Item) => object,
): CommandResult {
  return { output: { [name]: items.map(toRow), nextCursor } }
}

/** An API key as output, with only the first and last characters of its text. */
export function shownKey(key: KeyListing) {
  const { keyId, name, prefix, lastFour, status, spentThisMonth, createdAt, lastUsedAt } = key
  const shown = `${prefix}…${lastFour}`
  return { keyId, name, shown, status, spentThisMonthUsd: formatUsd(spentThisMonth), createdAt, lastUsedAt }
}

/** An order's contents and state. */
export function shownOrder(order: Order) {
  const { orderId, accountId, reference, method, origin, state, createdAt, expiresAt, claimedAt } = order
  return {
    orderId,
    accountId,
    reference,
    method,
    origin,
    state,
    amountUsd: usdOfCents(order.amountCents),
    paidUsd: usdOfCents(order.paidCents),
    createdAt,
    expiresAt,
    claimedAt,
  }
}

/** Cents as dollars with two decimals. */
export function usdOfCents(cents: number): string {
  return (cents / 100).toFixed(2)
}
