/**
 * The life of an order, as a table of what may follow what.
 *
 * **pending**: waits for its money. A payment that fits makes it **paid**; its time running out makes it **expired**; the
 * customer (or a provider that cannot set the payment up) makes it **cancelled**. A cancelled order never takes money by
 * itself. An expired one takes only a payment that was begun in time on the provider's page. Any other payment that arrives
 * later waits for an administrator, whose decision to credit it (`settle`) makes the order **paid** after all. The same
 * decision adds a second payment to an order that is paid already. What was paid can be given back in parts:
 * **partly_refunded**, and **refunded** once nothing is left; money that an administrator adds to a refunded order makes it
 * partly refunded again. If the payer's bank has taken money back, the order is **charged_back** until all of it was won back
 * ({@link stateOf}). Everything else is impossible, and asking for it changes nothing.
 */

import type { OrderState } from '@/db/orders-schema'

/** Steps of an order. `settle`: an administrator credits a payment that did not match. */
export type OrderStep = 'pay' | 'expire' | 'cancel' | 'settle' | 'refund_part' | 'refund_rest'

const NEXT = {
  pending: { pay: 'paid', expire: 'expired', cancel: 'cancelled', settle: 'paid' },
  expired: { pay: 'paid', settle: 'paid' },
  cancelled: { settle: 'paid' },
  paid: { settle: 'paid', refund_part: 'partly_refunded', refund_rest: 'refunded' },
  partly_refunded: { settle: 'partly_refunded', refund_part: 'partly_refunded', refund_rest: 'refunded' },
  refunded: { settle: 'partly_refunded' },
  charged_back: { settle: 'charged_back', refund_part: 'charged_back', refund_rest: 'charged_back' },
} as const satisfies Record<OrderState, Partial<Record<OrderStep, OrderState>>>

/** The state after `step`, or undefined if the step is impossible in `state`. */
export function nextState(state: OrderState, step: OrderStep): OrderState | undefined {
  const steps: Partial<Record<OrderStep, OrderState>> = NEXT[state]
  return steps[step]
}

type Sums = { paidCents: number; refundedCents: number; chargedBackCents: number }

/** The state of a paid order, computed from its refunds and chargebacks. */
export function stateOf({ paidCents, refundedCents, chargedBackCents }: Sums): OrderState {
  if (chargedBackCents > 0) return 'charged_back'
  if (refundedCents === 0) return 'paid'
  return refundedCents < paidCents ? 'partly_refunded' : 'refunded'
}
