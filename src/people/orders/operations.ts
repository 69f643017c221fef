/** The operations on an account's orders of credit, on its auto top-up, and on credit that is moved to another account. */
import { Type } from '@sinclair/typebox'
import { PageQuery } from '@/console/http/pages'
import { listOf } from '@/console/http/wire'
import { MAX_OPEN_ORDERS } from '@/console/orders/limits'
import { operationsOver } from '@/people/operation'
import * as topUp from './auto-top-up'
import { OrderBody, OrderDetailBody } from './bodies'
import * as orders from './orders'
import * as transfers from './transfers'

const operation = operationsOver<orders.OrderDeps & transfers.TransferDeps>()

const options = operation('order.options', 'GET /orders/options', 'billing.read', undefined, {
  summary: 'Ways to buy credit',
  description: 'Limits of an order and the methods on offer; a method that is null is not offered.',
  gives: orders.Options,
  run: orders.readOptions,
})

const list = operation('order.list', 'GET /orders', 'billing.read', 'billing:read', {
  summary: 'List orders of credit',
  description: 'Newest first.',
  takes: PageQuery,
  gives: listOf(OrderBody, { description: 'Newest first' }),
  run: orders.listOrders,
})

const create = operation('order.create', 'POST /orders', 'billing.pay', undefined, {
  summary: 'Order credit',
  description: `Nothing is credited before its payment has arrived. At most ${MAX_OPEN_ORDERS} may be open (409).`,
  takes: orders.NewOrderBody,
  gives: OrderBody,
  run: orders.createOrder,
})

const show = operation('order.show', 'GET /orders/:orderId', 'billing.read', 'billing:read', {
  summary: 'Get an order',
  description: 'With payment details, events, payments, and the receipt once it is paid.',
  names: orders.ORDER_PARAMS,
  gives: OrderDetailBody,
  run: orders.showOrder,
})

const setUp = operation('order.set_up', 'POST /orders/:orderId/set-up', 'billing.pay', undefined, {
  summary: 'Set the payment of an order up',
  description: 'For a deposit without a page to pay on. A payment that exists is never set up again.',
  names: orders.ORDER_PARAMS,
  gives: OrderBody,
  run: orders.setUpPayment,
})

const document = operation('order.document', 'GET /orders/:orderId/document', 'billing.read', undefined, {
  summary: "Get the provider's invoice or receipt",
  description: 'The document’s address. 404 if there is none yet.',
  names: orders.ORDER_PARAMS,
  gives: Type.Object({ url: Type.String() }),
  run: orders.findDocument,
})

const cancel = operation('order.cancel', 'POST /orders/:orderId/cancel', 'billing.pay', undefined, {
  summary: 'Cancel an order',
  description: 'Only while it waits for money (409 otherwise).',
  names: orders.ORDER_PARAMS,
  gives: OrderBody,
  run: orders.cancelOrder,
})

const claim = operation('order.claim', 'POST /orders/:orderId/claim-paid', 'billing.pay', undefined, {
  summary: 'Say that an order is paid',
  description:
    'A note for the administrators who match payments; credits nothing. Only while the order waits for money (409 otherwise).',
  names: orders.ORDER_PARAMS,
  takes: orders.ClaimBody,
  gives: OrderBody,
  run: orders.claimPaid,
})

const showTopUp = operation('auto_top_up.show', 'GET /auto-top-up', 'billing.read', 'billing:read', {
  summary: 'Get the auto top-up',
  description: 'Its card, amounts and latest orders. Without a card it is off.',
  gives: topUp.AutoTopUpBody,
  run: topUp.showTopUp,
})

const turnOn = operation('auto_top_up.on', 'PUT /auto-top-up', 'billing.pay', undefined, {
  isProved: true,
  summary: 'Turn the auto top-up on',
  description:
    'Or change its amounts. One agrees to charges of the saved card without being asked again. If the balance is below ' +
    '`belowUsd` already, the card is charged at once. Needs a fresh proof of who one is (403 `step_up_required`).',
  takes: topUp.AmountsBody,
  gives: topUp.AutoTopUpBody,
  run: topUp.turnOnTopUp,
})

const turnOff = operation('auto_top_up.off', 'POST /auto-top-up/off', 'billing.pay', undefined, {
  summary: 'Turn the auto top-up off',
  description: 'The card stays saved.',
  gives: topUp.AutoTopUpBody,
  run: topUp.turnOffTopUp,
})

const openCardPage = operation('auto_top_up.card_page', 'POST /auto-top-up/card', 'billing.pay', undefined, {
  summary: 'Open a page to save a card on',
  description: "It is a page of the payment provider. A new card takes the former one's place.",
  gives: Type.Object({ url: Type.String({ description: "The provider's page" }) }),
  run: topUp.openCardPage,
})

const lookForCard = operation('auto_top_up.card_look', 'POST /auto-top-up/card/look', 'billing.pay', undefined, {
  summary: 'Look whether a card was saved',
  description: 'Asks the payment provider about the latest page, in case its message was lost.',
  gives: topUp.AutoTopUpBody,
  run: topUp.lookForCard,
})

const removeCard = operation('auto_top_up.card_remove', 'DELETE /auto-top-up/card', 'billing.pay', undefined, {
  summary: 'Remove the saved card',
  description: 'Which turns the auto top-up off.',
  gives: topUp.AutoTopUpBody,
  run: topUp.removeCard,
})

const transferOptions = operation('credit.move_options', 'GET /transfers/options', 'credit.move', undefined, {
  summary: 'Where credit can be moved to',
  description: 'And how much of it, now and later.',
  gives: transfers.TransferOptions,
  run: transfers.readTransferOptions,
})

const move = operation('credit.move', 'POST /transfers', 'credit.move', undefined, {
  isProved: true,
  summary: 'Move credit to another account',
  description:
    'By an owner of both, once for each `key`. Never more than is available, and nothing that its payer can still take back. It is in the statements and audit logs of both.',
  takes: transfers.NewTransferBody,
  gives: transfers.TransferBody,
  run: transfers.moveCredit,
})

/** Operations in the order of the API document. */
export const ORDER_OPERATIONS = [
  ...[transferOptions, move],
  ...[options, list, create, show, setUp, document, cancel, claim],
  ...[showTopUp, turnOn, turnOff, openCardPage, lookForCard, removeCard],
] as const
