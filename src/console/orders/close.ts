/** Orders that expire, and the customer's "I've paid". */
import { and, asc, eq, lte } from 'drizzle-orm'
import type { Transaction } from '@/db/client'
import { orderEvents, orders } from '@/db/orders-schema'
import type { OrdersDeps } from './deps'
import { MAX_CLAIM_NOTE_CHARS, MAX_CLAIMS } from './limits'
import { nextState } from './order-state'
import { auditPerson, changeOrder, lockOrder, type OrderRow, storableText, toOrder } from './rows'
import type { Actor, ClaimOutcome } from './types'

/** The actor that an order's events name if the order expires. */
const CLOCKWORK: Actor = { kind: 'system', name: 'expiry' }

type ClaimRequest = { orderId: string; accountId?: string; note: string; actor: Actor }

/** Stores that the customer has reported the order as paid. */
export async function claimPaid(deps: OrdersDeps, request: ClaimRequest): Promise<ClaimOutcome> {
  const { orderId, accountId, actor } = request
  return await deps.database.db.transaction(async (transaction) => {
    const found = await lockOwn(deps, transaction, orderId, accountId)
    if (!found) return { kind: 'not_found' }
    if (found.state !== 'pending') return { kind: 'not_pending', order: toOrder(found) }
    const mine = and(eq(orderEvents.orderId, orderId), eq(orderEvents.kind, 'claimed'))
    if ((await transaction.$count(orderEvents, mine)) >= MAX_CLAIMS)
      return { kind: 'too_many_claims', limit: MAX_CLAIMS }
    const now = new Date(deps.clock.now())
    const note = storableText(request.note, MAX_CLAIM_NOTE_CHARS)
    const row = await changeOrder(transaction, orderId, {
      set: { claimedAt: now, claimNote: note },
      event: { kind: 'claimed', ...(note !== '' && { note }) },
      actor,
      now,
    })
    await auditPerson(transaction, {
      actor,
      action: 'order.claim',
      subject: orderId,
      accountId: row.accountId,
      details: { reference: row.reference, note },
    })
    return { kind: 'claimed', order: toOrder(row) }
  })
}

/** Expires up to `limit` overdue orders, each in its own transaction; orders that another process has locked are skipped. */
export async function expireDue(deps: OrdersDeps, limit: number): Promise<number> {
  const { db } = deps.database
  const isDue = and(eq(orders.state, 'pending'), lte(orders.expiresAt, new Date(deps.clock.now())))
  const due = await db.select({ id: orders.id }).from(orders).where(isDue).orderBy(asc(orders.expiresAt)).limit(limit)
  let expired = 0
  for (const { id } of due) {
    const isExpired = await db.transaction(async (transaction) => {
      const [row] = await transaction
        .select()
        .from(orders)
        .where(and(eq(orders.id, id), isDue))
        .for('no key update', { skipLocked: true })
      return row !== undefined && (await expireIfDue(deps, transaction, row)).state === 'expired'
    })
    if (isExpired) expired += 1
  }
  return expired
}

/** Expires a locked order if it is overdue, without waiting for the background worker. Returns its present state. */
export async function expireIfDue(deps: OrdersDeps, transaction: Transaction, row: OrderRow): Promise<OrderRow> {
  const now = new Date(deps.clock.now())
  const state = nextState(row.state, 'expire')
  if (state === undefined || row.expiresAt > now) return row
  return changeOrder(transaction, row.id, { set: { state }, event: { kind: 'expired' }, actor: CLOCKWORK, now })
}

/** Locks an order (of the given account, if any), and expires it if it is overdue. */
export async function lockOwn(
  deps: OrdersDeps,
  transaction: Transaction,
  orderId: string,
  accountId: string | undefined,
): Promise<OrderRow | undefined> {
  const row = await lockOrder(transaction, orderId)
  if (!row || (accountId !== undefined && row.accountId !== accountId)) return undefined
  return expireIfDue(deps, transaction, row)
}
