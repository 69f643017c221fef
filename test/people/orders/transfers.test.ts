/** Transfers of credit over a whole gateway: permissions, refusals, and what both accounts then show. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { addCredit } from '@test/usage/customer'
import { createAccounts } from '@/accounts/accounts'
import type { AccountRole } from '@/db/auth-schema'

const TRANSFERS = '/dashboard/api/a/:accountId/transfers'

let gateway: TestGateway
let owner: Person
let other: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
beforeEach(async () => {
  owner = await signUpPerson(gateway)
  other = await signUpPerson(gateway, { name: 'Second account' })
  await addCredit(gateway, owner.viewer.accountId, '10')
})
afterAll(() => gateway.stop())

async function join(role: AccountRole): Promise<void> {
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${other.viewer.accountId}, ${owner.viewer.userId}, ${role})`
}

function move(changes: object = {}) {
  const asked = { toAccountId: other.viewer.accountId, amountUsd: '2.5', key: 'k' }
  return owner.json('POST', TRANSFERS, { ...asked, ...changes })
}

const available = async (person: Person) => Number((await gateway.balance(person.viewer.accountId)).available)

test('credit is transferred once per request key, with one reference in both statements and audit logs', async () => {
  await join('owner')
  expect((await owner.json('GET', `${TRANSFERS}/options`)).body).toEqual({
    ...{ minimumUsd: '0.01', maximumUsd: '10000', maxPerDay: 40 },
    ...{ movableUsd: '10', later: [] },
    accounts: [{ accountId: other.viewer.accountId, name: 'Second account' }],
  })
  const moved = await move()
  expect(moved).toMatchObject({ status: 200, body: { isNew: true } })
  const { transferId } = moved.body as { transferId: string }
  expect((await move()).body).toEqual({ transferId, isNew: false })
  expect([await available(owner), await available(other)]).toEqual([7_500_000_000, 2_500_000_000])
  for (const [person, amount] of [
    [owner, '-2.5'],
    [other, '2.5'],
  ] as const) {
    const statement = await person.json('GET', '/dashboard/api/a/:accountId/statement')
    const movement = { kind: 'transfer', amount, reference: `transfer:${transferId}` }
    expect((statement.body as { items: unknown[] }).items).toContainEqual(expect.objectContaining(movement))
    const csv = await (await person.fetch('/dashboard/api/a/:accountId/statement/csv')).text()
    expect(csv).toContain(`transfer:${transferId}`)
    const audit = await person.json('GET', '/dashboard/api/a/:accountId/audit')
    const entry = { action: 'credit.move', subject: transferId }
    expect((audit.body as { items: unknown[] }).items).toContainEqual(expect.objectContaining(entry))
  }
})

describe('refusals', () => {
  test('credit cannot be transferred to another owner’s account, and the answer is the same as for an unknown account', async () => {
    const answers = [await move(), await move({ toAccountId: 'acct_none' })]
    expect(answers.map(({ status }) => status)).toEqual([404, 404])
    expect(answers.map(({ body }) => messageOf(body))).toEqual([
      'There is no such account.',
      'There is no such account.',
    ])
    expect((await owner.json('GET', `${TRANSFERS}/options`)).body).toMatchObject({ accounts: [] })
    await join('billing')
    const refused = { status: 403, body: { error: { code: 'not_permitted', param: 'toAccountId' } } }
    expect(await move()).toMatchObject(refused)
    expect((await owner.json('GET', `${TRANSFERS}/options`)).body).toMatchObject({ accounts: [] })
    expect([await available(owner), await available(other)]).toEqual([10_000_000_000, 0])
  })

  test.each([
    [{ amountUsd: '0' }, 400, 'amountUsd'],
    [{ amountUsd: '-1' }, 400, 'amountUsd'],
    [{ amountUsd: '0.009999999' }, 400, 'amountUsd'],
    [{ amountUsd: '10000.000000001' }, 400, 'amountUsd'],
    [{ amountUsd: 'all' }, 400, 'amountUsd'],
    [{ amountUsd: '1e3' }, 400, 'amountUsd'],
    [{ amountUsd: '10.01' }, 409, 'amountUsd'],
    [{ key: '' }, 400, 'key'],
    [{ key: 'x'.repeat(65) }, 400, 'key'],
    [{ toAccountId: '' }, 400, 'toAccountId'],
  ])('a transfer with %j is refused', async (change, status, param) => {
    await join('owner')
    expect(await move(change)).toMatchObject({ status, body: { error: { param } } })
    expect([await available(owner), await available(other)]).toEqual([10_000_000_000, 0])
  })

  test('credit cannot be transferred to the same account, from a suspended account, or with a used request key', async () => {
    await join('owner')
    expect(await move({ toAccountId: owner.viewer.accountId })).toMatchObject({ status: 400 })
    expect((await move()).status).toBe(200)
    const taken = { status: 409, body: { error: { code: 'transfer_key_taken' } } }
    expect(await move({ amountUsd: '2' })).toMatchObject(taken)
    const { database, deps } = gateway.gateway
    await createAccounts(database, deps.ledger).setStatus(owner.viewer.accountId, 'suspended')
    const suspended = { status: 409, body: { error: { code: 'account_suspended' } } }
    expect(await move({ key: 'other' })).toMatchObject(suspended)
  })

  test('a reversible deposit cannot be transferred: the answer has the amount and the date', async () => {
    await join('owner')
    const { orders } = gateway.gateway.deps.dashboard
    const actor = { kind: 'system', name: 'test' } as const
    const order = { accountId: owner.viewer.accountId, method: 'deposit', amountCents: 2_000, actor } as const
    const made = await orders.create(order)
    if (made.kind !== 'created') throw new Error(made.kind)
    const { orderId, provider } = made.order
    const notice = { source: `deposit:${provider}`, externalId: orderId, orderId, amountCents: 2_000 } as const
    expect((await orders.confirmPayment({ ...notice, currency: 'USD', actor })).kind).toBe('credited')
    const options = await owner.json('GET', `${TRANSFERS}/options`)
    expect(options.body).toMatchObject({ movableUsd: '10', later: [{ amountUsd: '20' }] })
    const refused = await move({ amountUsd: '10.01' })
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'reversible_credit', param: 'amountUsd' } } })
    expect(messageOf(refused.body)).toMatch(
      /^Only 10 USD can leave the account now: the payer can still take back the rest\. 20 USD from \S+ \S+ UTC on\.$/,
    )
    expect(await move({ amountUsd: '10' })).toMatchObject({ status: 200 })
    expect([await available(owner), await available(other)]).toEqual([20_000_000_000, 10_000_000_000])
  })

  test('a transfer of credit needs a fresh proof, and is refused to management keys', async () => {
    await join('owner')
    await gateway.gateway.database.sql`UPDATE sessions SET proved_at = now() - interval '1 hour'
      WHERE user_id = ${owner.viewer.userId}`
    expect(await move()).toMatchObject({ status: 403, body: { error: { code: 'step_up_required' } } })
    expect(await available(owner)).toBe(10_000_000_000)
    const routes = gateway.gateway.app.routes.map(({ path }) => path)
    expect(routes.filter((path) => path.startsWith('/v1/') && path.includes('transfers'))).toEqual([])
  })
})

function messageOf(body: unknown): unknown {
  return (body as { error?: { message?: unknown } }).error?.message
}
