/** The two-person rule: for an amount above the limit, also if it is split, and for one's own account. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { verifyAuditChain } from '@/accounts/audit'
import { expireApprovals } from '@/console/administration/approvals/approvals'
import { assert } from '@/lib/assert'
import { adjustment, balanceOf, newDay, type Office, openOffice, pendingOrder } from './fixture'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())
beforeEach(() => newDay(office))

async function newAccount(usd = '0'): Promise<string> {
  return (await office.gateway.customer(usd)).accountId
}

/** Asks for more than the limit; returns the approval's id. */
async function askAbove(accountId: string, usd = 1_500): Promise<string> {
  const outcome = await office.administration.request(office.ada, adjustment(accountId, usd))
  assert(outcome.kind === 'awaiting_approval', outcome.kind)
  return outcome.approvalId
}

function decide(by: Office['ada'], approvalId: string, decision: 'approve' | 'reject' | 'withdraw' = 'approve') {
  return office.administration.decide(by, { approvalId, decision, note: '' })
}

describe('within the limit', () => {
  test('a debit that leads below zero must be allowed, also among concurrent debits', async () => {
    const accountId = await newAccount('100')
    const back = () => {
      const operation = { kind: 'credit.adjust', accountId, amountNano: -30e9, allowNegative: false } as const
      return office.administration.request(office.ada, { operation, reason: 'a test', key: crypto.randomUUID() })
    }
    const outcomes = await Promise.all(Array.from({ length: 6 }, back))
    expect(outcomes.filter((outcome) => outcome.kind === 'done')).toHaveLength(3)
    expect(await balanceOf(office, accountId)).toBe(10)
    expect((await office.administration.request(office.ada, adjustment(accountId, -30))).kind).toBe('done')
  })

  test('ten concurrent adjustments with one request key change credit once', async () => {
    const accountId = await newAccount()
    const request = adjustment(accountId, 900)
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => office.administration.request(office.ada, request)),
    )
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(Array(10).fill('done'))
    expect(await balanceOf(office, accountId)).toBe(900)
  })

  test('a request key that was used for another amount is refused', async () => {
    const [one, other] = [await newAccount(), await newAccount()]
    const key = crypto.randomUUID()
    await office.administration.request(office.ada, adjustment(one, 100, key))
    const again = await office.administration.request(office.ada, adjustment(other, 100, key))
    expect(again.kind).toBe('refused')
    expect(await balanceOf(office, other)).toBe(0)
  })

  test('the same request key of another administrator is a different request', async () => {
    const accountId = await newAccount()
    const key = crypto.randomUUID()
    await office.administration.request(office.ada, adjustment(accountId, 100, key))
    await office.administration.request(office.bob, adjustment(accountId, 100, key))
    expect(await balanceOf(office, accountId)).toBe(200)
  })

  test('an adjustment of an unknown account gives not_found', async () => {
    expect(await office.administration.request(office.ada, adjustment('acct_none', 5))).toEqual({ kind: 'not_found' })
  })
})

describe('above the limit', () => {
  test('administrators cannot approve their own request, not even after its row was altered', async () => {
    const accountId = await newAccount()
    const approvalId = await askAbove(accountId)
    expect(await decide(office.ada, approvalId)).toEqual({ kind: 'own_request' })
    expect(await decide(office.ada, approvalId, 'reject')).toEqual({ kind: 'own_request' })
    expect(await balanceOf(office, accountId)).toBe(0)
    const { sql } = office.gateway.gateway.database
    const forged = sql`UPDATE approvals SET status = 'executed', decided_by = requested_by, decided_at = now()
      WHERE id = ${approvalId}`
    await expect(forged.execute()).rejects.toThrow('violates check constraint')
  })

  test('ten concurrent approvals of one request credit once', async () => {
    const accountId = await newAccount()
    const approvalId = await askAbove(accountId)
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => decide(office.bob, approvalId)))
    expect(outcomes.filter((outcome) => outcome.kind === 'decided')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome.kind === 'not_pending')).toHaveLength(9)
    expect(await balanceOf(office, accountId)).toBe(1_500)
  })

  test('concurrent approval, rejection and withdrawal decide a request once', async () => {
    const accountId = await newAccount()
    const approvalId = await askAbove(accountId)
    const outcomes = await Promise.all([
      decide(office.bob, approvalId),
      decide(office.bob, approvalId, 'reject'),
      decide(office.ada, approvalId, 'withdraw'),
    ])
    const decided = outcomes.filter((outcome) => outcome.kind === 'decided')
    expect(decided).toHaveLength(1)
    const isExecuted = decided[0]?.kind === 'decided' && decided[0].status === 'executed'
    expect(await balanceOf(office, accountId)).toBe(isExecuted ? 1_500 : 0)
  })

  test('two concurrent adjustments above the limit with one request key make one request', async () => {
    const accountId = await newAccount()
    const request = adjustment(accountId, 2_000)
    const outcomes = await Promise.all([1, 2, 3].map(() => office.administration.request(office.ada, request)))
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
  })

  test('only the requester may withdraw a request, and each decision is final', async () => {
    const approvalId = await askAbove(await newAccount())
    expect(await decide(office.bob, approvalId, 'withdraw')).toEqual({ kind: 'not_own_request' })
    expect(await decide(office.ada, approvalId, 'withdraw')).toEqual({ kind: 'decided', status: 'withdrawn' })
    expect(await decide(office.bob, approvalId)).toEqual({ kind: 'not_pending', status: 'withdrawn' })
  })

  test('an approval after seven days is refused', async () => {
    const accountId = await newAccount()
    const approvalId = await askAbove(accountId)
    const { sql } = office.gateway.gateway.database
    await sql`UPDATE approvals SET expires_at = now() - interval '1 second' WHERE id = ${approvalId}`
    expect(await decide(office.bob, approvalId)).toEqual({ kind: 'not_pending', status: 'expired' })
    expect(await balanceOf(office, accountId)).toBe(0)
  })

  test('a request that nobody approved in time expires with an audit entry', async () => {
    const approvalId = await askAbove(await newAccount())
    const { database } = office.gateway.gateway
    const clock = { now: () => Date.now() + 8 * 24 * 3_600_000, monotonic: () => 0 }
    expect(await expireApprovals({ database, clock })).toBeGreaterThan(0)
    const page = await office.administration.searchAudit({ subject: approvalId, action: 'approval.expired' })
    expect(page.items).toHaveLength(1)
  })
})

describe('splitting an amount', () => {
  test('the two-person limit applies to the sum of a day, however it is split', async () => {
    const accountId = await newAccount()
    const outcomes = []
    for (const usd of [400, 400, 400]) {
      outcomes.push((await office.administration.request(office.ada, adjustment(accountId, usd))).kind)
    }
    expect(outcomes).toEqual(['done', 'done', 'awaiting_approval'])
    expect(await balanceOf(office, accountId)).toBe(800)
  })

  test('concurrent smaller adjustments do not exceed the two-person limit together', async () => {
    const accountId = await newAccount()
    const requests = Array.from({ length: 12 }, () =>
      office.administration.request(office.ada, adjustment(accountId, 300)),
    )
    const kinds = (await Promise.all(requests)).map((outcome) => outcome.kind)
    expect(kinds.filter((kind) => kind === 'done')).toHaveLength(3)
    expect(await balanceOf(office, accountId)).toBe(900)
  })

  test('a debit does not raise the two-person limit for credits', async () => {
    const accountId = await newAccount()
    await office.administration.request(office.ada, adjustment(accountId, 600))
    const back = await office.administration.request(office.ada, adjustment(accountId, -600))
    expect(back.kind).toBe('awaiting_approval')
  })

  test('confirmed orders count together with adjustments', async () => {
    const accountId = await newAccount()
    const order = await pendingOrder(office, 700, accountId)
    const confirm = { kind: 'order.confirm', orderId: order.orderId, amountCents: 70_000 } as const
    const confirmed = await office.administration.request(office.ada, {
      operation: confirm,
      reason: 'seen at the bank',
      key: crypto.randomUUID(),
    })
    expect(confirmed).toEqual({ kind: 'done' })
    const adjusted = await office.administration.request(office.ada, adjustment(accountId, 400))
    expect(adjusted.kind).toBe('awaiting_approval')
  })

  test('amounts for several accounts count together, also if concurrent', async () => {
    const accountIds = await Promise.all(Array.from({ length: 5 }, () => newAccount()))
    const requests = accountIds.map((accountId) =>
      office.administration.request(office.ada, adjustment(accountId, 400)),
    )
    const kinds = (await Promise.all(requests)).map((outcome) => outcome.kind)
    expect(kinds.filter((kind) => kind === 'done')).toHaveLength(2)
    expect(kinds.filter((kind) => kind === 'awaiting_approval')).toHaveLength(3)
  })

  test('each administrator has their own daily sum, which starts at zero each day', async () => {
    const [one, other] = [await newAccount(), await newAccount()]
    await office.administration.request(office.ada, adjustment(one, 900))
    const kindOf = async (by: Office['ada'], usd: number) =>
      (await office.administration.request(by, adjustment(other, usd))).kind
    expect(await kindOf(office.ada, 200)).toBe('awaiting_approval')
    expect(await kindOf(office.bob, 900)).toBe('done')
    await newDay(office)
    expect(await kindOf(office.ada, 900)).toBe('done')
  })

  test('refused requests do not count towards the daily sum', async () => {
    const accountId = await newAccount()
    const order = await pendingOrder(office, 900, accountId)
    const operation = {
      kind: 'order.refund',
      orderId: order.orderId,
      amountCents: 90_000,
      allowNegative: true,
    } as const
    const refused = await office.administration.request(office.ada, { operation, reason: 'a test', key: 'refund-key' })
    expect(refused).toMatchObject({ kind: 'refused', isKept: false })
    expect((await office.administration.request(office.ada, adjustment(accountId, 1_000))).kind).toBe('done')
  })
})

describe('an approved operation', () => {
  test('an approved request is checked again when it runs', async () => {
    const accountId = await newAccount('2000')
    const operation = { kind: 'credit.adjust', accountId, amountNano: -2_000e9, allowNegative: false } as const
    const asked = await office.administration.request(office.ada, { operation, reason: 'a test', key: 'take-back-all' })
    assert(asked.kind === 'awaiting_approval', asked.kind)
    await office.administration.request(office.bob, adjustment(accountId, -1))
    expect(await decide(office.bob, asked.approvalId)).toMatchObject({ kind: 'failed' })
    expect(await balanceOf(office, accountId)).toBe(1_999)
  })

  test('if two approved requests confirm one order, the second fails, and nothing is credited twice', async () => {
    const order = await pendingOrder(office, 5_000)
    const operation = { kind: 'order.confirm', orderId: order.orderId, amountCents: 500_000 } as const
    const ask = (by: Office['ada']) =>
      office.administration.request(by, { operation, reason: 'seen', key: crypto.randomUUID() })
    const [one, other] = [await ask(office.ada), await ask(office.ada)]
    assert(one.kind === 'awaiting_approval' && other.kind === 'awaiting_approval', 'above the limit')
    expect(await decide(office.bob, one.approvalId)).toEqual({ kind: 'decided', status: 'executed' })
    expect(await decide(office.bob, other.approvalId)).toMatchObject({ kind: 'failed' })
    expect(await balanceOf(office, order.accountId)).toBe(5_000)
    const page = await office.administration.listApprovals({ status: 'failed' })
    expect(page.items.find((item) => item.approvalId === other.approvalId)?.note).toContain('paid already')
  })

  test('an approved refund above the limit removes the credit once', async () => {
    const order = await pendingOrder(office, 4_000)
    const confirm = { kind: 'order.confirm', orderId: order.orderId, amountCents: 400_000 } as const
    const asked = await office.administration.request(office.ada, {
      operation: confirm,
      reason: 'seen',
      key: 'confirm1',
    })
    assert(asked.kind === 'awaiting_approval', asked.kind)
    await decide(office.bob, asked.approvalId)
    const refund = { kind: 'order.refund', orderId: order.orderId, amountCents: 300_000, allowNegative: false } as const
    const wanted = await office.administration.request(office.bob, {
      operation: refund,
      reason: 'sorry',
      key: 'refund01',
    })
    assert(wanted.kind === 'awaiting_approval', wanted.kind)
    expect(await decide(office.ada, wanted.approvalId)).toEqual({ kind: 'decided', status: 'executed' })
    expect(await balanceOf(office, order.accountId)).toBe(1_000)
  })

  test('every step of a request and its approval is in the audit log, whose chain is valid', async () => {
    const page = await office.administration.searchAudit({ action: 'approval', limit: 100 })
    expect(page.items.map((item) => item.action)).toContain('approval.executed')
    expect((await verifyAuditChain(office.gateway.gateway.database)).kind).toBe('intact')
  })
})

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
