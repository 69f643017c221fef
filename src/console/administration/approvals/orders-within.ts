/** Changes orders as steps of a larger transaction; the ledger gets their credits after its commit. */
import { eq } from 'drizzle-orm'
import { applyCredit } from '@/accounts/outbox'
import { createOrders, type Orders, type OrdersDeps } from '@/console/orders/orders'
import type { Database, Transaction } from '@/db/client'
import { describeFailure } from '@/db/failure'
import { findRow } from '@/db/find-row'
import { orders } from '@/db/orders-schema'
import type { Credit } from '@/ledger/outcomes'
import type { Operation } from './operation'

/** Orders inside a transaction, and the credits to send to the ledger after its commit. */
type OrdersWithin = { orders: Orders; credits: Credit[] }

/**
 * Orders whose transactions are savepoints of `transaction`. Credits are only collected: after a rollback the ledger must not have them.
 */
export function ordersWithin(deps: OrdersDeps, transaction: Transaction): OrdersWithin {
  const credits: Credit[] = []
  const database: Database = { ...deps.database, db: transaction as unknown as Database['db'] }
  return { orders: createOrders({ ...deps, database, afterCommit: (credit) => credits.push(credit) }), credits }
}

/** Loads the account into the ledger before the transaction begins: a load in the transaction would need a second connection. */
export async function warmLedger({ database, ledger }: OrdersDeps, operation: Operation): Promise<void> {
  if ('amountNano' in operation) await ledger.readBalance(operation.accountId)
  if (operation.kind !== 'order.refund') return
  const order = await findRow(database.db, orders, eq(orders.id, operation.orderId))
  if (order) await ledger.readBalance(order.accountId)
}

/** Sends `credits` to the ledger now. If that fails, the outbox sends them, since its rows were committed with the entries. */
export async function tellLedger({ database, ledger, logger }: OrdersDeps, credits: readonly Credit[]): Promise<void> {
  for (const credit of credits) {
    try {
      await applyCredit(database, ledger, credit)
    } catch (error) {
      logger.warn('credit_waits', { accountId: credit.accountId, reason: describeFailure(error) })
    }
  }
}
