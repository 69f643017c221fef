/** Orders of credit: buying, recognizing the payment, and adding one ledger entry for both. */
import { lookForCard, openCardPage, removeCard } from './auto-top-up/cards'
import { topUpDue } from './auto-top-up/charge'
import { readAutoTopUp, turnOffTopUp, turnOnTopUp } from './auto-top-up/settings'
import { cancelOrder } from './cancel'
import { claimPaid, expireDue } from './close'
import { confirmPayment } from './confirm'
import { createOrder, setUpPayment } from './create'
import { applyDeposit } from './deposits/apply-event'
import { documentUrl, settleDue, settleOrder } from './deposits/settle'
import type { OrdersDeps } from './deps'
import { refundOrder } from './refund'
import { resolvePayment } from './resolve'
import { suspendOwing } from './reversals/owing'
import { reversePayment } from './reversals/reverse'
import { getOrder, listOrders, searchOpenReversals, searchOrders, searchPayments } from './search'

export type { OrdersDeps } from './deps'

/** Each change is one transaction with the order's row locked. It writes an event, and an audit entry if a person acts. */
export type Orders = ReturnType<typeof createOrders>

/** Orders over a database and a ledger. */
export function createOrders(deps: OrdersDeps) {
  return {
    create: createOrder.bind(null, deps),
    setUpPayment: setUpPayment.bind(null, deps),
    applyDeposit: applyDeposit.bind(null, deps),
    settle: settleOrder.bind(null, deps),
    settleDue: settleDue.bind(null, deps),
    documentUrl: documentUrl.bind(null, deps),
    get: getOrder.bind(null, deps),
    list: listOrders.bind(null, deps),
    cancel: cancelOrder.bind(null, deps),
    claimPaid: claimPaid.bind(null, deps),
    confirmPayment: confirmPayment.bind(null, deps),
    refund: refundOrder.bind(null, deps),
    reverse: reversePayment.bind(null, deps),
    search: searchOrders.bind(null, deps),
    payments: searchPayments.bind(null, deps),
    openReversals: searchOpenReversals.bind(null, deps),
    resolve: resolvePayment.bind(null, deps),
    expireDue: expireDue.bind(null, deps),
    topUpDue: topUpDue.bind(null, deps),
    autoTopUp: readAutoTopUp.bind(null, deps),
    turnOnTopUp: turnOnTopUp.bind(null, deps),
    turnOffTopUp: turnOffTopUp.bind(null, deps),
    openCardPage: openCardPage.bind(null, deps),
    lookForCard: lookForCard.bind(null, deps),
    removeCard: removeCard.bind(null, deps),
    suspendOwing: suspendOwing.bind(null, deps),
  }
}
