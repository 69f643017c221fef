/** Orders as their customer reads them. */
import { and, asc, desc, eq } from 'drizzle-orm'
import { orderEvents, orders, payments, reversals } from '@/db/orders-schema'
import { accounts } from '@/db/schema'
import { cutPage, type Page, type PageRequest, pageSize } from '@/lib/paging'
import { afterCursor, newestFirst } from './cursor'
import type { OrdersDeps } from './deps'
import { toReversal } from './reversals/apply-reversal'
import { toEvent, toOrder, toPayment } from './rows'
import type { Order, OrderDetails } from './types'

const BY_CREATION = { moment: orders.createdAt, id: orders.id }

/** One order with its events and payments, all of one moment; undefined where it belongs to another account. */
export async function getOrder(
  { database }: Pick<OrdersDeps, 'database'>,
  orderId: string,
  accountId: string | undefined,
): Promise<OrderDetails | undefined> {
  const isMine = and(eq(orders.id, orderId), accountId === undefined ? undefined : eq(orders.accountId, accountId))
  return await database.db.transaction(
    async (transaction) => {
      const [found] = await transaction
        .select({ order: orders, name: accounts.name, email: accounts.email })
        .from(orders)
        .innerJoin(accounts, eq(accounts.id, orders.accountId))
        .where(isMine)
      if (!found) return undefined
      const events = await transaction
        .select()
        .from(orderEvents)
        .where(eq(orderEvents.orderId, orderId))
        .orderBy(asc(orderEvents.position))
      const paid = await transaction
        .select()
        .from(payments)
        .where(eq(payments.orderId, orderId))
        .orderBy(desc(payments.receivedAt), desc(payments.id))
      const reversed = await transaction
        .select()
        .from(reversals)
        .where(eq(reversals.orderId, orderId))
        .orderBy(asc(reversals.receivedAt), asc(reversals.id))
      return {
        ...toOrder(found.order),
        account: { name: found.name, email: found.email },
        events: events.map(toEvent),
        payments: paid.map(toPayment),
        reversals: reversed.map(toReversal),
      }
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  )
}

/** The orders of an account, newest first. */
export async function listOrders(
  { database }: Pick<OrdersDeps, 'database'>,
  accountId: string,
  page: PageRequest = {},
): Promise<Page<Order>> {
  const size = pageSize(page)
  const rows = await database.db
    .select()
    .from(orders)
    .where(and(eq(orders.accountId, accountId), afterCursor(page, BY_CREATION)))
    .orderBy(...newestFirst(BY_CREATION))
    .limit(size + 1)
  return cutPage(rows, size, (row) => [row.createdAt.getTime(), row.id], toOrder)
}
