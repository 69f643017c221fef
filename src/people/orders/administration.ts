/** Administrators' operations on orders, payments and credit. `approvals.ts` has the decisions of a second administrator. */
import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { GatewayError, invalidRequest } from '@/chat/error'
import type { MoneyRequest } from '@/console/administration/administration'
import { PAGE } from '@/console/http/pages'
import { exactly, mapPage, NullableText } from '@/console/http/wire'
import { formatCents, parseCents } from '@/console/orders/cents'
import { MAX_PAYMENT_CENTS } from '@/console/orders/limits'
import type { PageRequest } from '@/db/paging'
import { parseUsd } from '@/lib/money'
import { oneOf } from '@/lib/schemas'
import { type AdminDeps, administratorOf, Id, Reason, UsdInput } from '@/people/administration/context'
import type { AdministrationCaller } from '@/people/operation'
import { foundOrderBody, orderDetailsBody, PaymentStateName, paymentBody, reversalBody } from './admin-bodies'
import { MethodName, StateName } from './bodies'
import { noSuchOrder } from './orders'

/** An administrator's call. */
export type AdminCall = AdministrationCaller & { deps: AdminDeps }
type OnOrder = AdminCall & { params: { orderId: string } }
type OnPayment = AdminCall & { params: { paymentId: string } }

/** The fields of each request that moves money: the reason, and the request key. */
const MOVE = {
  reason: Reason,
  key: Type.String({
    minLength: 8,
    maxLength: 60,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'Chosen by the sender. A repeated request with the same key has no further effect.',
  }),
}
const AllowNegative = Type.Boolean()

export const MoneyAnswer = Type.Object({
  status: oneOf(['done', 'awaiting_approval'], {
    description: '`awaiting_approval`: above the limit, a second administrator has to agree.',
  }),
  approvalId: NullableText,
})

export const OrderQuery = Type.Object({
  reference: Type.Optional(Type.String({ maxLength: 40, description: 'In any writing; the beginning is enough' })),
  email: Type.Optional(Type.String({ maxLength: 254, description: "A part of the account's address" })),
  accountId: Type.Optional(Id),
  amount: Type.Optional(UsdInput),
  state: Type.Optional(StateName),
  method: Type.Optional(MethodName),
  isClaimed: Type.Optional(
    t.BooleanString({ description: 'Only orders that the customer has (not) reported as paid' }),
  ),
  ...PAGE,
})

export const PaymentQuery = Type.Object({
  state: Type.Optional(PaymentStateName),
  orderId: Type.Optional(Id),
  ...PAGE,
})

export const ConfirmBody = exactly({ amount: UsdInput, ...MOVE })
export const RefundBody = exactly({ amount: UsdInput, allowNegative: AllowNegative, ...MOVE })
export const CreditBody = exactly({ orderId: Id, amount: UsdInput, ...MOVE })
export const DismissBody = exactly({ reason: Reason })
export const AdjustmentBody = exactly({
  amount: Type.String({
    minLength: 1,
    maxLength: 20,
    examples: ['25', '-12.5'],
    description: 'Decimal USD; negative takes back',
  }),
  allowNegative: Type.Boolean({ description: 'Whether the balance may go below zero by it' }),
  ...MOVE,
})

/** One page of the orders of all accounts. */
export async function searchOrders({ deps }: AdminCall, { amount, ...search }: Static<typeof OrderQuery>) {
  const amountCents = amount === undefined ? {} : { amountCents: readCents(amount) }
  return mapPage(await deps.orders.search({ ...search, ...amountCents }), foundOrderBody)
}

/** One order with all its events and payments. */
export async function showOrder({ deps, params }: OnOrder) {
  const order = await deps.orders.get(params.orderId)
  if (!order) throw noSuchOrder()
  return orderDetailsBody(order)
}

/** Confirms that an order's payment has arrived. */
export async function confirmOrder(call: OnOrder, { amount, ...rest }: Static<typeof ConfirmBody>) {
  const { orderId } = call.params
  const operation = { kind: 'order.confirm', orderId, amountCents: readCents(amount) } as const
  return await moveMoney(call, { operation, ...rest })
}

/** Refunds an order. */
export async function refundOrder(call: OnOrder, { amount, allowNegative, ...rest }: Static<typeof RefundBody>) {
  const { orderId } = call.params
  const operation = { kind: 'order.refund', orderId, amountCents: readCents(amount), allowNegative } as const
  return await moveMoney(call, { operation, ...rest })
}

/** One page of payments; unmatched ones if no state is given. */
export async function listPayments({ deps }: AdminCall, query: Static<typeof PaymentQuery>) {
  return mapPage(await deps.orders.payments(query), paymentBody)
}

/** Credits an unmatched payment to an order. */
export async function creditPayment(call: OnPayment, { orderId, amount, ...rest }: Static<typeof CreditBody>) {
  const { paymentId } = call.params
  const operation = { kind: 'payment.credit', paymentId, orderId, creditCents: readCents(amount) } as const
  return await moveMoney(call, { operation, ...rest })
}

/** Closes an unmatched payment without credit. */
export async function dismissPayment({ deps, by, params: { paymentId } }: OnPayment, body: Static<typeof DismissBody>) {
  const outcome = await deps.administration.dismissPayment(administratorOf(by), { paymentId, ...body })
  if (outcome.kind === 'not_found') throw new GatewayError('not_found', 'There is no such payment.')
  if (outcome.kind === 'refused') throw refused(outcome.message)
  return { payment: paymentBody(outcome.payment) }
}

/** One page of the reversals without effect on credit. */
export async function listReversals({ deps }: AdminCall, query: PageRequest) {
  return mapPage(await deps.orders.openReversals(query), reversalBody)
}

/** Adds credit to an account, or removes it. */
export async function adjustCredit(
  call: AdminCall & { params: { accountId: string } },
  { amount, allowNegative, ...rest }: Static<typeof AdjustmentBody>,
) {
  const { accountId } = call.params
  const amountNano = parseUsd(amount)
  if (amountNano === undefined || amountNano === 0) {
    throw invalidRequest('amount: must be an amount of USD such as 25 or -12.50, and not zero.', 'amount')
  }
  const operation = { kind: 'credit.adjust', accountId, amountNano, allowNegative } as const
  return await moveMoney(call, { operation, ...rest })
}

/** Throws 404 if the subject does not exist, and 409 if the operation is refused. */
async function moveMoney({ deps, by }: AdminCall, request: MoneyRequest): Promise<Static<typeof MoneyAnswer>> {
  const outcome = await deps.administration.request(administratorOf(by), request)
  switch (outcome.kind) {
    case 'done':
      return { status: 'done', approvalId: null }
    case 'awaiting_approval':
      return { status: 'awaiting_approval', approvalId: outcome.approvalId }
    case 'not_found':
      throw new GatewayError('not_found', 'It does not exist.')
    case 'refused':
      throw refused(outcome.message)
  }
}

function refused(message: string): GatewayError {
  return new GatewayError('conflict', message, { code: 'refused' })
}

function readCents(text: string): number {
  const cents = parseCents(text)
  if (cents !== undefined && cents > 0 && cents <= MAX_PAYMENT_CENTS) return cents
  const maximum = formatCents(MAX_PAYMENT_CENTS)
  throw invalidRequest(`amount: must be an amount such as 12.50, above zero, at most ${maximum} USD.`, 'amount')
}
