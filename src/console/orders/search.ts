/** Searches the orders and payments of all accounts, for administrators. */
import { and, eq, ilike, inArray, isNotNull, isNull, like, type SQL } from 'drizzle-orm'
import { orders, payments, reversals } from '@/db/orders-schema'
import { accounts } from '@/db/schema'
import { cutPage, type Page, type PageRequest, pageSize } from '@/lib/paging'
import { afterCursor, newestFirst } from './cursor'
import type { OrdersDeps } from './deps'
import { REFERENCE_PREFIX } from './reference'
import { toReversal } from './reversals/apply-reversal'
import { toOrder, toPayment } from './rows'
import type { FoundOrder, OrderSearch, Payment, PaymentSearch, Reversal } from './types'

const BY_CREATION = { moment: orders.createdAt, id: orders.id }
const BY_ARRIVAL = { moment: payments.receivedAt, id: payments.id }
const BY_REVERSAL = { moment: reversals.receivedAt, id: reversals.id }

/** Orders for which everything asked holds, newest first. */
export async function searchOrders(
  { database }: Pick<OrdersDeps, 'database'>,
  search: OrderSearch,
): Promise<Page<FoundOrder>> {
  const size = pageSize(search)
  const rows = await database.db
    .select({ order: orders, name: accounts.name, email: accounts.email })
    .from(orders)
    .innerJoin(accounts, eq(accounts.id, orders.accountId))
    .where(and(...conditionsOf(search), afterCursor(search, BY_CREATION)))
    .orderBy(...newestFirst(BY_CREATION))
    .limit(size + 1)
  return cutPage(
    rows,
    size,
    ({ order }) => [order.createdAt.getTime(), order.id],
    ({ order, name, email }) => ({ ...toOrder(order), account: { name, email } }),
  )
}

/** Payments, newest first; unmatched ones where no state is asked for. */
export async function searchPayments({ database }: OrdersDeps, search: PaymentSearch = {}): Promise<Page<Payment>> {
  const size = pageSize(search)
  const ofOrder = search.orderId === undefined ? undefined : eq(payments.orderId, search.orderId)
  const rows = await database.db
    .select()
    .from(payments)
    .where(and(eq(payments.state, search.state ?? 'unmatched'), ofOrder, afterCursor(search, BY_ARRIVAL)))
    .orderBy(...newestFirst(BY_ARRIVAL))
    .limit(size + 1)
  return cutPage(rows, size, (row) => [row.receivedAt.getTime(), row.id], toPayment)
}

/** Reversals that moved no credit: of a payment that nobody knows, or that an administrator has to look at. Newest first. */
export async function searchOpenReversals({ database }: OrdersDeps, page: PageRequest = {}): Promise<Page<Reversal>> {
  const size = pageSize(page)
  const rows = await database.db
    .select()
    .from(reversals)
    .where(and(inArray(reversals.state, ['waiting', 'kept']), afterCursor(page, BY_REVERSAL)))
    .orderBy(...newestFirst(BY_REVERSAL))
    .limit(size + 1)
  return cutPage(rows, size, (row) => [row.receivedAt.getTime(), row.id], toReversal)
}

function conditionsOf(search: OrderSearch): SQL[] {
  const { reference, email, accountId, amountCents, state, method, isClaimed } = search
  const conditions: SQL[] = []
  if (reference !== undefined) conditions.push(like(orders.reference, `${referenceStart(reference)}%`))
  if (email !== undefined) conditions.push(ilike(accounts.email, `%${escapeLike(email)}%`))
  if (accountId !== undefined) conditions.push(eq(orders.accountId, accountId))
  if (amountCents !== undefined) conditions.push(eq(orders.amountCents, amountCents))
  if (state !== undefined) conditions.push(eq(orders.state, state))
  if (method !== undefined) conditions.push(eq(orders.method, method))
  if (isClaimed !== undefined) conditions.push(isClaimed ? isNotNull(orders.claimedAt) : isNull(orders.claimedAt))
  return conditions
}

/** The beginning of a reference in its usual writing, with or without the prefix. */
function referenceStart(text: string): string {
  const plain = text.toUpperCase().replace(/[^A-Z0-9]/g, '')
  const code = plain.startsWith(REFERENCE_PREFIX) ? plain.slice(REFERENCE_PREFIX.length) : plain
  const rest = code.length > 4 ? `${code.slice(0, 4)}-${code.slice(4)}` : code
  return `${REFERENCE_PREFIX}-${rest}`
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
