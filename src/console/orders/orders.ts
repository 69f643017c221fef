/** Orders of credit: what a customer buys, how its payment is recognised, and how both become a ledger entry exactly once. */
import type { Page, PageRequest } from '@/lib/paging'
import { cancelOrder, claimPaid, expireDue } from './close'
import { confirmPayment } from './confirm'
import { createOrder } from './create'
import type { OrdersDeps } from './deps'
import { getOrder, listOrders } from './read'
import { refundOrder } from './refund'
import { resolvePayment } from './resolve'
import { suspendOwing } from './reversals/owing'
import { reversePayment } from './reversals/reverse'
import { searchOpenReversals, searchOrders, searchPayments } from './search'
import type {
  Actor,
  CancelOutcome,
  ClaimOutcome,
  ConfirmOutcome,
  CreateOutcome,
  FoundOrder,
  NewOrder,
  NewRefund,
  NewResolution,
  Order,
  OrderDetails,
  OrderSearch,
  Payment,
  PaymentNotice,
  PaymentSearch,
  RefundOutcome,
  ResolveOutcome,
  Reversal,
  ReversalNotice,
  ReverseOutcome,
} from './types'

export type { OrdersDeps } from './deps'

/** Every act is one transaction with the order's row locked, its event, and (of a person) an audit entry. */
export interface Orders {
  create(order: NewOrder): Promise<CreateOutcome>
  /** With `accountId`, only where the order belongs to that account. */
  get(orderId: string, accountId?: string): Promise<OrderDetails | undefined>
  /** The account's orders, newest first. */
  list(accountId: string, page?: PageRequest): Promise<Page<Order>>
  cancel(order: { orderId: string; accountId?: string; actor: Actor; note?: string }): Promise<CancelOutcome>
  /** "I've paid": noted with its time, so that somebody looks; credits nothing. A second claim replaces the note. */
  claimPaid(claim: { orderId: string; accountId?: string; note: string; actor: Actor }): Promise<ClaimOutcome>
  /** Credits a payment that fits its order, and keeps every other for an administrator. Once per source and external id. */
  confirmPayment(notice: PaymentNotice): Promise<ConfirmOutcome>
  refund(refund: NewRefund): Promise<RefundOutcome>
  /** Takes credit back, or gives it back, once per source and id. An account below zero is suspended. */
  reverse(notice: ReversalNotice): Promise<ReverseOutcome>
  /** For administrators: orders of all accounts, newest first. */
  search(search: OrderSearch): Promise<Page<FoundOrder>>
  /** For administrators: payments of all accounts, newest first; `unmatched` ones where no state is given. */
  payments(search?: PaymentSearch): Promise<Page<Payment>>
  /** For administrators: reversals of all accounts, or of none that is known, that moved no credit; newest first. */
  openReversals(page?: PageRequest): Promise<Page<Reversal>>
  /** For administrators: ends the wait of an unmatched payment. */
  resolve(resolution: NewResolution): Promise<ResolveOutcome>
  /** Expires what is overdue (at most `limit`, one transaction each) and returns how many that were. Any number of processes at once. */
  expireDue(limit: number): Promise<number>
  /** Suspends who owes credit by a reversal now that open requests have ended, and returns how many that were. */
  suspendOwing(): Promise<number>
}

/** Orders over a database and a ledger. */
export function createOrders(deps: OrdersDeps): Orders {
  return {
    create: (order) => createOrder(deps, order),
    get: (orderId, accountId) => getOrder(deps, orderId, accountId),
    list: (accountId, page) => listOrders(deps, accountId, page),
    cancel: (order) => cancelOrder(deps, order),
    claimPaid: (claim) => claimPaid(deps, claim),
    confirmPayment: (notice) => confirmPayment(deps, notice),
    refund: (refund) => refundOrder(deps, refund),
    reverse: (notice) => reversePayment(deps, notice),
    search: (search) => searchOrders(deps, search),
    payments: (search) => searchPayments(deps, search),
    openReversals: (page) => searchOpenReversals(deps, page),
    resolve: (resolution) => resolvePayment(deps, resolution),
    expireDue: (limit) => expireDue(deps, limit),
    suspendOwing: () => suspendOwing(deps),
  }
}
