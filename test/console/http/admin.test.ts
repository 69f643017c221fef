/** The administration routes: only for administrators, with the effect and the refusals of each. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { balanceOf, newDay, type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { type JsonAnswer, type Person, signUpPerson } from '@test/support/person'
import { dashboardRoutesOf, fillPath, nameOf, type Route } from './routes'

const ADMIN = '/dashboard/api/admin'
const key = () => crypto.randomUUID()
const REASON = { reason: 'for a test' }
const NOTE = { note: '' }

/** A body that each route would take; a new route has to be added here. */
const BODIES: Readonly<Record<string, object | undefined>> = {
  'GET /dashboard/api/admin/accounts': undefined,
  'GET /dashboard/api/admin/accounts/:accountId': undefined,
  'GET /dashboard/api/admin/accounts/:accountId/failures': undefined,
  'GET /dashboard/api/admin/accounts/:accountId/requests': undefined,
  'GET /dashboard/api/admin/accounts/:accountId/statement': undefined,
  'GET /dashboard/api/admin/accounts/:accountId/statement/csv': undefined,
  'POST /dashboard/api/admin/accounts/:accountId/status': { status: 'suspended', ...REASON },
  'POST /dashboard/api/admin/accounts/:accountId/limits': {
    ...{ requestsPerMinute: 1_000_000, tokensPerMinute: null, concurrency: null },
    ...REASON,
  },
  'POST /dashboard/api/admin/accounts/:accountId/adjustments': {
    amount: '5',
    allowNegative: false,
    key: 'some-key-1',
    ...REASON,
  },
  'GET /dashboard/api/admin/orders': undefined,
  'GET /dashboard/api/admin/reversals': undefined,
  'GET /dashboard/api/admin/orders/:orderId': undefined,
  'POST /dashboard/api/admin/orders/:orderId/confirm': { amount: '5', key: 'some-key-2', ...REASON },
  'POST /dashboard/api/admin/orders/:orderId/refund': {
    amount: '5',
    allowNegative: true,
    key: 'some-key-3',
    ...REASON,
  },
  'GET /dashboard/api/admin/payments': undefined,
  'POST /dashboard/api/admin/payments/:paymentId/credit': {
    orderId: 'order_1',
    amount: '5',
    key: 'some-key-4',
    ...REASON,
  },
  'POST /dashboard/api/admin/payments/:paymentId/dismiss': REASON,
  'POST /dashboard/api/admin/statements/preview': { text: 'Date,Amount,Reference', dateOrder: 'detect' },
  'POST /dashboard/api/admin/statements/:importId/commit': { digest: '0'.repeat(64), ...REASON },
  'GET /dashboard/api/admin/approvals': undefined,
  'POST /dashboard/api/admin/approvals/:approvalId/approve': NOTE,
  'POST /dashboard/api/admin/approvals/:approvalId/reject': NOTE,
  'POST /dashboard/api/admin/approvals/:approvalId/withdraw': NOTE,
  'GET /dashboard/api/admin/health': undefined,
  'POST /dashboard/api/admin/providers/:provider/test': {},
  'GET /dashboard/api/admin/tiers': undefined,
  'GET /dashboard/api/admin/margins': undefined,
  'GET /dashboard/api/admin/books': undefined,
  'GET /dashboard/api/admin/books/csv': undefined,
  'GET /dashboard/api/admin/count-gaps': undefined,
  'GET /dashboard/api/admin/audit': undefined,
  'GET /dashboard/api/admin/audit/chain': undefined,
}

let office: Office
let member: Person

beforeAll(async () => {
  office = await openOffice()
  member = await signUpPerson(office.gateway)
})
afterAll(() => office.stop())
beforeEach(() => newDay(office))

function adminRoutes(): Route[] {
  return dashboardRoutesOf(office.gateway).filter(({ path }) => path.startsWith(`${ADMIN}/`))
}

async function post(by: Person, path: string, body: object): Promise<JsonAnswer> {
  return by.json('POST', `${ADMIN}${path}`, body)
}

function codeOf({ body }: JsonAnswer): string | null {
  return (body as { error: { code: string | null } }).error.code
}

describe('members', () => {
  test('this test’s table has all administration routes', () => {
    expect(adminRoutes().map(nameOf).sort()).toEqual(Object.keys(BODIES).sort())
  })

  test('S22: members get a 404 from every administration route, for any body', async () => {
    const { accountId } = member.viewer
    for (const route of adminRoutes()) {
      const path = fillPath(route.path, { accountId })
      for (const body of [BODIES[nameOf(route)], route.method === 'GET' ? undefined : { wrong: true }]) {
        const { status } = await member.json(route.method, path, body)
        expect({ route: nameOf(route), status }).toEqual({ route: nameOf(route), status: 404 })
      }
    }
    expect((await office.administration.viewAccount(accountId))?.status).toBe('active')
  })

  test('a former administrator is refused at the next request', async () => {
    const former = await signUpPerson(office.gateway, { role: 'admin' })
    expect((await former.json('GET', `${ADMIN}/accounts`)).status).toBe(200)
    await office.gateway.gateway.database.sql`UPDATE users SET role = 'member' WHERE email = ${former.email}`
    expect((await former.json('GET', `${ADMIN}/accounts`)).status).toBe(404)
  })
})

describe('accounts', () => {
  test('administrators find, show, suspend and activate accounts', async () => {
    const { accountId } = member.viewer
    const list = await office.first.json('GET', `${ADMIN}/accounts?text=${encodeURIComponent(member.email)}`)
    expect(list.body).toMatchObject({ items: [{ accountId, email: member.email, balance: '0' }], nextCursor: null })
    const view = await office.first.json('GET', `${ADMIN}/accounts/${accountId}`)
    expect(view.body).toMatchObject({ balance: { available: '0', held: '0' }, approvalLimit: '1000' })
    const change = (status: string) => post(office.first, `/accounts/${accountId}/status`, { status, ...REASON })
    expect((await change('suspended')).body).toEqual({ status: 'suspended' })
    expect((await change('active')).body).toEqual({ status: 'active' })
    expect((await office.first.json('GET', `${ADMIN}/accounts/acct_none`)).status).toBe(404)
  })

  test('adjustments within the limit take effect at once, larger ones after a second approval', async () => {
    const { accountId } = await office.gateway.customer('0')
    const path = `/accounts/${accountId}/adjustments`
    const body = { amount: '250.5', allowNegative: false, ...REASON }
    expect((await post(office.first, path, { ...body, key: key() })).body).toEqual({ status: 'done', approvalId: null })
    expect(await balanceOf(office, accountId)).toBe(250.5)
    const above = await post(office.first, path, { ...body, amount: '900', key: key() })
    const { approvalId } = above.body as { approvalId: string }
    expect(above.body).toEqual({ status: 'awaiting_approval', approvalId })
    const self = await post(office.first, `/approvals/${approvalId}/approve`, NOTE)
    expect([self.status, codeOf(self)]).toEqual([403, 'own_request'])
    expect((await post(office.second, `/approvals/${approvalId}/approve`, NOTE)).body).toEqual({ status: 'executed' })
    const again = await post(office.second, `/approvals/${approvalId}/approve`, NOTE)
    expect([again.status, codeOf(again)]).toEqual([409, 'not_pending'])
    expect(await balanceOf(office, accountId)).toBe(1_150.5)
  })

  test.each(['', '0', '-0', '1e3', 'NaN', '1,5', '0.0000000001', '9000001', '٥', '1 '])(
    'an administrator’s adjustment by the amount %j is refused',
    async (amount) => {
      const { accountId } = member.viewer
      const body = { amount, allowNegative: true, key: key(), ...REASON }
      expect((await post(office.first, `/accounts/${accountId}/adjustments`, body)).status).toBe(400)
    },
  )

  test('S22: unknown fields of the form have no effect', async () => {
    const { accountId } = member.viewer
    const facts = () => office.gateway.gateway.database.sql`SELECT accounts.name, users.role, balance_nano FROM accounts
      JOIN users ON users.account_id = accounts.id WHERE accounts.id = ${accountId}`
    const before = [...(await facts())]
    const extra = { role: 'admin', balance: '100', balance_nano: 1, name: 'x', accountId: 'acct_x', requestedBy: 'x' }
    const status = { status: 'active', ...REASON, ...extra }
    await post(office.first, `/accounts/${accountId}/status`, status)
    expect([...(await facts())]).toEqual(before)
  })
})

describe('orders', () => {
  test('administrators find, confirm and refund orders with a reason', async () => {
    const order = await pendingOrder(office, 40)
    const found = await office.first.json('GET', `${ADMIN}/orders?reference=${order.reference}`)
    expect(found.body).toMatchObject({ items: [{ orderId: order.orderId, state: 'pending', amount: '40' }] })
    const confirmed = await post(office.first, `/orders/${order.orderId}/confirm`, {
      amount: '40',
      key: key(),
      ...REASON,
    })
    expect(confirmed.body).toEqual({ status: 'done', approvalId: null })
    const refund = { amount: '15', allowNegative: false, key: key(), ...REASON }
    for (const _ of [1, 2])
      expect((await post(office.second, `/orders/${order.orderId}/refund`, refund)).status).toBe(200)
    const view = await office.first.json('GET', `${ADMIN}/orders/${order.orderId}`)
    expect(view.body).toMatchObject({ state: 'partly_refunded', paid: '40', refunded: '15' })
    expect(await balanceOf(office, order.accountId)).toBe(25)
    const tooMuch = await post(office.second, `/orders/${order.orderId}/refund`, {
      ...refund,
      amount: '26',
      key: key(),
    })
    expect([tooMuch.status, codeOf(tooMuch)]).toEqual([409, 'refused'])
  })

  test('a mismatched payment stays with its order, to be credited or dismissed', async () => {
    const order = await pendingOrder(office, 60)
    const path = `/orders/${order.orderId}/confirm`
    const refused = await post(office.first, path, { amount: '59', key: key(), ...REASON })
    expect(refused.status).toBe(409)
    expect((refused.body as { error: { message: string } }).error.message).toContain('waits among the unmatched')
    const list = await office.first.json('GET', `${ADMIN}/payments?orderId=${order.orderId}`)
    const [payment] = (list.body as { items: { paymentId: string; mismatch: string }[] }).items
    expect(payment?.mismatch).toBe('underpaid')
    const credit = { orderId: order.orderId, amount: '59', key: key(), ...REASON }
    expect((await post(office.first, `/payments/${payment?.paymentId}/credit`, credit)).status).toBe(200)
    expect(await balanceOf(office, order.accountId)).toBe(59)
    const late = await post(office.first, `/payments/${payment?.paymentId}/dismiss`, REASON)
    expect([late.status, codeOf(late)]).toEqual([409, 'refused'])
  })

  test('an unmatched payment can be dismissed once', async () => {
    const order = await pendingOrder(office, 61)
    await post(office.first, `/orders/${order.orderId}/confirm`, { amount: '62', key: key(), ...REASON })
    const list = await office.first.json('GET', `${ADMIN}/payments?orderId=${order.orderId}`)
    const [payment] = (list.body as { items: { paymentId: string }[] }).items
    const dismissed = await post(office.first, `/payments/${payment?.paymentId}/dismiss`, REASON)
    expect(dismissed.body).toMatchObject({ payment: { state: 'dismissed', resolvedBy: office.first.email } })
    expect((await post(office.first, `/payments/${payment?.paymentId}/dismiss`, REASON)).status).toBe(409)
  })

  test('the order list can be filtered by whether the customer says that they paid', async () => {
    expect((await office.first.json('GET', `${ADMIN}/orders?isClaimed=true`)).body).toMatchObject({ items: [] })
    const open = await office.first.json('GET', `${ADMIN}/orders?isClaimed=false&state=pending&limit=1`)
    expect((open.body as { items: unknown[] }).items.length).toBeLessThanOrEqual(1)
    expect((await office.first.json('GET', `${ADMIN}/orders?amount=x`)).status).toBe(400)
  })
})

describe('statements', () => {
  test('statements are previewed and committed', async () => {
    const order = await pendingOrder(office, 33)
    const text = `Date;Amount;Currency;Reference\n2026-11-20;33,00;USD;${order.reference}\n2026-11-20;-5,00;USD;fee`
    const previewed = await post(office.first, '/statements/preview', { text, dateOrder: 'detect' })
    expect(previewed.body).toMatchObject({
      creditCount: 1,
      creditTotal: '33',
      lines: [
        { verdict: 'credit', amount: '33.00', order: { orderId: order.orderId } },
        { verdict: 'outgoing', amount: '-5.00', order: null },
      ],
    })
    const { importId, digest } = previewed.body as { importId: string; digest: string }
    const committed = await post(office.first, `/statements/${importId}/commit`, { digest, ...REASON })
    expect(committed.body).toEqual({ lines: [{ line: 1, result: 'credited' }] })
    const other = await post(office.second, `/statements/${importId}/commit`, { digest, ...REASON })
    expect(other.status).toBe(404)
  })

  test('an unreadable statement is refused with the reason', async () => {
    const answer = await post(office.first, '/statements/preview', { text: 'nothing', dateOrder: 'detect' })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'faulty_statement'])
  })
})

describe('monitoring', () => {
  test('the health report shows providers, targets and keys, and no secret', async () => {
    const { body } = await office.first.json('GET', `${ADMIN}/health`)
    expect(body).toMatchObject({
      providers: [
        { provider: 'provider1', keys: [{ state: 'usable' }], targets: [{ model: 'svc/alpha', circuit: 'closed' }] },
      ],
    })
    expect(JSON.stringify(body)).not.toContain('sk-provider1-secret-canary')
  })

  test('concurrent trials of a provider run once; an unknown provider is a 404', async () => {
    const test = () => office.first.json('POST', `${ADMIN}/providers/provider1/test`, {})
    const [one, other] = await Promise.all([test(), test()])
    expect(one.body).toMatchObject({ targets: [{ model: 'svc/alpha', text: 'works' }] })
    expect(JSON.stringify(one.body)).not.toContain('sk-provider1-secret-canary')
    expect(other.status).toBe(200)
    expect((await office.first.json('POST', `${ADMIN}/providers/nobody/test`, {})).status).toBe(404)
    const { body } = await office.first.json('GET', `${ADMIN}/audit?action=provider.test`)
    expect(body).toMatchObject({ items: expect.arrayContaining([expect.objectContaining({ subject: 'provider1' })]) })
  })

  test('the audit log shows actor, action and address, and has a valid chain', async () => {
    const { body } = await office.first.json('GET', `${ADMIN}/audit?actor=${office.first.email}&limit=100`)
    const { items } = body as { items: { action: string; ip: string }[] }
    expect(new Set(items.map((item) => item.action))).toContain('account.suspend')
    expect(items.every((item) => item.ip !== '')).toBe(true)
    expect((await office.first.json('GET', `${ADMIN}/audit/chain`)).body).toMatchObject({ kind: 'intact' })
  })

  test('the filter of the audit log refuses invalid times', async () => {
    expect((await office.first.json('GET', `${ADMIN}/audit?from=2026-13-40T99:99Z`)).status).toBe(400)
  })
})
