/** An administrator's own account: they can neither change its credit nor approve such a change. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { assert } from '@/lib/assert'
import { adjustment, balanceOf, type Office, openOffice, pendingOrder } from './fixture'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())

describe('an administrator’s own account', () => {
  test('administrators cannot change the credit of their own account, not even by a small amount', async () => {
    const { accountId } = office.ada
    for (const usd of [1, -1, 0.01]) {
      expect((await office.administration.request(office.ada, adjustment(accountId, usd))).kind).toBe(
        'awaiting_approval',
      )
    }
    const order = await pendingOrder(office, 10, accountId)
    const operation = { kind: 'order.confirm', orderId: order.orderId, amountCents: 1_000 } as const
    const confirmed = await office.administration.request(office.ada, {
      operation,
      reason: 'mine',
      key: crypto.randomUUID(),
    })
    expect(confirmed.kind).toBe('awaiting_approval')
    expect(await balanceOf(office, accountId)).toBe(0)
  })

  test('administrators cannot approve a request for their own account; another administrator can', async () => {
    const { accountId } = office.ada
    const outcome = await office.administration.request(office.bob, adjustment(accountId, 1_500))
    assert(outcome.kind === 'awaiting_approval', outcome.kind)
    const { approvalId } = outcome
    const decide = (decision: 'approve' | 'reject') =>
      office.administration.decide(office.ada, { approvalId, decision, note: '' })
    expect(await decide('approve')).toEqual({ kind: 'own_account' })
    expect(await balanceOf(office, accountId)).toBe(0)
    expect(await decide('reject')).toEqual({ kind: 'decided', status: 'rejected' })
  })
})
