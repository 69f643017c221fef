import { and, eq, sql } from 'drizzle-orm'
import { BY_VALUE_AND_ID } from '@/console/administration/keyset'
import type { OrdersDeps } from '@/console/orders/orders'
import { type ApprovalStatus, approvals } from '@/db/administration-schema'
import { type Page, type PageRequest, page } from '@/db/paging'
import { accounts } from '@/db/schema'
import type { Nano } from '@/lib/money'
import { expireApprovals } from './approvals'
import type { Operation } from './operation'

type ApprovalSearch = PageRequest & {
  status?: ApprovalStatus
}

export type Approval = {
  approvalId: string
  operation: Operation
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

/** One page of approvals for administrators, newest first: the operation, its requester, and the deciding administrator. */
export async function listApprovals(deps: OrdersDeps, search: ApprovalSearch): Promise<Page<Approval>> {
  await expireApprovals(deps)
  const position = sql`(${approvals.requestedAt}, ${approvals.id})`
  return await page(search, {
    checks: BY_VALUE_AND_ID,
    read: (after, limit) =>
      deps.database.db
        .select({
          approval: approvals,
          account: { accountId: accounts.id, name: accounts.name, email: accounts.email },
          requestedText: sql<string>`${approvals.requestedAt}::text`,
        })
        .from(approvals)
        .leftJoin(accounts, eq(accounts.id, approvals.accountId))
        .where(
          and(
            search.status === undefined ? undefined : eq(approvals.status, search.status),
            after && sql`${position} < (${after[0]}::text::timestamptz, ${after[1]})`,
          ),
        )
        .orderBy(sql`${approvals.requestedAt} DESC, ${approvals.id} DESC`)
        .limit(limit),
    placeOf: ({ approval, requestedText }) => [requestedText, approval.id],
    toItem: toApproval,
  })
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
