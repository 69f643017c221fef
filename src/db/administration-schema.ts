/** The audit log, approvals and bank statements, for typed queries (src/db/migrations/0007_orders.sql). */
import { bigint, date, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { amount, moment } from './columns'

/** The facts of an audit entry. They have no nested values, so that equal facts always give the same text. */
export type AuditDetails = Record<string, string | number | boolean | null>

export const auditEntries = pgTable('audit_entries', {
  /** 1, 2, 3, … without gaps. */
  seq: bigint('seq', { mode: 'number' }).primaryKey(),
  at: moment('at').notNull(),
  actorId: text('actor_id'),
  actorEmail: text('actor_email').notNull(),
  action: text('action').notNull(),
  subject: text('subject').notNull(),
  accountId: text('account_id'),
  details: jsonb('details').$type<AuditDetails>().notNull(),
  ip: text('ip'),
  requestId: text('request_id'),
  previousHash: text('previous_hash').notNull(),
  hash: text('hash').notNull().unique(),
})

export const APPROVAL_STATUSES = ['pending', 'executed', 'failed', 'rejected', 'withdrawn', 'expired'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

export const approvals = pgTable(
  'approvals',
  {
    id: text('id').primaryKey(),
    kind: text('kind').notNull(),
    accountId: text('account_id'),
    amount: amount('amount_nano').notNull(),
    operation: jsonb('operation').notNull(),
    reason: text('reason').notNull(),
    status: text('status').$type<ApprovalStatus>().notNull().default('pending'),
    requestedBy: text('requested_by').notNull(),
    requestedByEmail: text('requested_by_email').notNull(),
    requestedAt: moment('requested_at').notNull().defaultNow(),
    expiresAt: moment('expires_at').notNull(),
    decidedBy: text('decided_by'),
    decidedByEmail: text('decided_by_email'),
    decidedAt: moment('decided_at'),
    note: text('note'),
    requestId: text('request_id').notNull().unique(),
    requestDigest: text('request_digest').notNull(),
  },
  (table) => [index('approvals_list_index').on(table.requestedAt.desc(), table.id.desc())],
)

export const unapprovedMovements = pgTable('unapproved_movements', {
  requestId: text('request_id').primaryKey(),
  requestDigest: text('request_digest').notNull(),
  userId: text('user_id').notNull(),
  accountId: text('account_id').notNull(),
  kind: text('kind').notNull(),
  /** The amount without its sign: positive for a debit too. */
  amount: amount('amount_nano').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
})

/** The kinds of files that bank statements are read from. */
export type StatementFormat = 'csv' | 'camt.053'

export const statementImports = pgTable('statement_imports', {
  id: text('id').primaryKey(),
  digest: text('digest').notNull(),
  format: text('format').$type<StatementFormat>().notNull(),
  status: text('status').$type<'previewed' | 'committed'>().notNull().default('previewed'),
  uploadedBy: text('uploaded_by').notNull(),
  createdAt: moment('created_at').notNull().defaultNow(),
  committedAt: moment('committed_at'),
})

/** The preview's verdicts on a line; see src/console/administration/statements/verdict.ts. */
export const LINE_VERDICTS = [
  'credit',
  'amount_differs',
  'order_not_open',
  'wrong_method',
  'already_imported',
  'second_for_order',
  'unknown_reference',
  'several_references',
  'no_reference',
  'outgoing',
  'not_booked',
  'reversal',
  'unclear_batch',
] as const
export type LineVerdict = (typeof LINE_VERDICTS)[number]

/** The result of a line. `kept`: an administrator decides. `refused`: imported since the preview. `rejected`: may be imported again. */
export const LINE_RESULTS = ['credited', 'awaiting_approval', 'kept', 'refused', 'rejected'] as const
export type LineResult = (typeof LINE_RESULTS)[number]

export const statementLines = pgTable(
  'statement_lines',
  {
    importId: text('import_id').notNull(),
    line: integer('line').notNull(),
    lineKey: text('line_key').notNull(),
    bookedOn: date('booked_on').notNull(),
    amountCents: bigint('amount_cents', { mode: 'number' }).notNull(),
    currency: text('currency').notNull(),
    reference: text('reference').notNull(),
    counterparty: text('counterparty').notNull(),
    verdict: text('verdict').$type<LineVerdict>().notNull(),
    orderId: text('order_id'),
    result: text('result').$type<LineResult>(),
    approvalId: text('approval_id'),
  },
  (table) => [primaryKey({ columns: [table.importId, table.line] })],
)
