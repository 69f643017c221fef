/** Whose money an operation moves, and how much of it: what the two-person rule looks at. */
import { eq } from 'drizzle-orm'
import type { Transaction } from '@/db/client'
import { orders } from '@/db/orders-schema'
import { accounts } from '@/db/schema'
import { type Nano, nano } from '@/lib/money'
import { centsToNano, type Operation } from './operation'

export type MovedMoney = {
  accountId: string
  /** A magnitude: positive. */
  amount: Nano
}

/** Undefined where the account or order does not exist. */
export async function movedMoneyOf(transaction: Transaction, operation: Operation): Promise<MovedMoney | undefined> {
  switch (operation.kind) {
    case 'credit.adjust': {
      const [account] = await transaction
        .select({ accountId: accounts.id })
        .from(accounts)
        .where(eq(accounts.id, operation.accountId))
      return account && { ...account, amount: nano(Math.abs(operation.amountNano)) }
    }
    case 'payment.credit':
      return await ofOrder(transaction, operation.orderId, operation.creditCents)
    default:
      return await ofOrder(transaction, operation.orderId, operation.amountCents)
  }
}

async function ofOrder(
  transaction: Transaction,
  orderId: string,
  amountCents: number,
): Promise<MovedMoney | undefined> {
  const [order] = await transaction.select({ accountId: orders.accountId }).from(orders).where(eq(orders.id, orderId))
  return order && { ...order, amount: centsToNano(amountCents) }
}
