/** The preview of a bank statement: the effect of each line, stored so that a commit does exactly that. A preview changes nothing else. */
import { and, count, eq, inArray, lt, ne, sql } from 'drizzle-orm'
import type { Administrator } from '@/console/administration/administrator'
import { expireApprovals } from '@/console/administration/approvals/approvals'
import type { OrdersDeps } from '@/console/orders/orders'
import { findReferences } from '@/console/orders/reference'
import { type StatementFormat, statementImports, statementLines } from '@/db/administration-schema'
import type { Database, Transaction } from '@/db/client'
import { orders, payments } from '@/db/orders-schema'
import { accounts } from '@/db/schema'
import { randomId, sha256Hex } from '@/lib/ids'
import { readStatement } from './read-statement'
import type { StatementLine, StatementOptions } from './statement'
import { type JudgedLine, judgeLines, type KnownOrder, paymentOf } from './verdict'

export type PreviewOutcome =
  | { kind: 'previewed'; importId: string; digest: string; lines: JudgedLine[] }
  /** The statement is rejected; `faults` are sentences for the person who uploaded it. */
  | { kind: 'faulty'; faults: string[] }

/** Maximum rows of one INSERT: their parameters stay far below the maximum of Postgres. */
const INSERT_BATCH = 1000

/** Reads a statement and decides each line. Only the preview is stored; uncommitted previews are deleted after a day. */
export async function previewStatement(
  deps: OrdersDeps,
  administrator: Administrator,
  text: string,
  options: StatementOptions,
): Promise<PreviewOutcome> {
  const read = await readStatement(text, options)
  if (read.kind === 'faulty') return read
  await expireApprovals(deps)
  const [known, imported] = await Promise.all([
    findOrders(deps, read.lines),
    findImported(
      deps.database,
      read.lines.map((line) => line.lineKey),
    ),
  ])
  const elsewhere = await countElsewhere(deps.database, read.format, [...known.values()])
  const lines = judgeLines(read.lines, { orders: known, imported, elsewhere })
  const importId = randomId('stmt')
  const digest = digestOfLines(lines)
  await deps.database.db.transaction(async (transaction) => {
    await clearOldPreviews(transaction)
    const uploadedBy = administrator.userId
    await transaction.insert(statementImports).values({ id: importId, digest, format: read.format, uploadedBy })
    for (let start = 0; start < lines.length; start += INSERT_BATCH) {
      const rows = lines.slice(start, start + INSERT_BATCH)
      await transaction
        .insert(statementLines)
        .values(rows.map(({ order, exclusion, ...line }) => ({ importId, ...line, orderId: order?.orderId ?? null })))
    }
  })
  return { kind: 'previewed', importId, digest, lines }
}

/** A digest of all lines with their verdicts: a commit must send it. */
function digestOfLines(lines: readonly JudgedLine[]): string {
  return sha256Hex(JSON.stringify(lines.map((line) => [line.lineKey, line.verdict, line.order?.orderId ?? null])))
}

async function findOrders({ database, clock }: OrdersDeps, lines: readonly StatementLine[]) {
  const references = [...new Set(lines.flatMap((line) => findReferences(line.reference)))]
  if (references.length === 0) return new Map<string, KnownOrder>()
  const rows = await database.db
    .select({ order: orders, accountName: accounts.name })
    .from(orders)
    .innerJoin(accounts, eq(accounts.id, orders.accountId))
    .where(inArray(orders.reference, references))
  const now = clock.now()
  return new Map(
    rows.map(({ order, accountName }): [string, KnownOrder] => {
      const { id: orderId, accountId, reference, method, amountCents, currency } = order
      const isOpen = order.state === 'pending' && order.expiresAt.getTime() > now
      return [reference, { orderId, accountId, accountName, reference, method, amountCents, currency, isOpen }]
    }),
  )
}

/** The lines that already are payments or wait for a second administrator. */
async function findImported({ db }: Database, lineKeys: readonly string[]): Promise<Set<string>> {
  const keys = [...lineKeys]
  const [known, waiting] = await Promise.all([
    db
      .select({ key: payments.externalId })
      .from(payments)
      .where(and(eq(payments.provider, 'bank'), inArray(payments.externalId, keys))),
    db
      .select({ key: statementLines.lineKey })
      .from(statementLines)
      .where(and(inArray(statementLines.lineKey, keys), eq(statementLines.result, 'awaiting_approval'))),
  ])
  return new Set([...known, ...waiting].map((row) => row.key))
}

/**
 * Counts, by payment, the lines for these orders that were imported in another format. The keys of lines can't be compared between formats,
 * because banks give the same entry different texts.
 */
async function countElsewhere(
  { db }: Database,
  format: StatementFormat,
  known: readonly KnownOrder[],
): Promise<Map<string, number>> {
  const orderIds = known.map(({ orderId }) => orderId)
  if (orderIds.length === 0) return new Map()
  const { orderId, bookedOn, amountCents, currency } = statementLines
  const rows = await db
    .select({ orderId, bookedOn, amountCents, currency, lines: count() })
    .from(statementLines)
    .innerJoin(statementImports, eq(statementImports.id, statementLines.importId))
    .where(
      and(
        inArray(orderId, orderIds),
        ne(statementImports.format, format),
        inArray(statementLines.result, ['credited', 'awaiting_approval', 'kept']),
      ),
    )
    .groupBy(orderId, bookedOn, amountCents, currency)
  return new Map(rows.map((row) => [paymentOf(row), row.lines]))
}

async function clearOldPreviews(transaction: Transaction): Promise<void> {
  const isOld = and(
    eq(statementImports.status, 'previewed'),
    lt(statementImports.createdAt, sql`now() - interval '1 day'`),
  )
  const old = await transaction
    .select({ id: statementImports.id })
    .from(statementImports)
    .where(isOld)
    .limit(INSERT_BATCH)
  const ids = old.map((row) => row.id)
  if (ids.length === 0) return
  // A preview with an interrupted commit has results, and is not deleted.
  const kept = await transaction
    .selectDistinct({ id: statementLines.importId })
    .from(statementLines)
    .where(and(inArray(statementLines.importId, ids), sql`${statementLines.result} IS NOT NULL`))
  const unused = ids.filter((id) => !kept.some((row) => row.id === id))
  if (unused.length === 0) return
  await transaction.delete(statementLines).where(inArray(statementLines.importId, unused))
  await transaction.delete(statementImports).where(inArray(statementImports.id, unused))
}
