/** Asks the payment provider about orders whose events may have been lost. */
import { and, asc, eq, inArray, lte } from 'drizzle-orm'
import { recoverCharge } from '@/console/orders/auto-top-up/charge'
import { isBeingCharged } from '@/console/orders/auto-top-up/failed-charge'
import type { OrdersDeps } from '@/console/orders/deps'
import { describeFailure } from '@/db/failure'
import { orders } from '@/db/orders-schema'
import { withDeadline } from '@/lib/deadline'
import { type AppliedDeposit, applyDeposit } from './apply-event'
import type { DepositInquiry } from './deposit-provider'

/** Time until the provider is asked again, if it did not answer or the payment is still in progress. */
const ASK_AGAIN_MS = 5 * 60_000
const ANSWER_TIMEOUT_MS = 15_000

type SettleOutcome =
  | { kind: 'settled'; outcomes: AppliedDeposit[] }
  /** The order does not exist, or its provider cannot be asked. */
  | { kind: 'not_found' | 'not_askable' }

/** Asks the provider about up to `limit` overdue orders. Returns their number; several gateways share the work. */
export async function settleDue(deps: OrdersDeps, limit: number): Promise<number> {
  const { database, methods, clock, logger } = deps
  const { name, inquiry, cards } = methods.deposit ?? {}
  if (name === undefined || !inquiry) return 0
  const now = clock.now()
  const isDue = and(eq(orders.provider, name), lte(orders.lookAt, new Date(now)))
  const due = database.db.select({ id: orders.id }).from(orders).where(isDue)
  // Reserves the order until this time: no other gateway asks about it. If this gateway dies, another one asks later.
  const taken = await database.db
    .update(orders)
    .set({ lookAt: new Date(now + ASK_AGAIN_MS) })
    .where(inArray(orders.id, due.orderBy(asc(orders.lookAt)).limit(limit).for('no key update', { skipLocked: true })))
    .returning()
  for (const order of taken) {
    const { id: orderId, payee } = order
    try {
      if (cards && isBeingCharged(order)) await recoverCharge(deps, { name, cards }, order)
      else await ask(deps, { name, inquiry, orderId, payee: payee ?? '' })
    } catch (error) {
      logger.warn('deposit_look_up_failed', { orderId, provider: name, reason: describeFailure(error) })
    }
  }
  return taken.length
}

/** Asks the provider about one order now, in any state. Rejects if the provider is unreachable. */
export async function settleOrder(deps: OrdersDeps, orderId: string): Promise<SettleOutcome> {
  const { name, inquiry, cards } = deps.methods.deposit ?? {}
  const [order] = await deps.database.db.select().from(orders).where(eq(orders.id, orderId))
  if (!order) return { kind: 'not_found' }
  if (cards && name !== undefined && order.provider === name && isBeingCharged(order)) {
    return { kind: 'settled', outcomes: await recoverCharge(deps, { name, cards }, order) }
  }
  if (!inquiry || name === undefined || order.provider !== name || order.payee === null) return { kind: 'not_askable' }
  return { kind: 'settled', outcomes: await ask(deps, { name, inquiry, orderId, payee: order.payee }) }
}

type Question = { name: string; inquiry: DepositInquiry; orderId: string; payee: string }

async function ask(deps: OrdersDeps, { name, inquiry, orderId, payee }: Question): Promise<AppliedDeposit[]> {
  const { events, isFinal } = await withDeadline(inquiry.lookUp(payee), ANSWER_TIMEOUT_MS, () => {
    throw new Error(`no answer in ${ANSWER_TIMEOUT_MS} ms`)
  })
  const outcomes: AppliedDeposit[] = []
  for (const event of events) outcomes.push(await applyDeposit(deps, name, event))
  if (isFinal) await deps.database.db.update(orders).set({ lookAt: null }).where(eq(orders.id, orderId))
  return outcomes
}

/** The provider's page of an order's invoice or receipt. Undefined if there is none; rejects if the provider can't be reached. */
export async function documentUrl(deps: OrdersDeps, orderId: string, accountId: string): Promise<string | undefined> {
  const { name, inquiry } = deps.methods.deposit ?? {}
  const isMine = and(eq(orders.id, orderId), eq(orders.accountId, accountId))
  const [order] = await deps.database.db.select().from(orders).where(isMine)
  if (!inquiry || order?.provider !== name || order?.payee == null || order.paidAt === null) return undefined
  return inquiry.documentUrl(order.payee)
}
