/** Approvals, by which a second administrator agrees to an operation that moves money. */
import { type Static, Type } from '@sinclair/typebox'
import { GatewayError } from '@/chat/error'
import type { Approval } from '@/console/administration/approvals/approval-list'
import type { DecideOutcome, Decision } from '@/console/administration/approvals/approvals'
import type { Operation } from '@/console/administration/approvals/operation'
import { PAGE } from '@/console/http/pages'
import { exactly, isoMoments, mapPage, NullableText } from '@/console/http/wire'
import { formatCents } from '@/console/orders/cents'
import { APPROVAL_STATUSES } from '@/db/administration-schema'
import { formatUsd, nano } from '@/lib/money'
import { oneOf, orNull } from '@/lib/schemas'
import { administratorOf } from '@/people/administration/context'
import type { AdminCall } from './administration'

const StatusName = oneOf(APPROVAL_STATUSES)
const KINDS = [
  'credit.add',
  'credit.adjust',
  'order.confirm',
  'order.refund',
  'payment.credit',
  'statement.credit',
] as const satisfies readonly Operation['kind'][]

const PersonBody = Type.Object({ userId: Type.String(), email: Type.String() })

export const ApprovalBody = Type.Object({
  approvalId: Type.String(),
  kind: oneOf(KINDS),
  amount: Type.String({ description: 'Decimal USD; negative if credit is taken back' }),
  orderId: NullableText,
  facts: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
    description: 'All other effects, in words',
  }),
  account: orNull(Type.Object({ accountId: Type.String(), name: Type.String(), email: Type.String() })),
  reason: Type.String(),
  status: StatusName,
  requestedBy: PersonBody,
  isOwn: Type.Boolean({ description: 'Whether the reader made the request' }),
  requestedAt: Type.String(),
  expiresAt: Type.String(),
  decidedBy: orNull(PersonBody),
  decidedAt: NullableText,
  note: NullableText,
})

export const ApprovalQuery = Type.Object({ status: Type.Optional(StatusName), ...PAGE })
export const DecisionBody = exactly({ note: Type.String({ maxLength: 500 }) })
export const DecidedBody = Type.Object({ status: StatusName })

/** One page of approvals, with the limit above which they are needed. */
export async function listApprovals({ deps, viewer }: AdminCall, query: Static<typeof ApprovalQuery>) {
  const { administration } = deps
  const page = mapPage(await administration.listApprovals(query), (item) => approvalBody(item, viewer.userId))
  return { ...page, approvalLimit: formatUsd(administration.approvalLimit) }
}

/** Approves or rejects another administrator's request. */
export async function decide(
  { deps, by, params: { approvalId } }: AdminCall & { params: { approvalId: string } },
  decision: Decision,
  body: Static<typeof DecisionBody>,
) {
  const note = body.note.trim()
  return decided(await deps.administration.decide(administratorOf(by), { approvalId, decision, note }))
}

const FORBIDDEN = {
  own_request: 'Another administrator has to decide on what you asked for.',
  own_account: 'Another administrator has to decide on money for your own account.',
  not_own_request: 'Only the administrator who asked may withdraw it.',
}

function decided(outcome: DecideOutcome): Static<typeof DecidedBody> {
  switch (outcome.kind) {
    case 'decided':
      return { status: outcome.status }
    case 'not_found':
      throw new GatewayError('not_found', 'There is no such approval.')
    case 'not_pending':
      throw new GatewayError('conflict', `It is ${outcome.status} already.`, { code: 'not_pending' })
    case 'own_request':
    case 'own_account':
    case 'not_own_request':
      throw new GatewayError('forbidden', FORBIDDEN[outcome.kind], { code: outcome.kind })
    case 'failed':
      throw new GatewayError('conflict', `It could not be done: ${outcome.message}`, { code: 'failed' })
  }
}

function approvalBody(approval: Approval, viewerId: string): Static<typeof ApprovalBody> {
  const { operation, amount: _, ...rest } = approval
  return {
    ...isoMoments(rest),
    kind: operation.kind,
    amount: signedAmount(approval),
    orderId: 'amountNano' in operation ? null : operation.orderId,
    facts: factsOf(operation),
    isOwn: rest.requestedBy.userId === viewerId,
  }
}

function signedAmount({ operation, amount }: Approval): string {
  if ('amountNano' in operation) return formatUsd(nano(operation.amountNano))
  return operation.kind === 'order.refund' ? `-${formatUsd(amount)}` : formatUsd(amount)
}

type Fact = { name: string; value: string }

function factsOf(operation: Operation): Fact[] {
  switch (operation.kind) {
    case 'credit.add':
      return [{ name: 'Reference', value: operation.reference }, negative(false)]
    case 'credit.adjust':
      return [negative(operation.allowNegative)]
    case 'order.refund':
      return [{ name: 'Order', value: operation.orderId }, negative(operation.allowNegative)]
    case 'order.confirm':
      return [{ name: 'Order', value: operation.orderId }]
    case 'payment.credit':
      return [
        { name: 'Payment', value: operation.paymentId },
        { name: 'Order', value: operation.orderId },
      ]
    case 'statement.credit':
      return [
        { name: 'Order', value: operation.reference },
        { name: 'Booked on', value: operation.bookedOn },
        { name: 'Paid', value: `${formatCents(operation.amountCents)} ${operation.currency}` },
        { name: 'From', value: operation.payer },
        { name: 'Text', value: operation.text },
      ]
  }
}

function negative(isAllowed: boolean): Fact {
  return { name: 'Balance below zero', value: isAllowed ? 'allowed' : 'not allowed' }
}
