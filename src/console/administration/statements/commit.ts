import { and, asc, count, eq, inArray } from 'drizzle-orm'
import { recordAudit } from '@/accounts/audit'
import { type Administrator, auditOrigin } from '@/console/administration/administrator'
import { moveMoney } from '@/console/administration/approvals/move-money'
import { requestIdOf, type StatementCredit } from '@/console/administration/approvals/operation'
import { ordersWithin } from '@/console/administration/approvals/orders-within'
import { type MoneyDeps, requestOperation } from '@/console/administration/approvals/request-operation'
import { MAX_PAYMENT_CENTS } from '@/console/orders/limits'
import { type LineResult, statementImports, statementLines } from '@/db/administration-schema'
import { isUniqueViolation } from '@/db/failure'
import { findRow } from '@/db/find-row'
import { orders as ordersTable } from '@/db/orders-schema'
import { KEPT_VERDICTS } from './verdict'

type CommittedLine = { line: number; result: LineResult }

type CommitOutcome =
  | { kind: 'committed'; lines: CommittedLine[] }
  | { kind: 'not_found' }
  /** The digest in the commit differs from the preview's. */
  | { kind: 'other_preview' }

type LineRow = typeof statementLines.$inferSelect

/**
 * Credits the lines that the preview marks for credit; above the limit, a second administrator must agree. Payments that name an order
 * but don't match it are stored uncredited. Only the preview's author may commit it. A repeated commit continues an interrupted one.
 */
export async function commitStatement(
  deps: MoneyDeps,
  administrator: Administrator,
  { importId, digest, reason }: { importId: string; digest: string; reason: string },
): Promise<CommitOutcome> {
  const { db } = deps.database
  const [found] = await db.select().from(statementImports).where(eq(statementImports.id, importId))
  if (!found || found.uploadedBy !== administrator.userId) return { kind: 'not_found' }
  if (found.digest !== digest) return { kind: 'other_preview' }
  if (found.status === 'previewed') {
    const verdicts = ['credit', ...KEPT_VERDICTS] as const
    const lines = await db
      .select()
      .from(statementLines)
      .where(and(eq(statementLines.importId, importId), inArray(statementLines.verdict, [...verdicts])))
      .orderBy(asc(statementLines.line))
    for (const line of lines) if (line.result === null) await commitLine(deps, administrator, line, reason)
    await finish(deps, administrator, importId, reason)
  }
  return { kind: 'committed', lines: await resultsOf(deps, importId) }
}

async function commitLine(deps: MoneyDeps, administrator: Administrator, line: LineRow, reason: string): Promise<void> {
  const operation = await operationOf(deps, line)
  if (operation === undefined) return
  if (line.verdict !== 'credit') {
    const isKept = await keepPayment(deps, administrator, operation, reason)
    return await note(deps, line, { result: isKept ? 'kept' : 'refused' })
  }
  const requestId = requestIdOf(line.importId, String(line.line))
  const outcome = await requestOperation(deps, administrator, { operation, reason, requestId })
  switch (outcome.kind) {
    case 'done':
      return await note(deps, line, { result: 'credited' })
    case 'awaiting_approval':
      return await note(deps, line, { result: 'awaiting_approval', approvalId: outcome.approvalId })
    default:
      return await note(deps, line, { result: outcome.kind === 'refused' && outcome.isKept ? 'kept' : 'refused' })
  }
}

async function operationOf({ database }: MoneyDeps, line: LineRow): Promise<StatementCredit | undefined> {
  if (line.orderId === null || line.amountCents > MAX_PAYMENT_CENTS) return undefined
  const order = await findRow(database.db, ordersTable, eq(ordersTable.id, line.orderId))
  const { importId, lineKey, orderId, amountCents, currency, bookedOn, reference, counterparty: payer } = line
  const text = { text: reference, reference: order?.reference ?? '' }
  const facts = { importId, line: line.line, lineKey, orderId, amountCents, currency, bookedOn, payer }
  return { kind: 'statement.credit', ...facts, ...text }
}

/** Stores a payment that doesn't match its order. A matching payment cannot come here; if one did, nothing would be stored. */
async function keepPayment(
  deps: MoneyDeps,
  administrator: Administrator,
  { lineKey, orderId, amountCents, currency, payer, bookedOn, text }: StatementCredit,
  reason: string,
): Promise<boolean> {
  const outcome = await moveMoney<{ kind: 'done' | 'refused' }>(deps, async (transaction) => {
    const confirmed = await ordersWithin(deps, transaction).orders.confirmPayment({
      source: 'bank',
      externalId: lineKey,
      orderId,
      amountCents,
      currency,
      sender: payer,
      text: `${bookedOn} ${text}`,
      reason,
      actor: { kind: 'person', ...administrator },
    })
    return { kind: confirmed.kind === 'unmatched' ? 'done' : 'refused' }
  })
  return outcome.kind === 'done'
}

/** Stores a line's result. The results have a unique index, so that two imports cannot credit or store the same line. */
async function note(
  { database }: MoneyDeps,
  { importId, line }: LineRow,
  result: { result: LineResult; approvalId?: string },
): Promise<void> {
  const mine = and(eq(statementLines.importId, importId), eq(statementLines.line, line))
  try {
    await database.db.update(statementLines).set(result).where(mine)
  } catch (error) {
    if (!isUniqueViolation(error, 'statement_lines_once')) throw error
    await database.db.update(statementLines).set({ result: 'refused' }).where(mine)
  }
}

async function finish(deps: MoneyDeps, administrator: Administrator, importId: string, reason: string): Promise<void> {
  await deps.database.db.transaction(async (transaction) => {
    const [row] = await transaction
      .update(statementImports)
      .set({ status: 'committed', committedAt: new Date(deps.clock.now()) })
      .where(and(eq(statementImports.id, importId), eq(statementImports.status, 'previewed')))
      .returning()
    if (!row) return
    const counts = await transaction
      .select({ result: statementLines.result, lines: count() })
      .from(statementLines)
      .where(eq(statementLines.importId, importId))
      .groupBy(statementLines.result)
    await recordAudit(transaction, {
      ...auditOrigin(administrator),
      action: 'statement.commit',
      subject: importId,
      accountId: null,
      details: {
        digest: row.digest,
        reason,
        ...Object.fromEntries(counts.map((item) => [item.result ?? 'left', item.lines])),
      },
    })
  })
}

async function resultsOf({ database }: MoneyDeps, importId: string): Promise<CommittedLine[]> {
  const rows = await database.db
    .select({ line: statementLines.line, result: statementLines.result })
    .from(statementLines)
    .where(eq(statementLines.importId, importId))
    .orderBy(asc(statementLines.line))
  return rows.flatMap(({ line, result }) => (result === null ? [] : [{ line, result }]))
}
