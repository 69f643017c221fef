/** Taking credit back: a negative entry of the ledger with a reason, once per key, never more than was paid. */
import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import { recordCredit } from '@/accounts/credits'
import type { Transaction } from '@/db/client'
import { orders } from '@/db/orders-schema'
import { accounts, creditOutbox, ledgerEntries } from '@/db/schema'
import { assert } from '@/lib/assert'
import { applyEntry } from './apply'
import { centsToNano, formatCents } from './cents'
import type { OrdersDeps } from './deps'
import { MAX_REASON_CHARS, MAX_REFUND_KEY_CHARS } from './limits'
import { nextState } from './order-state'
import { auditPerson, changeOrder, lockOrder, type OrderRow, storableText, toOrder } from './rows'
import type { NewRefund, Order, RefundOutcome } from './types'

/**
 * Refunds a part of an order or its rest. Throws `overloaded` where the balance must be known and the ledger cannot be asked.
 * Money that requests hold counts as gone; what is spent between the look at the balance and the refund can still take the
 * account below zero by that much.
 */
export async function refundOrder(deps: OrdersDeps, refund: NewRefund): Promise<RefundOutcome> {
  const { orderId, amountCents, key, reason } = refund
  assert(Number.isInteger(amountCents) && amountCents > 0, 'a refund is a positive number of cents')
  assert(key.length > 0 && key.length <= MAX_REFUND_KEY_CHARS, 'the key of a refund is too long or empty')
  assert(reason.trim() !== '' && reason.length <= MAX_REASON_CHARS, 'a refund has a reason')
  const { db } = deps.database
  const [found] = await db.select({ accountId: orders.accountId }).from(orders).where(eq(orders.id, orderId))
  if (!found) return { kind: 'not_found' }
  // Loads the account now if the ledger doesn't have it, so that no connection is needed while one is held.
  if (!refund.allowNegative) await deps.ledger.readBalance(found.accountId)
  const done = await db.transaction((transaction) => record(deps, transaction, refund))
  if (done.kind !== 'refunded') return done
  const { order, entryId } = done
  const amount = centsToNano(-amountCents)
  return { kind: 'refunded', order, applied: await applyEntry(deps, { accountId: order.accountId, entryId, amount }) }
}

type Recorded = { kind: 'refunded'; order: Order; entryId: string } | Exclude<RefundOutcome, { kind: 'refunded' }>

async function record(deps: OrdersDeps, transaction: Transaction, refund: NewRefund): Promise<Recorded> {
  const { orderId, amountCents } = refund
  const order = await lockOrder(transaction, orderId)
  assert(order, 'orders are never deleted')
  const { accountId } = order
  const amount = centsToNano(-amountCents)
  const reference = `refund:${orderId}:${refund.key}`
  const [earlier] = await transaction
    .select({ amount: ledgerEntries.amount })
    .from(ledgerEntries)
    .where(and(eq(ledgerEntries.accountId, accountId), eq(ledgerEntries.reference, reference)))
  if (earlier) return earlier.amount === amount ? { kind: 'exists', order: toOrder(order) } : { kind: 'key_taken' }
  const refundableCents = order.paidCents - order.refundedCents
  const state = nextState(order.state, amountCents === refundableCents ? 'refund_rest' : 'refund_part')
  if (state === undefined) return { kind: 'not_refundable', order: toOrder(order) }
  if (amountCents > refundableCents) return { kind: 'too_much', refundableCents }
  if (!refund.allowNegative) {
    const available = await availableUnderLock(deps, transaction, accountId)
    if (available + amount < 0) return { kind: 'insufficient_balance', available }
  }
  const recorded = await recordCredit(transaction, { accountId, amount, reference })
  assert(recorded.kind === 'recorded' && recorded.isNew, `a refund is recorded once: ${recorded.kind}`)
  const { entryId } = recorded
  return { kind: 'refunded', order: await note(deps, transaction, { refund, order, state, entryId }), entryId }
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

/**
 * What the account can lose, while its row is locked: the least of what the ledger and the history say, less refunds that are
 * on their way to the ledger. The outbox is read before the ledger, so that what arrives in between counts twice and never not
 * at all.
 */
export async function availableUnderLock(
  deps: OrdersDeps,
  transaction: Transaction,
  accountId: string,
): Promise<number> {
  const [account] = await transaction
    .select({ balance: accounts.balance })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .for('no key update')
  assert(account, 'an order has an account')
  const isOnItsWay = and(
    eq(creditOutbox.accountId, accountId),
    isNull(creditOutbox.appliedAt),
    lt(creditOutbox.amount, centsToNano(0)),
  )
  const [waiting] = await transaction
    .select({ amount: sql<number>`coalesce(sum(${creditOutbox.amount}), 0)`.mapWith(Number) })
    .from(creditOutbox)
    .where(isOnItsWay)
  const balance = await deps.ledger.readBalance(accountId)
  return Math.min(account.balance, (balance?.available ?? 0) + (waiting?.amount ?? 0))
}
