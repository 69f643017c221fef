/** Seller and customer of a sale, stored at an order's first payment, so that a receipt never changes. */
import { eq } from 'drizzle-orm'
import type { Transaction } from '@/db/client'
import type { Parties } from '@/db/orders-schema'
import { accounts } from '@/db/schema'
import type { OrdersDeps } from './deps'
import type { OrderRow } from './rows'
import type { OrderDetails } from './types'

/** The seller and customer that were stored with the order. If the order was never paid, the present ones. */
export async function partiesOf(
  { seller }: Pick<OrdersDeps, 'seller'>,
  transaction: Transaction,
  { parties, accountId }: OrderRow,
): Promise<Parties> {
  if (parties) return parties
  const { name, email, company } = accounts
  const [account] = await transaction.select({ name, email, company }).from(accounts).where(eq(accounts.id, accountId))
  if (!account) throw new Error('the order has no account')
  return { seller, customer: customerOf(account) }
}

/** An account's data as customer on a receipt. */
export function customerOf({ name, email, company }: OrderDetails['account']): Parties['customer'] {
  return { name, email, country: company?.country ?? null, vatId: company?.vatId ?? null }
}
