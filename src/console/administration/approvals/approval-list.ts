/** The approvals as administrators see them: what would be done, who asked, who decided. */
import { eq, sql } from 'drizzle-orm'
import { MAX_PAGE_SIZE, PAGE_SIZE, type Page, pageOf, readCursor } from '@/console/administration/keyset'
import type { OrdersDeps } from '@/console/orders/orders'
import { type ApprovalStatus, approvals } from '@/db/administration-schema'
import { accounts } from '@/db/schema'
import type { Nano } from '@/lib/money'
import { expireApprovals } from './approvals'
import type { Operation } from './operation'

export type ApprovalSearch = {
  status?: ApprovalStatus
  cursor?: string
  /** 1 to 100, 50 where left out. */
  limit?: number
}

export type Approval = {
  approvalId: string
  operation: Operation
  /** The account it concerns, by id and name. */
  account: { accountId: string; name: string; email: string } | null
  amount: Nano
  reason: string
  status: ApprovalStatus
  requestedBy: { userId: string; email: string }
  requestedAt: Date
  expiresAt: Date
  decidedBy: { userId: string; email: string } | null
  decidedAt: Date | null
  note: string | null
}

/** One page, newest first. */
export async function listApprovals(deps: OrdersDeps, search: ApprovalSearch): Promise<Page<Approval>> {
  await expireApprovals(deps)
  const size = Math.min(search.limit ?? PAGE_SIZE, MAX_PAGE_SIZE)
  const after = search.cursor === undefined ? undefined : readCursor(search.cursor)
  const position = sql`(${approvals.requestedAt}, ${approvals.id})`
  const rows = await deps.database.db
    .select({
      approval: approvals,
      account: { accountId: accounts.id, name: accounts.name, email: accounts.email },
      requestedText: sql<string>`${approvals.requestedAt}::text`,
    })
    .from(approvals)
    .leftJoin(accounts, eq(accounts.id, approvals.accountId))
    .where(
      sql.join(
        [
          search.status === undefined ? sql`true` : eq(approvals.status, search.status),
          after === undefined ? sql`true` : sql`${position} < (${after.at}::text::timestamptz, ${after.id})`,
        ],
        sql` AND `,
      ),
    )
    .orderBy(sql`${approvals.requestedAt} DESC, ${approvals.id} DESC`)
    .limit(size + 1)
  const positioned = rows.map((row) => ({ ...row, position: { at: row.requestedText, id: row.approval.id } }))
  return pageOf(positioned, size, ({ approval, account }) => ({
    approvalId: approval.id,
    operation: approval.operation as Operation,
    account,
    amount: approval.amount,
    reason: approval.reason,
    status: approval.status,
    requestedBy: { userId: approval.requestedBy, email: approval.requestedByEmail },
    requestedAt: approval.requestedAt,
    expiresAt: approval.expiresAt,
    decidedBy:
      approval.decidedBy === null ? null : { userId: approval.decidedBy, email: approval.decidedByEmail ?? '' },
    decidedAt: approval.decidedAt,
    note: approval.note,
  }))
}
