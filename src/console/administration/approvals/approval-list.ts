/** The approvals as administrators see them: what would be done, who asked, who decided. */
import { eq, sql } from 'drizzle-orm'
import { readCursor } from '@/console/administration/keyset'
import type { OrdersDeps } from '@/console/orders/orders'
import { type ApprovalStatus, approvals } from '@/db/administration-schema'
import { accounts } from '@/db/schema'
import type { Nano } from '@/lib/money'
import { cutPage, type Page, type PageRequest, pageSize } from '@/lib/paging'
import { expireApprovals } from './approvals'
import type { Operation } from './operation'

type ApprovalSearch = PageRequest & {
  status?: ApprovalStatus
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

type ApprovalRow = { approval: typeof approvals.$inferSelect; account: Approval['account'] }

/** One page, newest first. */
export async function listApprovals(deps: OrdersDeps, search: ApprovalSearch): Promise<Page<Approval>> {
  await expireApprovals(deps)
  const size = pageSize(search)
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
  return cutPage(rows, size, ({ approval, requestedText }) => [requestedText, approval.id], toApproval)
}

function toApproval({ approval, account }: ApprovalRow): Approval {
  return {
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
  }
}
