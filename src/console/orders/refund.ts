/** Refunds: a negative entry of the ledger with a reason, once per `key`. An order's refunds never exceed its payments. */
import { and, eq } from 'drizzle-orm'
import { newEntryId, recordCredit } from '@/accounts/credits'
import { endWithheld, withholdDebit } from '@/accounts/debits'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { orders } from '@/db/orders-schema'
import { ledgerEntries } from '@/db/schema'
import { assert } from '@/lib/assert'
import { applyEntry } from './apply'
import { centsToNano, formatCents } from './cents'
import type { OrdersDeps } from './deps'
import { MAX_REASON_CHARS, MAX_REFUND_KEY_CHARS } from './limits'
import { nextState } from './order-state'
import { auditPerson, changeOrder, lockOrder, type OrderRow, storableText, toOrder } from './rows'
import type { NewRefund, Order, RefundOutcome } from './types'

/** Refunds a part of an order or all that remains, but never credit held by requests. Throws `overloaded` if the ledger is unreachable. */
export async function refundOrder(deps: OrdersDeps, refund: NewRefund): Promise<RefundOutcome> {
  const { orderId, amountCents, key, reason } = refund
  assert(Number.isInteger(amountCents) && amountCents > 0, 'a refund is a positive number of cents')
  assert(key.length > 0 && key.length <= MAX_REFUND_KEY_CHARS, 'the key of a refund is too long or empty')
  assert(reason.trim() !== '' && reason.length <= MAX_REASON_CHARS, 'a refund has a reason')
  const { db } = deps.database
  const [found] = await db.select({ accountId: orders.accountId }).from(orders).where(eq(orders.id, orderId))
  if (!found) return { kind: 'not_found' }
  // Loads the account first if the ledger lacks it, so that the transaction holds no connection during the load.
  if (!refund.allowNegative) await deps.ledger.readBalance(found.accountId)
  const entryId = newEntryId()
  let done: Recorded
  try {
    done = await db.transaction((transaction) => record(deps, transaction, refund, entryId))
  } catch (error) {
    await endWithheld(deps.ledger, { accountId: found.accountId, entryId, amount: centsToNano(amountCents) })
    throw error
  }
  if (done.kind !== 'refunded') return done
  const { order } = done
  const amount = centsToNano(-amountCents)
  return { kind: 'refunded', order, applied: await applyEntry(deps, { accountId: order.accountId, entryId, amount }) }
}

type Recorded = { kind: 'refunded'; order: Order } | Exclude<RefundOutcome, { kind: 'refunded' }>

async function record(
  deps: OrdersDeps,
  transaction: Transaction,
  refund: NewRefund,
  entryId: string,
): Promise<Recorded> {
  const { orderId, amountCents } = refund
  const order = await lockOrder(transaction, orderId)
  assert(order, 'orders are never deleted')
  const { accountId } = order
  const amount = centsToNano(-amountCents)
  const reference = `refund:${orderId}:${refund.key}`
  const isThis = and(eq(ledgerEntries.accountId, accountId), eq(ledgerEntries.reference, reference))
  const earlier = await findRow(transaction, ledgerEntries, isThis)
  if (earlier) return earlier.amount === amount ? { kind: 'exists', order: toOrder(order) } : { kind: 'key_taken' }
  const refundableCents = Math.max(order.paidCents - order.refundedCents - order.chargedBackCents, 0)
  const state = nextState(order.state, amountCents === refundableCents ? 'refund_rest' : 'refund_part')
  if (state === undefined) return { kind: 'not_refundable', order: toOrder(order) }
  if (amountCents > refundableCents) return { kind: 'too_much', refundableCents }
  const { allowNegative = false } = refund
  // The refund may use credit whose payment can still be reversed: the payer gets the money back anyway.
  const debit = { accountId, entryId, amount: centsToNano(amountCents), allowNegative, leavesReversible: false }
  const refusal = await withholdDebit(deps.ledger, transaction, debit)
  if (refusal) return { kind: 'insufficient_balance', available: refusal.available }
  const recorded = await recordCredit(transaction, { accountId, amount, reference }, entryId)
  assert(recorded.kind === 'recorded' && recorded.isNew, `a refund is recorded once: ${recorded.kind}`)
  return { kind: 'refunded', order: await note(deps, transaction, { refund, order, state, entryId }) }
}

type Noted = { refund: NewRefund; order: OrderRow; state: OrderRow['state']; entryId: string }

async function note(deps: OrdersDeps, transaction: Transaction, { refund, order, state, entryId }: Noted) {
  const { amountCents, actor } = refund
  const reason = storableText(refund.reason, MAX_REASON_CHARS)
  const row = await changeOrder(transaction, order.id, {
    set: { state, refundedCents: order.refundedCents + amountCents },
    event: { kind: 'refunded', amountCents, entryId, note: reason },
    actor,
    now: new Date(deps.clock.now()),
  })
  await auditPerson(transaction, {
    actor,
    action: 'order.refund',
    subject: order.id,
    accountId: order.accountId,
    details: {
      reference: order.reference,
      amountUsd: formatCents(amountCents),
      state,
      reason,
      allowNegative: refund.allowNegative ?? false,
    },
  })
  return toOrder(row)
}
