/** The administrators' operations on orders, payments and credit. */
import { Type } from '@sinclair/typebox'
import { PageQuery } from '@/console/http/pages'
import { listOf } from '@/console/http/wire'
import { type AdminDeps, Id, Usd } from '@/people/administration/context'
import { administrationOver } from '@/people/operation'
import { FoundOrderBody, OrderDetailBody, PaymentBody, ReversalBody } from './admin-bodies'
import * as admin from './administration'
import * as approvals from './approvals'
import { SEARCH_COMMANDS, SETTLE_COMMAND, SHOW_COMMAND } from './commands'
import { IMPORT_COMMAND, PREVIEW_COMMAND } from './statement-commands'
import * as statements from './statements'

const operation = administrationOver<AdminDeps>()

const search = operation('order.search', 'GET /orders', 'administrator', {
  summary: 'Search orders',
  description: 'Of all accounts, newest first. For administrators.',
  takes: admin.OrderQuery,
  gives: listOf(FoundOrderBody),
  commands: SEARCH_COMMANDS,
  run: admin.searchOrders,
})

const show = operation('order.details', 'GET /orders/:orderId', 'administrator', {
  summary: 'Get an order',
  description: 'With its events and payments. For administrators.',
  names: { orderId: Id },
  gives: OrderDetailBody,
  commands: [SHOW_COMMAND, SETTLE_COMMAND],
  run: admin.showOrder,
})

const confirm = operation('payment.confirm', 'POST /orders/:orderId/confirm', 'movesMoney', {
  summary: 'Confirm a payment by hand',
  description:
    'If the amount does not fit or the order is not open, the payment is stored for matching. For administrators.',
  names: { orderId: Id },
  takes: admin.ConfirmBody,
  gives: admin.MoneyAnswer,
  run: admin.confirmOrder,
})

const refund = operation('order.refund', 'POST /orders/:orderId/refund', 'movesMoney', {
  summary: 'Refund an order',
  description: 'A part or the rest of what was paid. For administrators.',
  names: { orderId: Id },
  takes: admin.RefundBody,
  gives: admin.MoneyAnswer,
  run: admin.refundOrder,
})

const payments = operation('payment.list', 'GET /payments', 'administrator', {
  summary: 'List payments',
  description: 'Unmatched payments by default. For administrators.',
  takes: admin.PaymentQuery,
  gives: listOf(PaymentBody),
  run: admin.listPayments,
})

const credit = operation('payment.credit', 'POST /payments/:paymentId/credit', 'movesMoney', {
  summary: 'Credit an unmatched payment',
  description: 'To an order in any state. For administrators.',
  names: { paymentId: Id },
  takes: admin.CreditBody,
  gives: admin.MoneyAnswer,
  run: admin.creditPayment,
})

const dismiss = operation('payment.dismiss', 'POST /payments/:paymentId/dismiss', 'movesMoney', {
  summary: 'Dismiss an unmatched payment',
  description: 'Closes it without credit. For administrators.',
  names: { paymentId: Id },
  takes: admin.DismissBody,
  gives: Type.Object({ payment: PaymentBody }),
  run: admin.dismissPayment,
})

const reversals = operation('reversal.list', 'GET /reversals', 'administrator', {
  summary: 'List chargebacks and refunds that moved nothing',
  description: 'Reversals of unknown payments, and reversals that an administrator must check. For administrators.',
  takes: PageQuery,
  gives: listOf(ReversalBody),
  run: admin.listReversals,
})

const adjust = operation('credit.adjust', 'POST /accounts/:accountId/adjustments', 'movesMoney', {
  summary: 'Adjust credit',
  description: 'Up or down. Above the limit of a day a second administrator has to agree. For administrators.',
  names: { accountId: Id },
  takes: admin.AdjustmentBody,
  gives: admin.MoneyAnswer,
  run: admin.adjustCredit,
})

const preview = operation('statement.preview', 'POST /statements/preview', 'administrator', {
  summary: 'Preview a bank statement',
  description: 'Says of each line what a commit would do. Nothing is credited. For administrators.',
  takes: statements.StatementBody,
  maxBodyBytes: statements.MAX_PREVIEW_BYTES,
  gives: statements.PreviewBody,
  commands: [PREVIEW_COMMAND],
  run: statements.previewStatement,
})

const commit = operation('statement.commit', 'POST /statements/:importId/commit', 'movesMoney', {
  summary: 'Commit a previewed bank statement',
  description: 'Exactly the lines of the preview, each once; those above the limit wait for a second administrator.',
  names: { importId: Id },
  takes: statements.CommitBody,
  gives: statements.CommittedBody,
  commands: [IMPORT_COMMAND],
  run: statements.commitStatement,
})

const list = operation('approval.list', 'GET /approvals', 'administrator', {
  summary: 'List approvals',
  description: 'Newest first. For administrators.',
  takes: approvals.ApprovalQuery,
  gives: Type.Composite([listOf(approvals.ApprovalBody), Type.Object({ approvalLimit: Usd })]),
  run: approvals.listApprovals,
})

const DECISION = { names: { approvalId: Id }, takes: approvals.DecisionBody, gives: approvals.DecidedBody }

const approve = operation('approval.executed', 'POST /approvals/:approvalId/approve', 'movesMoney', {
  summary: 'Approve',
  description: 'Performs the request, once. The requesting administrator cannot approve it. For administrators.',
  ...DECISION,
  run: (call, body) => approvals.decide(call, 'approve', body),
})

const reject = operation('approval.rejected', 'POST /approvals/:approvalId/reject', 'administrator', {
  summary: 'Reject',
  description: 'The requesting administrator cannot reject it. For administrators.',
  ...DECISION,
  run: (call, body) => approvals.decide(call, 'reject', body),
})

const withdraw = operation('approval.withdrawn', 'POST /approvals/:approvalId/withdraw', 'administrator', {
  summary: 'Withdraw',
  description: 'Only by the requesting administrator. For administrators.',
  ...DECISION,
  run: (call, body) => approvals.decide(call, 'withdraw', body),
})

/** Operations in the order of the API document. */
export const CREDIT_ADMINISTRATION = [
  ...[adjust, search, show, confirm, refund, payments, credit, dismiss, reversals],
  ...[preview, commit, list, approve, reject, withdraw],
] as const
