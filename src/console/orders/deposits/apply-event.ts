/** Applies a provider's event to its order. */
import { and, eq, isNull } from 'drizzle-orm'
import { noteGoneCard, noteRenewedCard, noteSavedCard } from '@/console/orders/auto-top-up/cards'
import { noteFailedCharge } from '@/console/orders/auto-top-up/failed-charge'
import { confirmPayment } from '@/console/orders/confirm'
import type { OrdersDeps } from '@/console/orders/deps'
import { PROCESSING_LIFETIME_MS } from '@/console/orders/limits'
import { nextState } from '@/console/orders/order-state'
import { reversePayment } from '@/console/orders/reversals/reverse'
import { changeOrder, type OrderRow } from '@/console/orders/rows'
import type { Actor, ConfirmOutcome, ReverseOutcome } from '@/console/orders/types'
import type { Transaction } from '@/db/client'
import { orderEvents, orders } from '@/db/orders-schema'
import type { DepositEvent } from './deposit-provider'

export type AppliedDeposit =
  /** The signature is valid, but the body has no known form. */
  | { kind: 'malformed' }
  /** The signature is valid, but the event moves no money. */
  | { kind: 'ignored' }
  /** The signature is valid, but the event's type is unknown. */
  | { kind: 'unknown'; type: string }
  | ConfirmOutcome
  | ReverseOutcome

/** Applies one event of the provider `name`. Repeated or reordered events have the same result. */
export async function applyDeposit(deps: OrdersDeps, name: string, event: DepositEvent): Promise<AppliedDeposit> {
  const origin = { source: `deposit:${name}`, actor: { kind: 'system', name } } as const
  switch (event.kind) {
    case 'received': {
      const { paymentId, kind: _, chargedOrderId, ...facts } = event
      if (chargedOrderId !== undefined) await noteCharge(deps, name, chargedOrderId, paymentId)
      return confirmPayment(deps, { ...facts, ...origin, payee: paymentId })
    }
    case 'chargeback':
    case 'refund':
    case 'reinstatement': {
      const { note: words, ...facts } = event
      return reversePayment(deps, { ...facts, ...origin, ...(words !== undefined && { note: words }) })
    }
    case 'processing':
    case 'ended':
      await deps.database.db.transaction((transaction) => follow(deps, transaction, name, event))
      return { kind: 'ignored' }
    case 'charge_failed':
      await noteFailedCharge(deps, name, event)
      return { kind: 'ignored' }
    case 'card_saved':
      await noteSavedCard(deps, name, event)
      return { kind: 'ignored' }
    case 'card_gone':
      await noteGoneCard(deps, name, event.cardId)
      return { kind: 'ignored' }
    case 'card_renewed':
      await noteRenewedCard(deps, name, event)
      return { kind: 'ignored' }
    case 'unknown':
      return event
    default:
      return { kind: event.kind }
  }
}

/** Stores the id of a charge at its order, from the provider's answer or its event, whichever comes first. */
async function noteCharge({ database }: OrdersDeps, name: string, orderId: string, payee: string): Promise<void> {
  const isCharged = and(eq(orders.id, orderId), eq(orders.provider, name), eq(orders.origin, 'auto_top_up'))
  await database.db
    .update(orders)
    .set({ payee })
    .where(and(isCharged, isNull(orders.payee)))
}

type Progress = Extract<DepositEvent, { kind: 'processing' | 'ended' }>

async function follow(deps: OrdersDeps, transaction: Transaction, name: string, event: Progress): Promise<void> {
  const isIt = and(eq(orders.provider, name), eq(orders.payee, event.paymentId))
  const [order] = await transaction.select().from(orders).where(isIt).for('no key update')
  if (order?.state !== 'pending') return
  const now = new Date(deps.clock.now())
  const actor: Actor = { kind: 'system', name }
  if (event.kind === 'processing') return wait(transaction, order, actor, now)
  const state = nextState(order.state, 'expire')
  if (state === undefined) return
  await changeOrder(transaction, order.id, { set: { state, lookAt: null }, event: { kind: event.why }, actor, now })
}

async function wait(transaction: Transaction, { id, expiresAt }: OrderRow, actor: Actor, now: Date): Promise<void> {
  const isKnown = and(eq(orderEvents.orderId, id), eq(orderEvents.kind, 'processing'))
  if ((await transaction.$count(orderEvents, isKnown)) > 0) return
  const until = new Date(Math.max(now.getTime() + PROCESSING_LIFETIME_MS, expiresAt.getTime()))
  await changeOrder(transaction, id, {
    set: { expiresAt: until, lookAt: until },
    event: { kind: 'processing' },
    actor,
    now,
  })
}
