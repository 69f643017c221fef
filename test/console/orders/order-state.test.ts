/** The table of order states: which state may follow which. */
import { describe, expect, test } from 'bun:test'
import { nextState, type OrderStep } from '@/console/orders/order-state'
import { ORDER_STATES } from '@/db/orders-schema'

const STEPS: OrderStep[] = ['pay', 'expire', 'cancel', 'settle', 'refund_part', 'refund_rest']

describe('nextState', () => {
  test('each state of an order can only be followed by the listed states', () => {
    const allowed = ORDER_STATES.flatMap((state) =>
      STEPS.flatMap((step) => {
        const next = nextState(state, step)
        return next === undefined ? [] : [`${state} ${step} ${next}`]
      }),
    )
    expect(allowed).toEqual([
      'pending pay paid',
      'pending expire expired',
      'pending cancel cancelled',
      'pending settle paid',
      'paid settle paid',
      'paid refund_part partly_refunded',
      'paid refund_rest refunded',
      'expired pay paid',
      'expired settle paid',
      'cancelled settle paid',
      'partly_refunded settle partly_refunded',
      'partly_refunded refund_part partly_refunded',
      'partly_refunded refund_rest refunded',
      'refunded settle partly_refunded',
      'charged_back settle charged_back',
      'charged_back refund_part charged_back',
      'charged_back refund_rest charged_back',
    ])
  })
})
