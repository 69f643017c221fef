/** The routes of orders and payments for administrators. */
import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'
import { GatewayError } from '@/chat/error'
import { guard } from '@/console/http/guard'
import { PAGE } from '@/console/http/pages'
import { exactly, listOf, mapPage } from '@/console/http/wire'
import { MAX_PAYMENT_CENTS } from '@/console/orders/limits'
import {
  ADMIN_PREFIX,
  type AdminDeps,
  administratorOf,
  Id,
  MoneyAnswer,
  Reason,
  RepetitionKey,
  readCents,
  requestMoney,
  UsdInput,
} from './context'
import {
  FoundOrderBody,
  foundOrderBody,
  MethodName,
  OrderDetailBody,
  orderDetailsBody,
  PaymentBody,
  PaymentStateName,
  paymentBody,
  ReversalBody,
  reversalBody,
  StateName,
} from './order-bodies'

const OrderQuery = Type.Object({
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

const OrderParams = Type.Object({ orderId: Id })
const PaymentParams = Type.Object({ paymentId: Id })

export function adminOrderRoutes(deps: AdminDeps) {
  return new Elysia({ name: 'admin-order-routes', prefix: ADMIN_PREFIX, tags: ['Administration'] })
    .use(orderRoutes(deps))
    .use(paymentRoutes(deps))
    .use(reversalRoutes(deps))
}

function orderRoutes(deps: AdminDeps) {
  const { orders } = deps
  return new Elysia({ name: 'admin-orders', prefix: '/orders' })
    .use(guard(deps))
    .get(
      '',
      async ({ query: { amount, ...search } }) => {
        const amountCents = amount === undefined ? {} : { amountCents: readCents(amount, 'amount', MAX_PAYMENT_CENTS) }
        return mapPage(await orders.search({ ...search, ...amountCents }), foundOrderBody)
      },
      {
        administrator: true,
        query: OrderQuery,
        response: listOf(FoundOrderBody),
        detail: { summary: 'Search orders', description: 'Of all accounts, newest first. For administrators.' },
      },
    )
    .get(
      '/:orderId',
      async ({ params }) => {
        const order = await orders.get(params.orderId)
        if (!order) throw new GatewayError('not_found', 'There is no such order.')
        return orderDetailsBody(order)
      },
      {
        administrator: true,
        params: OrderParams,
        response: OrderDetailBody,
        detail: { summary: 'Get an order', description: 'With its events and payments. For administrators.' },
      },
    )
    .post(
      '/:orderId/confirm',
      async ({ by, params, body: { amount, reason, key } }) => {
        const amountCents = readCents(amount, 'amount', MAX_PAYMENT_CENTS)
        const operation = { kind: 'order.confirm', ...params, amountCents } as const
        return requestMoney(deps, by, { operation, reason, key })
      },
      {
        movesMoney: true,
        params: OrderParams,
        body: exactly({ amount: UsdInput, reason: Reason, key: RepetitionKey }),
        response: MoneyAnswer,
        detail: {
          summary: 'Confirm a payment by hand',
          description:
            'If the amount does not fit or the order is not open, the payment is stored for matching. For administrators.',
        },
      },
    )
    .post(
      '/:orderId/refund',
      async ({ by, params, body: { amount, allowNegative, reason, key } }) => {
        const amountCents = readCents(amount, 'amount', MAX_PAYMENT_CENTS)
        const operation = { kind: 'order.refund', ...params, amountCents, allowNegative } as const
        return requestMoney(deps, by, { operation, reason, key })
      },
      {
        movesMoney: true,
        params: OrderParams,
        body: exactly({ amount: UsdInput, allowNegative: Type.Boolean(), reason: Reason, key: RepetitionKey }),
        response: MoneyAnswer,
        detail: { summary: 'Refund an order', description: 'A part or the rest of what was paid. For administrators.' },
      },
    )
}

function paymentRoutes(deps: AdminDeps) {
  const { administration, orders } = deps
  return new Elysia({ name: 'admin-payments', prefix: '/payments' })
    .use(guard(deps))
    .get('', async ({ query }) => mapPage(await orders.payments(query), paymentBody), {
      administrator: true,
      query: Type.Object({ state: Type.Optional(PaymentStateName), orderId: Type.Optional(Id), ...PAGE }),
      response: listOf(PaymentBody),
      detail: {
        summary: 'List payments',
        description: 'Unmatched payments by default. For administrators.',
      },
    })
    .post(
      '/:paymentId/credit',
      async ({ by, params, body: { orderId, amount, reason, key } }) => {
        const creditCents = readCents(amount, 'amount', MAX_PAYMENT_CENTS)
        const operation = { kind: 'payment.credit', ...params, orderId, creditCents } as const
        return requestMoney(deps, by, { operation, reason, key })
      },
      {
        movesMoney: true,
        params: PaymentParams,
        body: exactly({ orderId: Id, amount: UsdInput, reason: Reason, key: RepetitionKey }),
        response: MoneyAnswer,
        detail: {
          summary: 'Credit an unmatched payment',
          description: 'To an order in any state. For administrators.',
        },
      },
    )
    .post(
      '/:paymentId/dismiss',
      async ({ by, params, body }) => {
        const outcome = await administration.dismissPayment(administratorOf(by), { ...params, ...body })
        if (outcome.kind === 'not_found') throw new GatewayError('not_found', 'There is no such payment.')
        if (outcome.kind === 'refused') throw new GatewayError('conflict', outcome.message, { code: 'refused' })
        return { payment: paymentBody(outcome.payment) }
      },
      {
        movesMoney: true,
        params: PaymentParams,
        body: exactly({ reason: Reason }),
        response: Type.Object({ payment: PaymentBody }),
        detail: {
          summary: 'Dismiss an unmatched payment',
          description: 'Closes it without credit. For administrators.',
        },
      },
    )
}

function reversalRoutes(deps: AdminDeps) {
  return new Elysia({ name: 'admin-reversals', prefix: '/reversals' })
    .use(guard(deps))
    .get('', async ({ query }) => mapPage(await deps.orders.openReversals(query), reversalBody), {
      administrator: true,
      query: Type.Object({ ...PAGE }),
      response: listOf(ReversalBody),
      detail: {
        summary: 'List chargebacks and refunds that moved nothing',
        description:
          'Reversals of unknown payments, and reversals that an administrator must check. For administrators.',
      },
    })
}
