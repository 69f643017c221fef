/**
 * The states of an order, and the steps between them.
 *
 * **pending**: waits for its money. A matching payment makes it **paid**, and the end of its time makes it **expired**. The customer, or a
 * provider that cannot set the payment up, makes it **cancelled**. A cancelled order accepts no payment automatically. An expired order
 * accepts only a payment that was begun in time on the provider's page. Any other late payment waits for an administrator. If the
 * administrator credits it (`settle`), the order becomes **paid** after all. The same step adds a second payment to a paid order. A paid
 * order can be refunded in parts: **partly_refunded**, and **refunded** when everything was refunded. If an administrator adds a payment to
 * a refunded order, it is partly refunded again. If the payer's bank has taken money back, the order is **charged_back** until all of that
 * was won back ({@link stateOf}). All other steps are impossible, and trying them changes nothing.
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
