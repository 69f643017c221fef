import { eq } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { newEntryId, type RecordCreditOutcome, recordAudited, recordCredit } from '@/accounts/credits'
import { type DebitRefusal, withholdDebit } from '@/accounts/debits'
import { movableWords } from '@/accounts/transfers/movable'
import { type Administrator, auditOrigin } from '@/console/administration/administrator'
import type { Orders, OrdersDeps } from '@/console/orders/orders'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { accounts } from '@/db/schema'
import type { Credit } from '@/ledger/outcomes'
import { formatUsd, nano, ZERO_NANO } from '@/lib/money'
import type { Operation, OperationRequest } from './operation'
import { orderRefusal } from './order-refusal'
import { ordersWithin } from './orders-within'

/** `refused` with `isKept`: the transaction contains a payment, so it must be committed. */
export type PerformOutcome = { kind: 'done'; credits: Credit[] } | { kind: 'refused'; message: string; isKept: boolean }

/** Performs `request` for `administrator` inside the decision's transaction. Redis changes after the commit. Repeats change nothing. */
export async function perform(
  transaction: Transaction,
  deps: OrdersDeps,
  administrator: Administrator,
  request: OperationRequest,
): Promise<PerformOutcome> {
  const { operation } = request
  if (operation.kind === 'credit.adjust') return await adjust(transaction, deps, administrator, request, operation)
  if (operation.kind === 'credit.add') return await addOnce(transaction, deps, administrator, operation)
  const { orders, credits } = ordersWithin(deps, transaction)
  const refusal = await actOnOrder(orders, administrator, request, operation)
  return refusal === undefined ? { kind: 'done', credits } : { kind: 'refused', ...refusal }
}

type Adjustment = Extract<Operation, { kind: 'credit.adjust' }>

async function adjust(
  transaction: Transaction,
  deps: OrdersDeps,
  administrator: Administrator,
  { reason, requestId }: OperationRequest,
  { accountId, amountNano, allowNegative }: Adjustment,
): Promise<PerformOutcome> {
  const amount = nano(amountNano)
  const newId = newEntryId()
  if (amount < 0) {
    const debit = { accountId, entryId: newId, amount: nano(-amount), allowNegative, leavesReversible: true }
    const refusal = await withholdDebit(deps.ledger, transaction, debit)
    if (refusal) return { kind: 'refused', message: uncovered(refusal), isKept: false }
  }
  const reference = `adjustment:${requestId}`
  const recorded = await recordCredit(transaction, { accountId, amount, reference }, newId)
  if (recorded.kind !== 'recorded') return { kind: 'refused', message: adjustmentRefusal(recorded), isKept: false }
  const { entryId, isNew } = recorded
  if (isNew) {
    const account = await findRow(transaction, accounts, eq(accounts.id, accountId))
    const after = account?.balance ?? ZERO_NANO
    const before = nano(after - amount)
    await recordAudit(transaction, {
      ...auditOrigin(administrator),
      action: 'credit.adjust',
      subject: accountId,
      accountId,
      details: { amount: formatUsd(amount), before: formatUsd(before), after: formatUsd(after), reason, entryId },
    })
  }
  return { kind: 'done', credits: [{ accountId, entryId, amount }] }
}

/** Adds credit once per reference. A reference that the operator's command has used is refused too. */
async function addOnce(
  transaction: Transaction,
  { ledger }: OrdersDeps,
  administrator: Administrator,
  { accountId, amountNano, reference }: Extract<Operation, { kind: 'credit.add' }>,
): Promise<PerformOutcome> {
  const amount = nano(amountNano)
  const entryId = newEntryId()
  const debit = { accountId, entryId, amount: nano(-amount), allowNegative: false, leavesReversible: true }
  const recorded = await recordAudited(transaction, {
    credit: { accountId, amount, reference, isUnique: true },
    by: auditOrigin(administrator),
    entryId,
    ...(amount < 0 && { withhold: () => withholdDebit(ledger, transaction, debit) }),
  })
  if (recorded.kind !== 'recorded') return { kind: 'refused', message: creditRefusal(recorded), isKept: false }
  return { kind: 'done', credits: [{ accountId, entryId: recorded.entryId, amount }] }
}

/** The sentence that says why a credit with a reference was refused. */
function creditRefusal(outcome: Exclude<Awaited<ReturnType<typeof recordAudited>>, { kind: 'recorded' }>): string {
  switch (outcome.kind) {
    case 'reference_elsewhere':
    case 'reference_taken':
      return 'The reference was used for another credit meanwhile.'
    case 'insufficient':
      return `The account has only ${formatUsd(outcome.available)} USD available.`
    case 'reversible':
      return movableWords(outcome)
    default:
      return adjustmentRefusal(outcome)
  }
}

/** The message if credit is insufficient; credit in open holds is not available. */
function uncovered(refusal: DebitRefusal): string {
  const reason =
    refusal.kind === 'reversible'
      ? movableWords(refusal)
      : `The account has only ${formatUsd(refusal.available)} USD available.`
  return `${reason} Allow a balance below zero, or take back less.`
}

function adjustmentRefusal(outcome: Exclude<RecordCreditOutcome, { kind: 'recorded' }>): string {
  switch (outcome.kind) {
    case 'unknown_account':
      return 'There is no such account.'
    case 'reference_taken':
      return 'This request was sent before with another amount.'
    case 'out_of_range':
      return 'The balance would leave the range of ±9,000,000 USD.'
  }
}

type Refusal = { message: string; isKept: boolean }

async function actOnOrder(
  orders: Orders,
  administrator: Administrator,
  { reason, requestId }: OperationRequest,
  operation: Exclude<Operation, { amountNano: number }>,
): Promise<Refusal | undefined> {
  const actor = { kind: 'person', ...administrator } as const
  switch (operation.kind) {
    case 'order.confirm': {
      const { orderId, amountCents } = operation
      const notice = {
        source: 'manual',
        externalId: requestId,
        orderId,
        amountCents,
        currency: 'USD',
        reason,
        actor,
      } as const
      return orderRefusal(await orders.confirmPayment(notice), true)
    }
    case 'statement.credit': {
      const { lineKey, orderId, amountCents, currency, payer, bookedOn } = operation
      const text = `${bookedOn} ${operation.text}`
      const notice = { source: 'bank', externalId: lineKey, orderId, amountCents, currency, payer, text } as const
      return orderRefusal(await orders.confirmPayment({ ...notice, reason, actor }), true)
    }
    case 'order.refund': {
      const { orderId, amountCents, allowNegative } = operation
      return orderRefusal(
        await orders.refund({ orderId, amountCents, allowNegative, reason, key: requestId, actor }),
        false,
      )
    }
    case 'payment.credit': {
      const { paymentId, orderId, creditCents } = operation
      const resolution = { kind: 'credit', orderId, creditCents } as const
      return orderRefusal(await orders.resolve({ paymentId, resolution, reason, actor }), false)
    }
  }
}
