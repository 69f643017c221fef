/** Handles a failed charge: a person must confirm the charge, a later round repeats it, or the auto top-up is turned off. */
import { eq } from 'drizzle-orm'
import { writeMails } from '@/accounts/mails/outbox'
import { nameOf } from '@/accounts/members/tell-members'
import { formatCents } from '@/console/orders/cents'
import type { DepositEvent } from '@/console/orders/deposits/deposit-provider'
import type { OrdersDeps } from '@/console/orders/deps'
import { CONFIRMATION_LIFETIME_MS } from '@/console/orders/limits'
import { nextState } from '@/console/orders/order-state'
import { changeOrder, lockOrder, type OrderRow } from '@/console/orders/rows'
import type { Actor } from '@/console/orders/types'
import type { Transaction } from '@/db/client'
import { orders } from '@/db/orders-schema'
import { payersOf, stopByItself } from './stop'

type Failure = Extract<DepositEvent, { kind: 'charge_failed' }>

/** Books a failed charge. Repeated calls change nothing, and neither do calls for an order that is paid, ended, or waits for a person. */
export async function noteFailedCharge(deps: OrdersDeps, name: string, failure: Failure): Promise<void> {
  await deps.database.db.transaction(async (transaction) => {
    const order = await lockOrder(transaction, failure.orderId)
    if (!order || order.provider !== name || !isBeingCharged(order)) return
    const state = nextState(order.state, 'expire')
    if (state === undefined) {
      // The order ended meanwhile, so Stripe needs no further look-up.
      await transaction.update(orders).set({ lookAt: null }).where(eq(orders.id, order.id))
      return
    }
    const actor: Actor = { kind: 'system', name }
    const now = new Date(deps.clock.now())
    if (failure.why === 'confirm') return askPayers(transaction, order, actor, now)
    const event = { kind: 'failed', note: failure.code } as const
    await changeOrder(transaction, order.id, { set: { state, lookAt: null }, event, actor, now })
    // A card that failed for another reason may work later: the next round counts its failures.
    if (failure.why === 'unusable') await stopByItself(transaction, name, order.accountId, 'card_refused')
  })
}

/** Whether the order's saved card is being charged, and no answer has come yet. */
export function isBeingCharged({ card, payee, lookAt }: OrderRow): boolean {
  return card !== null && payee === null && lookAt !== null
}

/** Lets the order wait for a person, who pays it like any order. Mails the members who may pay. */
async function askPayers(transaction: Transaction, order: OrderRow, actor: Actor, now: Date): Promise<void> {
  const { id, accountId, reference, amountCents } = order
  const expiresAt = new Date(now.getTime() + CONFIRMATION_LIFETIME_MS)
  const event = { kind: 'confirmation_needed' } as const
  await changeOrder(transaction, id, { set: { lookAt: null, expiresAt }, event, actor, now })
  const accountName = await nameOf(transaction, accountId)
  const facts = { accountId, accountName, orderId: id, reference, amount: `${formatCents(amountCents)} USD` }
  const to = await payersOf(transaction, accountId)
  await writeMails(transaction, { kind: 'top_up_needs_confirmation', facts }, to, { eventId: `confirm:${id}` })
}
