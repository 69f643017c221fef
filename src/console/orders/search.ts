/** Lists orders and payments: one account's, or all for administrators. */
import { and, asc, type Column, desc, eq, ilike, inArray, isNotNull, isNull, like, lt, or, type SQL } from 'drizzle-orm'
import { orderEvents, orders, payments, reversals } from '@/db/orders-schema'
import { countUpTo, type Page, type PageRequest, page, textLike } from '@/db/paging'
import { accounts } from '@/db/schema'
import type { OrdersDeps } from './deps'
import { REFERENCE_PREFIX } from './reference'
import { toReversal } from './reversals/apply-reversal'
import { toEvent, toOrder, toPayment } from './rows'
import type { FoundOrder, Order, OrderDetails, OrderSearch, Payment, PaymentSearch, Reversal } from './types'

const BY_CREATION = { moment: orders.createdAt, id: orders.id }
const BY_ARRIVAL = { moment: payments.receivedAt, id: payments.id }
const BY_REVERSAL = { moment: reversals.receivedAt, id: reversals.id }

/** Orders that match all criteria, newest first. */
export async function searchOrders(
  { database }: Pick<OrdersDeps, 'database'>,
  search: OrderSearch,
): Promise<Page<FoundOrder>> {
  return await page(search, {
    checks: PLACE,
    read: (after, limit) =>
      database.db
        .select({ order: orders, name: accounts.name, email: accounts.email })
        .from(orders)
        .innerJoin(accounts, eq(accounts.id, orders.accountId))
        .where(and(...conditionsOf(search), comesAfter(after, BY_CREATION)))
        .orderBy(...newestFirst(BY_CREATION))
        .limit(limit),
    placeOf: ({ order }) => [order.createdAt.getTime(), order.id],
    toItem: ({ order, name, email }) => ({ ...toOrder(order), account: { name, email } }),
  })
}

/** Payments, newest first; unmatched ones if no state is given. */
export async function searchPayments({ database }: OrdersDeps, search: PaymentSearch = {}): Promise<Page<Payment>> {
  const ofOrder = search.orderId === undefined ? undefined : eq(payments.orderId, search.orderId)
  return await page(search, {
    checks: PLACE,
    read: (after, limit) =>
      database.db
        .select()
        .from(payments)
        .where(and(eq(payments.state, search.state ?? 'unmatched'), ofOrder, comesAfter(after, BY_ARRIVAL)))
        .orderBy(...newestFirst(BY_ARRIVAL))
        .limit(limit),
    placeOf: placeByArrival,
    toItem: toPayment,
  })
}

/** Reversals that moved no credit and need an administrator, or whose payment is unknown. Newest first. */
export async function searchOpenReversals(
  { database }: OrdersDeps,
  request: PageRequest = {},
): Promise<Page<Reversal>> {
  return await page(request, {
    checks: PLACE,
    read: (after, limit) =>
      database.db
        .select()
        .from(reversals)
        .where(and(inArray(reversals.state, ['waiting', 'kept']), comesAfter(after, BY_REVERSAL)))
        .orderBy(...newestFirst(BY_REVERSAL))
        .limit(limit),
    placeOf: placeByArrival,
    toItem: toReversal,
  })
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

/** Puts the beginning of a reference, typed with or without the prefix, into the usual form. */
function referenceStart(text: string): string {
  const plain = text.toUpperCase().replace(/[^A-Z0-9]/g, '')
  const code = plain.startsWith(REFERENCE_PREFIX) ? plain.slice(REFERENCE_PREFIX.length) : plain
  const rest = code.length > 4 ? `${code.slice(0, 4)}-${code.slice(4)}` : code
  return `${REFERENCE_PREFIX}-${rest}`
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

type PageOrder = { moment: Column; id: Column }

/** The largest accepted time: far beyond the year 9999, and still a valid date. */
const LATEST_MS = 999_999_999_999_999
/** Schema of a cursor: a time in milliseconds, and an id. */
const PLACE = [countUpTo(LATEST_MS), textLike(/^\w{1,64}$/)] satisfies [unknown, unknown]

function placeByArrival({ receivedAt, id }: { receivedAt: Date; id: string }): [number, string] {
  return [receivedAt.getTime(), id]
}

/** The condition that a page's rows come after `place`. */
function comesAfter(place: [atMs: number, id: string] | undefined, { moment, id }: PageOrder): SQL | undefined {
  if (!place) return undefined
  const at = new Date(place[0])
  return or(lt(moment, at), and(eq(moment, at), lt(id, place[1])))
}

function newestFirst({ moment, id }: PageOrder): SQL[] {
  return [desc(moment), desc(id)]
}

/** One order with its events and payments, in one snapshot; undefined if it belongs to another account. */
export async function getOrder(
  { database }: Pick<OrdersDeps, 'database'>,
  orderId: string,
  accountId?: string,
): Promise<OrderDetails | undefined> {
  const isMine = and(eq(orders.id, orderId), accountId === undefined ? undefined : eq(orders.accountId, accountId))
  return await database.db.transaction(
    async (transaction) => {
      const [found] = await transaction
        .select({ order: orders, name: accounts.name, email: accounts.email, company: accounts.company })
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
        account: { name: found.name, email: found.email, company: found.company },
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
  request: PageRequest = {},
): Promise<Page<Order>> {
  return await page(request, {
    checks: PLACE,
    read: (after, limit) =>
      database.db
        .select()
        .from(orders)
        .where(and(eq(orders.accountId, accountId), comesAfter(after, BY_CREATION)))
        .orderBy(...newestFirst(BY_CREATION))
        .limit(limit),
    placeOf: (row) => [row.createdAt.getTime(), row.id],
    toItem: toOrder,
  })
}
