/** Orders that a customer or an administrator cancels. */
import { and, eq } from 'drizzle-orm'
import { isBeingCharged } from '@/console/orders/auto-top-up/failed-charge'
import { describeFailure } from '@/db/failure'
import { orders } from '@/db/orders-schema'
import { lockOwn } from './close'
import { settleOrder } from './deposits/settle'
import type { OrdersDeps } from './deps'
import { MAX_REASON_CHARS } from './limits'
import { nextState } from './order-state'
import { auditPerson, changeOrder, storableText, toOrder } from './rows'
import type { Actor, CancelOutcome } from './types'

type CancelRequest = { orderId: string; accountId?: string; actor: Actor; note?: string }

/** Cancels a pending order, first at the provider. If the order is overdue, it expires and is not cancelled. */
export async function cancelOrder(deps: OrdersDeps, request: CancelRequest): Promise<CancelOutcome> {
  const { orderId, accountId, actor, note } = request
  const closed = await closePayment(deps, orderId, accountId)
  if (typeof closed === 'object') return closed
  return await deps.database.db.transaction(async (transaction) => {
    const found = await lockOwn(deps, transaction, orderId, accountId)
    if (!found) return { kind: 'not_found' }
    const now = new Date(deps.clock.now())
    // The provider's webhook about the closed page expires the order. If that webhook came first, the order counts as pending.
    const isClosedHere = closed && found.state === 'expired' && found.expiresAt > now
    const state = nextState(isClosedHere ? 'pending' : found.state, 'cancel')
    if (state === undefined) return { kind: 'not_pending', order: toOrder(found) }
    const text = note === undefined ? undefined : storableText(note, MAX_REASON_CHARS)
    const event = { kind: 'cancelled', ...(text !== undefined && { note: text }) } as const
    const row = await changeOrder(transaction, orderId, { set: { state }, event, actor, now })
    await auditPerson(transaction, {
      actor,
      action: 'order.cancel',
      subject: orderId,
      accountId: row.accountId,
      details: { reference: row.reference, note: text ?? null },
    })
    return { kind: 'cancelled', order: toOrder(row) }
  })
}

/** Closes the provider's page, so that nobody pays a cancelled order there. Returns whether a page was open, or a refusal. */
async function closePayment(
  deps: OrdersDeps,
  orderId: string,
  accountId: string | undefined,
): Promise<CancelOutcome | boolean> {
  const isMine = and(eq(orders.id, orderId), accountId === undefined ? undefined : eq(orders.accountId, accountId))
  const [order] = await deps.database.db.select().from(orders).where(isMine)
  const { name, inquiry } = deps.methods.deposit ?? {}
  if (order?.state === 'pending' && isBeingCharged(order)) return { kind: 'payment_under_way' }
  if (!inquiry || order?.state !== 'pending' || order.provider !== name || order.payee === null) return false
  try {
    if (await inquiry.close(order.payee)) return true
    await settleOrder(deps, orderId)
  } catch (error) {
    deps.logger.warn('deposit_not_closed', { orderId, provider: name, reason: describeFailure(error) })
    return { kind: 'provider_unreachable' }
  }
  const [paid] = await deps.database.db.select().from(orders).where(isMine)
  return paid?.state === 'pending' ? { kind: 'payment_under_way' } : false
}
