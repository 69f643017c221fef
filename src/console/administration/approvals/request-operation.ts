import { eq, sql } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { type Administrator, auditOrigin } from '@/console/administration/administrator'
import { centsToNano } from '@/console/orders/cents'
import type { OrdersDeps } from '@/console/orders/orders'
import { type AuditDetails, approvals, unapprovedMovements } from '@/db/administration-schema'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { orders } from '@/db/orders-schema'
import { accounts } from '@/db/schema'
import { randomId } from '@/lib/ids'
import { formatUsd, type Nano, nano } from '@/lib/money'
import { moveMoney } from './move-money'
import { countMovement, forgetMovement, isTheirs } from './movement-limit'
import { digestOf, type Operation, type OperationRequest } from './operation'
import { warmLedger } from './orders-within'
import { perform } from './perform'

type MovedMoney = {
  accountId: string
  /** The amount without its sign. */
  amount: Nano
}

export type MoneyDeps = OrdersDeps & {
  /** Maximum amount that one administrator moves in a day, over all accounts, without a second one. For their own accounts it is 0. */
  approvalLimit: Nano
}

type RequestOutcome =
  | { kind: 'done' }
  | { kind: 'awaiting_approval'; approvalId: string }
  | { kind: 'not_found' }
  /** No change was made, or (`isKept`) only the one named in `message`. */
  | { kind: 'refused'; message: string; isKept: boolean }

const APPROVAL_LIFETIME_DAYS = 7
const DAY_MS = 24 * 3_600_000
const REUSED_KEY: RequestOutcome = {
  kind: 'refused',
  message: 'This request was sent before with another content.',
  isKept: false,
}

/**
 * Moves money for an administrator: at once if the day's amount is within the limit, else after a second administrator's approval. Repeated
 * calls change nothing.
 */
export async function requestOperation(
  deps: MoneyDeps,
  administrator: Administrator,
  request: OperationRequest,
): Promise<RequestOutcome> {
  await warmLedger(deps, request.operation)
  return await moveMoney(deps, async (transaction, credits, ledger) => {
    const digest = digestOf(request.operation)
    await transaction.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`request ${request.requestId}`}, 0))`)
    const earlier = await findEarlier(transaction, request.requestId)
    if (earlier && earlier.digest !== digest) return REUSED_KEY
    if (earlier?.approvalId) return { kind: 'awaiting_approval', approvalId: earlier.approvalId }
    if (earlier) return { kind: 'done' }
    const moved = await movedMoneyOf(transaction, request.operation)
    if (!moved) return { kind: 'not_found' }
    const { requestId } = request
    const { userId } = administrator
    const movement = { requestId, requestDigest: digest, userId, kind: request.operation.kind, ...moved }
    const isOwn = await isTheirs(transaction, moved.accountId, administrator)
    const verdict = isOwn ? 'above' : await countMovement(transaction, movement, deps.approvalLimit)
    if (verdict === 'above') {
      return { kind: 'awaiting_approval', approvalId: await store(deps, transaction, administrator, request, moved) }
    }
    const outcome = await perform(transaction, { ...deps, ledger }, administrator, request)
    if (outcome.kind === 'refused') {
      await forgetMovement(transaction, requestId)
      return outcome
    }
    credits.push(...outcome.credits)
    return { kind: 'done' }
  })
}

type Earlier = { digest: string; approvalId: string | undefined }

async function findEarlier(transaction: Transaction, requestId: string): Promise<Earlier | undefined> {
  const approval = await findRow(transaction, approvals, eq(approvals.requestId, requestId))
  if (approval) return { digest: approval.requestDigest, approvalId: approval.id }
  const movement = await findRow(transaction, unapprovedMovements, eq(unapprovedMovements.requestId, requestId))
  return movement && { digest: movement.requestDigest, approvalId: undefined }
}

async function store(
  { clock }: MoneyDeps,
  transaction: Transaction,
  administrator: Administrator,
  { operation, reason, requestId }: OperationRequest,
  { accountId, amount }: MovedMoney,
): Promise<string> {
  const id = randomId('appr')
  await transaction.insert(approvals).values({
    id,
    kind: operation.kind,
    accountId,
    amount,
    operation,
    reason,
    requestedBy: administrator.userId,
    requestedByEmail: administrator.email,
    expiresAt: new Date(clock.now() + APPROVAL_LIFETIME_DAYS * DAY_MS),
    requestId,
    requestDigest: digestOf(operation),
  })
  await recordAudit(transaction, {
    ...auditOrigin(administrator),
    action: 'approval.request',
    subject: id,
    accountId,
    details: { ...factsOf(operation), amount: formatUsd(amount), reason },
  })
  return id
}

/** The operation's details, except those that the audit entry has in fields of their own. */
function factsOf(operation: Operation): AuditDetails {
  const { kind, ...rest } = operation
  if (!('amountNano' in rest)) return { operation: kind, ...rest }
  const { amountNano, accountId: _, ...facts } = rest
  return { operation: kind, adjustment: formatUsd(nano(amountNano)), ...facts }
}

/** The account and the amount of an operation; undefined if the account or order does not exist. */
async function movedMoneyOf(transaction: Transaction, operation: Operation): Promise<MovedMoney | undefined> {
  switch (operation.kind) {
    case 'credit.add':
    case 'credit.adjust': {
      const account = await findRow(transaction, accounts, eq(accounts.id, operation.accountId))
      return account && { accountId: account.id, amount: nano(Math.abs(operation.amountNano)) }
    }
    case 'payment.credit':
      return await ofOrder(transaction, operation.orderId, operation.creditCents)
    default:
      return await ofOrder(transaction, operation.orderId, operation.amountCents)
  }
}

async function ofOrder(
  transaction: Transaction,
  orderId: string,
  amountCents: number,
): Promise<MovedMoney | undefined> {
  const order = await findRow(transaction, orders, eq(orders.id, orderId))
  return order && { accountId: order.accountId, amount: centsToNano(amountCents) }
}
