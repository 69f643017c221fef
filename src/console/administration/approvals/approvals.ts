/**
 * Approvals: one administrator requests an operation, and another one must approve it. **pending**: waits for a decision. Another
 * administrator approves it, which runs the stored operation (**executed**, or **failed** if it is no longer possible), or rejects it
 * (**rejected**). The requester may withdraw it (**withdrawn**). After seven days it is **expired**. All states except **pending** are
 * final.
 */
import { and, eq, lte, sql } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { type Administrator, auditOrigin } from '@/console/administration/administrator'
import { MAX_REASON_CHARS } from '@/console/orders/limits'
import type { OrdersDeps } from '@/console/orders/orders'
import { type ApprovalStatus, approvals, statementLines } from '@/db/administration-schema'
import type { Transaction } from '@/db/client'
import { findRow } from '@/db/find-row'
import { formatUsd } from '@/lib/money'
import { moveMoney } from './move-money'
import { isTheirs } from './movement-limit'
import type { Operation, OperationRequest } from './operation'
import { warmLedger } from './orders-within'
import { type PerformOutcome, perform } from './perform'

type ApprovalRow = typeof approvals.$inferSelect

export type Decision = 'approve' | 'reject' | 'withdraw'

export type DecideOutcome =
  | { kind: 'decided'; status: ApprovalStatus }
  | { kind: 'not_found' }
  /** The approval was decided before, or has expired. */
  | { kind: 'not_pending'; status: ApprovalStatus }
  /** The deciding administrator requested the operation. */
  | { kind: 'own_request' }
  /** Administrators cannot decide about their own account. */
  | { kind: 'own_account' }
  /** Only the requester may withdraw. */
  | { kind: 'not_own_request' }
  /** The operation was no longer possible. */
  | { kind: 'failed'; message: string }

/** Decides an approval, once even if called concurrently. `note` has at most 500 characters. */
export async function decideApproval(
  deps: OrdersDeps,
  administrator: Administrator,
  request: { approvalId: string; decision: Decision; note: string },
): Promise<DecideOutcome> {
  await expireApprovals(deps)
  const { approvalId, decision, note } = request
  const asked = await findRow(deps.database.db, approvals, eq(approvals.id, approvalId))
  if (asked && decision === 'approve') await warmLedger(deps, asked.operation as Operation)
  return await moveMoney<DecideOutcome>(deps, async (transaction, credits, ledger) => {
    const [row] = await transaction.select().from(approvals).where(eq(approvals.id, approvalId)).for('update')
    if (!row) return { kind: 'not_found' }
    if (row.status !== 'pending') return { kind: 'not_pending', status: row.status }
    const isOwn = row.requestedBy === administrator.userId
    if (isOwn && decision !== 'withdraw') return { kind: 'own_request' }
    if (!isOwn && decision === 'withdraw') return { kind: 'not_own_request' }
    if (decision === 'approve' && (await isTheirs(transaction, row.accountId, administrator))) {
      return { kind: 'own_account' }
    }
    if (decision !== 'approve') {
      const status = decision === 'reject' ? 'rejected' : 'withdrawn'
      await close(transaction, administrator, row, { status, note })
      return { kind: 'decided', status }
    }
    const outcome = await execute(transaction, { ...deps, ledger }, administrator, row)
    if (outcome.kind === 'refused') {
      await close(transaction, administrator, row, { status: 'failed', note: joined(note, outcome.message) })
      return { kind: 'failed', message: outcome.message }
    }
    credits.push(...outcome.credits)
    await close(transaction, administrator, row, { status: 'executed', note })
    return { kind: 'decided', status: 'executed' }
  })
}

/** Marks overdue approvals as expired. Called before approvals are listed or decided. */
export async function expireApprovals({ database, clock }: Pick<OrdersDeps, 'database' | 'clock'>): Promise<number> {
  const now = new Date(clock.now())
  const isDue = and(eq(approvals.status, 'pending'), lte(approvals.expiresAt, now))
  const [due] = await database.db.select({ id: approvals.id }).from(approvals).where(isDue).limit(1)
  if (!due) return 0
  return await database.db.transaction(async (transaction) => {
    const rows = await transaction.update(approvals).set({ status: 'expired', decidedAt: now }).where(isDue).returning()
    for (const row of rows) {
      await freeStatementLine(transaction, row, 'expired')
      await audit(transaction, { actor: { userId: null, email: 'expiry' } }, row, 'expired', '')
    }
    return rows.length
  })
}

/** Performs the approved operation in a savepoint: if it is refused, its changes are rolled back, but the approval can be closed. */
async function execute(
  transaction: Transaction,
  deps: OrdersDeps,
  administrator: Administrator,
  row: ApprovalRow,
): Promise<PerformOutcome> {
  const request: OperationRequest = {
    operation: row.operation as Operation,
    reason: `${row.reason} (asked for by ${row.requestedByEmail})`.slice(0, MAX_REASON_CHARS),
    requestId: row.requestId,
  }
  let refused: PerformOutcome | undefined
  try {
    return await transaction.transaction(async (savepoint) => {
      const outcome = await perform(savepoint, deps, administrator, request)
      if (outcome.kind === 'refused' && !outcome.isKept) {
        refused = outcome
        savepoint.rollback()
      }
      return outcome
    })
  } catch (error) {
    if (refused) return refused
    throw error
  }
}

type Closing = { status: 'executed' | 'failed' | 'rejected' | 'withdrawn'; note: string }

async function close(
  transaction: Transaction,
  administrator: Administrator,
  row: ApprovalRow,
  { status, note }: Closing,
): Promise<void> {
  await transaction
    .update(approvals)
    .set({
      status,
      decidedBy: administrator.userId,
      decidedByEmail: administrator.email,
      decidedAt: sql`now()`,
      note: note === '' ? null : note,
    })
    .where(eq(approvals.id, row.id))
  await freeStatementLine(transaction, row, status)
  await audit(transaction, auditOrigin(administrator), row, status, note)
}

/** If the approval was for a line of a bank statement, marks the line as credited, or lets it be imported again. */
async function freeStatementLine(transaction: Transaction, row: ApprovalRow, status: ApprovalStatus): Promise<void> {
  await transaction
    .update(statementLines)
    .set({ result: status === 'executed' ? 'credited' : 'rejected' })
    .where(eq(statementLines.approvalId, row.id))
}

async function audit(
  transaction: Transaction,
  origin: ReturnType<typeof auditOrigin>,
  row: ApprovalRow,
  status: ApprovalStatus,
  note: string,
): Promise<void> {
  await recordAudit(transaction, {
    ...origin,
    action: `approval.${status}`,
    subject: row.id,
    accountId: row.accountId,
    details: {
      operation: row.kind,
      amount: formatUsd(row.amount),
      requestedBy: row.requestedByEmail,
      reason: row.reason,
      note: note === '' ? null : note,
    },
  })
}

function joined(note: string, message: string): string {
  return note === '' ? message : `${note} (${message})`
}
