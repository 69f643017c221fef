/** Orders and payments for administrators: found, confirmed, refunded, and payments that fitted no order resolved. */
import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'
import { GatewayError } from '@/chat/error'
import { guard } from '@/console/http/guard'
import { MAX_PAYMENT_CENTS } from '@/console/orders/limits'
import {
  ADMIN_PREFIX,
  type AdminDeps,
  administratorOf,
  ID,
  KEY,
  MONEY_ANSWER,
  moneyAnswer,
  NULLABLE_TEXT,
  PAGE,
  REASON,
  readCents,
  USD_INPUT,
} from './context'
import {
  FOUND_ORDER,
  foundOrderBody,
  ORDER_DETAILS,
  ORDER_METHOD,
  ORDER_STATE,
  orderDetailsBody,
  PAYMENT,
  PAYMENT_STATE,
  paymentBody,
} from './order-bodies'

const ORDER_QUERY = Type.Object({
  reference: Type.Optional(Type.String({ maxLength: 40, description: 'In any writing; the beginning is enough' })),
  email: Type.Optional(Type.String({ maxLength: 254, description: "A part of the account's address" })),
  accountId: Type.Optional(ID),
  amount: Type.Optional(USD_INPUT),
  state: Type.Optional(ORDER_STATE),
  method: Type.Optional(ORDER_METHOD),
  isClaimed: Type.Optional(t.BooleanString({ description: 'Only orders (not) said to be paid by the customer' })),
  ...PAGE,
})

const ORDER_PARAMS = Type.Object({ orderId: ID })
const PAYMENT_PARAMS = Type.Object({ paymentId: ID })

/** Mounts `/dashboard/api/admin/orders` and `/dashboard/api/admin/payments`. */
export function adminOrderRoutes(deps: AdminDeps) {
  return new Elysia({ name: 'admin-order-routes', prefix: ADMIN_PREFIX, tags: ['Dashboard'] })
    .use(orderRoutes(deps))
    .use(paymentRoutes(deps))
}

function orderRoutes(deps: AdminDeps) {
  const { administration, orders } = deps
  return new Elysia({ name: 'admin-orders', prefix: '/orders' })
    .use(guard(deps))
    .get(
      '',
      async ({ query: { amount, ...search } }) => {
        const amountCents = amount === undefined ? {} : { amountCents: readCents(amount, 'amount', MAX_PAYMENT_CENTS) }
        const page = await orders.search({ ...search, ...amountCents })
        return { ...page, items: page.items.map(foundOrderBody) }
      },
      {
        administrator: true,
        query: ORDER_QUERY,
        response: Type.Object({ items: Type.Array(FOUND_ORDER), nextCursor: NULLABLE_TEXT }),
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
        params: ORDER_PARAMS,
        response: ORDER_DETAILS,
        detail: { summary: 'Get an order', description: 'With its history and payments. For administrators.' },
      },
    )
    .post(
      '/:orderId/confirm',
      async ({ viewer, request, params, body: { amount, reason, key } }) => {
        const amountCents = readCents(amount, 'amount', MAX_PAYMENT_CENTS)
        const operation = { kind: 'order.confirm', ...params, amountCents } as const
        return moneyAnswer(
          await administration.request(administratorOf(deps, viewer, request), { operation, reason, key }),
        )
      },
      {
        administrator: true,
        params: ORDER_PARAMS,
        body: Type.Object({ amount: USD_INPUT, reason: REASON, key: KEY }, { additionalProperties: false }),
        response: MONEY_ANSWER,
        detail: {
          summary: 'Confirm a payment by hand',
          description:
            'Of an amount that does not fit, or an order that is not open, the payment is kept. For administrators.',
        },
      },
    )
    .post(
      '/:orderId/refund',
      async ({ viewer, request, params, body: { amount, allowNegative, reason, key } }) => {
        const amountCents = readCents(amount, 'amount', MAX_PAYMENT_CENTS)
        const operation = { kind: 'order.refund', ...params, amountCents, allowNegative } as const
        return moneyAnswer(
          await administration.request(administratorOf(deps, viewer, request), { operation, reason, key }),
        )
      },
      {
        administrator: true,
        params: ORDER_PARAMS,
        body: Type.Object(
          { amount: USD_INPUT, allowNegative: Type.Boolean(), reason: REASON, key: KEY },
          { additionalProperties: false },
        ),
        response: MONEY_ANSWER,
        detail: { summary: 'Refund an order', description: 'A part or the rest of what was paid. For administrators.' },
      },
    )
}

function paymentRoutes(deps: AdminDeps) {
  const { administration, orders } = deps
  return new Elysia({ name: 'admin-payments', prefix: '/payments' })
    .use(guard(deps))
    .get(
      '',
      async ({ query }) => {
        const page = await orders.payments(query)
        return { ...page, items: page.items.map(paymentBody) }
      },
      {
        administrator: true,
        query: Type.Object({ state: Type.Optional(PAYMENT_STATE), orderId: Type.Optional(ID), ...PAGE }),
        response: Type.Object({ items: Type.Array(PAYMENT), nextCursor: NULLABLE_TEXT }),
        detail: {
          summary: 'List payments',
          description: 'Unmatched ones where no state is asked for. For administrators.',
        },
      },
    )
    .post(
      '/:paymentId/credit',
      async ({ viewer, request, params, body: { orderId, amount, reason, key } }) => {
        const creditCents = readCents(amount, 'amount', MAX_PAYMENT_CENTS)
        const operation = { kind: 'payment.credit', ...params, orderId, creditCents } as const
        return moneyAnswer(
          await administration.request(administratorOf(deps, viewer, request), { operation, reason, key }),
        )
      },
      {
        administrator: true,
        params: PAYMENT_PARAMS,
        body: Type.Object(
          { orderId: ID, amount: USD_INPUT, reason: REASON, key: KEY },
          { additionalProperties: false },
        ),
        response: MONEY_ANSWER,
        detail: {
          summary: 'Credit an unmatched payment',
          description: 'To an order in any state. For administrators.',
        },
      },
    )
    .post(
      '/:paymentId/dismiss',
      async ({ viewer, request, params, body }) => {
        const by = administratorOf(deps, viewer, request)
        const outcome = await administration.dismissPayment(by, { ...params, ...body })
        if (outcome.kind === 'not_found') throw new GatewayError('not_found', 'There is no such payment.')
        if (outcome.kind === 'refused') throw new GatewayError('conflict', outcome.message, { code: 'refused' })
        return { payment: paymentBody(outcome.payment) }
      },
      {
        administrator: true,
        params: PAYMENT_PARAMS,
        body: Type.Object({ reason: REASON }, { additionalProperties: false }),
        response: Type.Object({ payment: PAYMENT }),
        detail: {
          summary: 'Dismiss an unmatched payment',
          description: 'Closes it without credit. For administrators.',
        },
      },
    )
}
