/** The operator's API on accounts and credit: what happens once, what waits for an administrator, and audit entries. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BEHIND_A_PROXY } from '@test/console/http/management/caller'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { ask, flushed } from '@test/usage/customer'
import { createCredits } from '@/accounts/credits'
import { createUser } from '@/accounts/users'
import { nano } from '@/lib/money'
import { callerOf, codeOf, idOf, makeOperatorKey, newAccount } from './caller'

let gateway: TestGateway
let shop: Awaited<ReturnType<typeof makeOperatorKey>>
let call: ReturnType<typeof callerOf>
let administrator: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json(chatCompletion('ok', usageOf(10, 5))),
    environment: { ...BEHIND_A_PROXY, APPROVAL_LIMIT_USD: '100' },
  })
  administrator = await signUpPerson(gateway, { role: 'admin' })
  await renew()
})
afterAll(() => gateway.stop())

/** Another key: what a key moves in a day, and how often it changes something in a minute, is limited. */
async function renew(): Promise<void> {
  shop = await makeOperatorKey(gateway)
  call = callerOf(gateway, shop)
}

const makeAccount = async () => idOf(await call('POST', '/accounts', newAccount()))
const credit = (accountId: string, usd: string, reference: string) =>
  call('POST', `/accounts/${accountId}/credit`, { usd, reference })
const auditOf = async (accountId: string) =>
  await gateway.gateway.database.sql`SELECT action, actor_id, actor_email, details, ip FROM audit_entries
    WHERE account_id = ${accountId} ORDER BY seq`

describe('accounts in the operator’s API', () => {
  test('account create makes an account that is found by id and by address in any case', async () => {
    const account = newAccount()
    const made = await call('POST', '/accounts', account)
    expect(made).toMatchObject({ status: 200, body: { ...account, status: 'active', balanceUsd: '0' } })
    expect((await call('GET', `/accounts/${idOf(made)}`)).body).toEqual(made.body)
    const found = await call('GET', `/accounts?email=${encodeURIComponent(account.email.toUpperCase())}`)
    expect(found.body).toEqual({ items: [made.body], nextCursor: null })
    expect((await call('GET', '/accounts?email=buyer')).body).toEqual({ items: [], nextCursor: null })
  })

  test('account create with a repeated Idempotency-Key gives the first account; another request with the address is a 409', async () => {
    const account = newAccount()
    const once = { 'idempotency-key': crypto.randomUUID() }
    const first = await call('POST', '/accounts', account, once)
    const again = await call('POST', '/accounts', account, once)
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const other = await call('POST', '/accounts', { ...account, name: 'Another' }, once)
    expect({ status: other.status, code: codeOf(other) }).toEqual({ status: 409, code: 'idempotency_key_reused' })
    const taken = await call('POST', '/accounts', account)
    expect({ status: taken.status, code: codeOf(taken) }).toEqual({ status: 409, code: 'email_taken' })
  })

  test('account create makes one account for twenty concurrent requests with one Idempotency-Key', async () => {
    const account = newAccount()
    const once = { 'idempotency-key': crypto.randomUUID() }
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', '/accounts', account, once)))
    const made = answers.filter(({ status }) => status === 200)
    expect(new Set(made.map(idOf)).size).toBe(1)
    expect(new Set(answers.filter(({ status }) => status !== 200).map(codeOf))).toEqual(
      new Set(made.length === 20 ? [] : ['idempotency_key_in_use']),
    )
    const { body } = await call('GET', `/accounts?email=${encodeURIComponent(account.email)}`)
    expect((body as { items: unknown[] }).items).toHaveLength(1)
  })

  test('account list has every account once over all pages, newest first', async () => {
    const made = [await makeAccount(), await makeAccount(), await makeAccount()].reverse()
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null && seen.length < 3) {
      const { body } = await call('GET', `/accounts?limit=1${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
      const page = body as { items: { id: string }[]; nextCursor: string | null }
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
    }
    expect(seen).toEqual(made)
  })

  test('a person whose address is confirmed becomes the owner of the account with that address', async () => {
    const account = newAccount()
    const accountId = idOf(await call('POST', '/accounts', account))
    const { database } = gateway.gateway
    const user = await createUser(database, { email: account.email, password: 'a horse on a battery' })
    expect(user.kind).toBe('created')
    const members = await database.sql`SELECT role FROM memberships WHERE account_id = ${accountId}`
    expect([...members]).toEqual([{ role: 'owner' }])
  })

  test('account suspend and activate refuse and allow requests, with the reason in the audit log', async () => {
    const accountId = await makeAccount()
    await credit(accountId, '5', crypto.randomUUID())
    const { body } = await call('POST', `/accounts/${accountId}/keys`, { name: 'first', monthlyBudgetUsd: null })
    const { key } = body as { key: string }
    await ask(gateway, key)
    expect((await call('POST', `/accounts/${accountId}/suspend`, { reason: 'unpaid invoice' })).body).toMatchObject({
      status: 'suspended',
    })
    await expect(ask(gateway, key)).rejects.toThrow('403')
    // A suspended account keeps its credit and may get more.
    expect((await credit(accountId, '1', crypto.randomUUID())).status).toBe(200)
    expect((await call('POST', `/accounts/${accountId}/activate`)).body).toMatchObject({ status: 'active' })
    await ask(gateway, key)
    const entries = (await auditOf(accountId)).filter(({ action }) => String(action).startsWith('account.'))
    const by = { actor_id: null, actor_email: 'operator key Shop', ip: expect.stringMatching(/^10\./) }
    expect(entries).toMatchObject([
      { action: 'account.create', ...by, details: { operatorKey: shop.keyId } },
      { action: 'account.suspend', ...by, details: { operatorKey: shop.keyId, reason: 'unpaid invoice' } },
      { action: 'account.activate', ...by, details: { operatorKey: shop.keyId, reason: 'by operator key' } },
    ])
  })

  test.each([
    ['GET', '/accounts/acct_none', undefined],
    ['POST', '/accounts/acct_none/credit', { usd: '1', reference: 'none' }],
    ['POST', '/accounts/acct_none/suspend', {}],
    ['POST', '/accounts/acct_none/activate', {}],
    ['GET', '/accounts/acct_none/usage', undefined],
    ['GET', '/accounts/acct_none/keys', undefined],
    ['POST', '/accounts/acct_none/keys', { name: 'first', monthlyBudgetUsd: null }],
  ])('the operator’s API answers 404 for an unknown account: %s %s', async (method, path, body) => {
    expect((await call(method, path, body)).status).toBe(404)
  })

  test('the operator’s API sums the usage of one account only', async () => {
    const [accountId, other] = [await makeAccount(), await makeAccount()]
    await credit(accountId, '5', crypto.randomUUID())
    const { body } = await call('POST', `/accounts/${accountId}/keys`, { name: 'first', monthlyBudgetUsd: null })
    await ask(gateway, (body as { key: string }).key)
    await flushed(gateway, accountId)
    const report = await call('GET', `/accounts/${accountId}/usage?group_by=model`)
    // 10 input tokens at 1 USD a million, 5 output tokens at 2 USD.
    const total = { requests: 1, input_tokens: 10, output_tokens: 5, cost_usd: '0.00002' }
    expect(report.body).toMatchObject({ total })
    expect((await call('GET', `/accounts/${other}/usage`)).body).toMatchObject({ total: { requests: 0 } })
    expect((await call('GET', `/accounts/${accountId}/usage?group_by=nothing`)).status).toBe(400)
  })

  test('orders of all accounts, or of one, are listed', async () => {
    const ids: string[] = []
    for (const _ of [1, 2]) {
      const { accountId } = await gateway.customer('0')
      await gateway.gateway.deps.dashboard.orders.create({
        ...{ accountId, amountCents: 1000, method: 'bank_transfer' },
        actor: { kind: 'system', name: 'test' },
      })
      ids.push(accountId)
    }
    const all = (await call('GET', '/orders')).body as { items: { accountId: string; amount: string }[] }
    expect(all.items.map((order) => order.accountId)).toEqual(ids.toReversed())
    const one = (await call('GET', `/orders?accountId=${ids[0]}`)).body as typeof all
    expect(one.items).toMatchObject([{ accountId: ids[0], amount: '10' }])
  })
})

describe('credit in the operator’s API', () => {
  test('an operator key adds credit once per reference, and the audit log names the key', async () => {
    await renew()
    const accountId = await makeAccount()
    const reference = crypto.randomUUID()
    expect((await credit(accountId, '12.5', reference)).body).toMatchObject({ id: accountId, balanceUsd: '12.5' })
    expect((await credit(accountId, '12.5', reference)).body).toMatchObject({ balanceUsd: '12.5' })
    const [entry] = (await auditOf(accountId)).filter(({ action }) => action === 'credit.add')
    expect(entry).toMatchObject({
      ...{ actor_id: null, actor_email: 'operator key Shop' },
      details: { amount: '12.5', reference, operatorKey: shop.keyId },
    })
    expect((await auditOf(accountId)).filter(({ action }) => action === 'credit.add')).toHaveLength(1)
  })

  test('twenty concurrent credits with one reference, by two keys and two gateways, add it once', async () => {
    await renew()
    const twin = await gateway.twin()
    const other = callerOf(twin, await makeOperatorKey(gateway))
    const accountId = await makeAccount()
    const body = { usd: '3', reference: crypto.randomUUID() }
    const calls = Array.from({ length: 20 }, (_, at) => (at % 2 ? call : other))
    const answers = await Promise.all(calls.map((ask) => ask('POST', `/accounts/${accountId}/credit`, body)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(await gateway.balance(accountId)).toMatchObject({ available: 3_000_000_000 })
  })

  test('a reference used by a command is known to the operator’s API, and adds no credit again', async () => {
    const accountId = await makeAccount()
    const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
    await credits.addCredit({ accountId, amount: nano(2_000_000_000), reference: 'by command' })
    expect((await credit(accountId, '2', 'by command')).body).toMatchObject({ balanceUsd: '2' })
    const other = await credit(accountId, '3', 'by command')
    expect({ status: other.status, code: codeOf(other) }).toEqual({ status: 409, code: 'reference_taken' })
    const elsewhere = await credit(await makeAccount(), '2', 'by command')
    expect({ status: elsewhere.status, code: codeOf(elsewhere) }).toEqual({ status: 409, code: 'reference_elsewhere' })
  })

  test.each(['payment:1', 'refund:1', 'reversal:1', 'transfer:1', 'adjustment:1', '', ' ', 'a\nb', 'x'.repeat(201)])(
    'credit: refuses the reference %j',
    async (reference) => {
      expect((await credit(await makeAccount(), '1', reference)).status).toBe(400)
    },
  )

  test.each(['0', '-0', 'ten', '', '1e3', '10000000', '0.0000000001', 5])(
    'credit: refuses the amount %j',
    async (usd) => {
      await renew()
      const accountId = await makeAccount()
      const answer = await call('POST', `/accounts/${accountId}/credit`, { usd, reference: 'amount' })
      expect({ status: answer.status, param: (answer.body as { error: { param: string } }).error.param }).toEqual({
        ...{ status: 400, param: 'usd' },
      })
    },
  )

  test('negative credit removes at most the available credit', async () => {
    await renew()
    const accountId = await makeAccount()
    await credit(accountId, '10', 'sold')
    expect((await credit(accountId, '-4', 'returned')).body).toMatchObject({ balanceUsd: '6' })
    expect((await credit(accountId, '-4', 'returned')).body).toMatchObject({ balanceUsd: '6' })
    const refused = await credit(accountId, '-7', 'too much')
    expect({ status: refused.status, code: codeOf(refused) }).toEqual({ status: 409, code: 'credit_refused' })
    expect(await gateway.balance(accountId)).toMatchObject({ available: 6_000_000_000 })
  })

  test('credit above the daily limit, even in parts and for several accounts, waits for an administrator', async () => {
    await renew()
    const [first, second] = [await makeAccount(), await makeAccount()]
    expect((await credit(first, '60', 'part 1')).status).toBe(200)
    const waiting = await credit(second, '41', 'part 2')
    expect({ status: waiting.status, code: codeOf(waiting) }).toEqual({ status: 409, code: 'approval_required' })
    expect((await credit(second, '40', 'part 3')).status).toBe(200)
    expect(await gateway.balance(second)).toMatchObject({ available: 40_000_000_000 })
  })

  const approvalOf = (answer: Awaited<ReturnType<typeof credit>>) =>
    (answer.body as { error: { approvalId: string } }).error.approvalId
  const decide = (approvalId: string, decision: string) =>
    administrator.json('POST', `/dashboard/api/admin/approvals/${approvalId}/${decision}`, { note: '' })

  test('an approved credit is added once, and repeating the request reports it', async () => {
    await renew()
    const accountId = await makeAccount()
    const once = { 'idempotency-key': crypto.randomUUID() }
    const body = { usd: '500', reference: crypto.randomUUID() }
    const path = `/accounts/${accountId}/credit`
    const waiting = await call('POST', path, body, once)
    expect({ status: waiting.status, code: codeOf(waiting) }).toEqual({ status: 409, code: 'approval_required' })
    const again = await call('POST', path, body, once)
    expect(approvalOf(again)).toBe(approvalOf(waiting))
    expect(await gateway.balance(accountId)).toMatchObject({ available: 0 })
    // Another amount by the same reference is another request.
    const other = await credit(accountId, '400', body.reference)
    expect(other.status).toBe(409)
    const { body: listed } = await administrator.json('GET', '/dashboard/api/admin/approvals?status=pending')
    const [approval] = (listed as { items: Record<string, unknown>[] }).items.filter(
      (one) => one.approvalId === approvalOf(waiting),
    )
    expect(approval).toMatchObject({
      ...{ kind: 'credit.add', amount: '500', orderId: null, isOwn: false },
      requestedBy: { userId: shop.keyId, email: 'operator key Shop' },
    })
    expect(await decide(approvalOf(waiting), 'approve')).toMatchObject({ status: 200, body: { status: 'executed' } })
    expect((await call('POST', path, body, once)).body).toMatchObject({ balanceUsd: '500' })
    expect((await call('POST', path, body)).body).toMatchObject({ balanceUsd: '500' })
    const actions = (await auditOf(accountId)).map(({ action, actor_email: email }) => `${action} ${email}`)
    expect(actions.slice(1)).toEqual([
      'approval.request operator key Shop',
      `credit.add ${administrator.email}`,
      `approval.executed ${administrator.email}`,
    ])
  })

  test('a rejected credit stays refused; if a command adds the credit meanwhile, an approval adds no more', async () => {
    await renew()
    const accountId = await makeAccount()
    const rejected = await credit(accountId, '500', 'rejected')
    await decide(approvalOf(rejected), 'reject')
    const again = await credit(accountId, '500', 'rejected')
    expect({ status: again.status, code: codeOf(again) }).toEqual({ status: 409, code: 'not_approved' })
    const waiting = await credit(accountId, '500', 'both')
    const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
    await credits.addCredit({ accountId, amount: nano(500_000_000_000), reference: 'both' })
    expect(await decide(approvalOf(waiting), 'approve')).toMatchObject({ status: 200 })
    expect(await gateway.balance(accountId)).toMatchObject({ available: 500_000_000_000 })
  })

  test('credit for an administrator’s account always waits for another administrator', async () => {
    await renew()
    const { accountId } = administrator.viewer
    const waiting = await credit(accountId, '1', 'own account')
    expect({ status: waiting.status, code: codeOf(waiting) }).toEqual({ status: 409, code: 'approval_required' })
    expect(await decide(approvalOf(waiting), 'approve')).toMatchObject({ status: 403 })
    const second = await signUpPerson(gateway, { role: 'admin' })
    const path = `/dashboard/api/admin/approvals/${approvalOf(waiting)}/approve`
    expect(await second.json('POST', path, { note: '' })).toMatchObject({ status: 200 })
    expect((await credit(accountId, '1', 'own account')).body).toMatchObject({ balanceUsd: '1' })
  })

  test('credit beyond the maximum balance is refused and does not count', async () => {
    await renew()
    const accountId = await makeAccount()
    const credits = createCredits(gateway.gateway.database, gateway.gateway.deps.ledger)
    await credits.addCredit({ accountId, amount: nano(8_999_999_000_000_000), reference: 'full' })
    const refused = await credit(accountId, '50', 'more')
    expect({ status: refused.status, code: codeOf(refused) }).toEqual({ status: 409, code: 'credit_refused' })
    expect((await credit(await makeAccount(), '100', 'the whole limit')).status).toBe(200)
  })
})
