/** The account statement over HTTP: every kind of movement, with sums equal to the ledger; also as a file and for administrators. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adjustment, type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { addCredit, ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import { parseUsd } from '@/lib/money'

type Movement = {
  kind: string
  amount: string
  balance: string
  orderReference: string | null
  reference: string | null
  day: string
}
type Statement = { opening: string; closing: string; items: Movement[]; nextCursor: string | null }

const DAY_MS = 86_400_000
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
/** From this month's first day to tomorrow: without it a statement begins anew where the month turns meanwhile. */
const PERIOD = `from=${dayOf(Date.now()).slice(0, 8)}01&to=${dayOf(Date.now() + DAY_MS)}`

let office: Office
let customer: SignedInCustomer

beforeAll(async () => {
  office = await openOffice()
  customer = await signUpCustomer(office.gateway, '5')
  const { gateway } = office
  const { accountId } = customer
  const { orders } = gateway.gateway.deps.dashboard
  const actor = { kind: 'system', name: 'test' } as const
  const pay = async (usd: number) => {
    const order = await pendingOrder(office, usd, accountId)
    const externalId = crypto.randomUUID()
    const notice = {
      source: 'bank',
      externalId,
      reference: order.reference,
      amountCents: usd * 100,
      currency: 'USD',
      actor,
    } as const
    expect((await orders.confirmPayment(notice)).kind).toBe('credited')
    return { orderId: order.orderId, externalId }
  }
  const [kept, refunded, reversed] = [await pay(20), await pay(30), await pay(40)]
  await orders.refund({ orderId: refunded.orderId, amountCents: 1_250, reason: 'a test', key: 'key_refund', actor })
  const chargeback = { source: 'bank', kind: 'chargeback', externalId: 'back_1', undoes: reversed.externalId } as const
  await orders.reverse({ ...chargeback, amountCents: 4_000, currency: 'USD', actor })
  const returned = { source: 'bank', kind: 'reinstatement', externalId: 'back_2', undoes: 'back_1' } as const
  await orders.reverse({ ...returned, amountCents: 1_500, currency: 'USD', actor })
  await office.administration.request(office.ada, adjustment(accountId, -3))
  await addCredit(gateway, accountId, '0.000000007')
  for (let count = 0; count < 4; count++) await ask(gateway, customer.key)
  await flushed(gateway, accountId)
  expect(kept.orderId).not.toBe('')
})
afterAll(() => office.stop())

async function statement(query = `?${PERIOD}`): Promise<Statement> {
  return (await customer.person.json('GET', `/dashboard/api/a/:accountId/statement${query}`)).body as Statement
}

test('the statement has every movement, and its last balance is the ledger’s', async () => {
  const { opening, closing, items } = await statement()
  expect(opening).toBe('0')
  expect(items.map(({ kind }) => kind)).toEqual([
    ...[
      'credit',
      'payment',
      'payment',
      'payment',
      'refund',
      'chargeback',
      'reinstatement',
      'adjustment',
      'credit',
      'usage',
    ],
  ])
  const { available, held } = await office.gateway.balance(customer.accountId)
  expect(parseUsd(closing)).toBe((available + held) as never)
  expect(items.at(-1)?.balance).toBe(closing)
  expect((await statement('')).closing).toBe(closing)
  expect(items.filter(({ orderReference }) => orderReference !== null).length).toBe(6)
})

test('each page of the statement starts at the end of the one before', async () => {
  const whole = await statement()
  const items: Movement[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Statement = await statement(`?${PERIOD}&limit=3${cursor && `&cursor=${cursor}`}`)
    expect([page.opening, page.closing]).toEqual([whole.opening, whole.closing])
    items.push(...page.items)
    cursor = page.nextCursor
  }
  expect(items).toEqual(whole.items)
})

test('a period without movements is empty, and an invalid period is refused', async () => {
  expect(await statement('?from=2024-01-01&to=2024-12-31')).toMatchObject({ opening: '0', closing: '0', items: [] })
  for (const query of ['?from=2026-02-30', '?from=2026-02-02&to=2026-02-01', '?cursor=bogus', '?from=yesterday'])
    expect((await customer.person.json('GET', `/dashboard/api/a/:accountId/statement${query}`)).status).toBe(400)
})

test('the downloaded statement has the same movements between the two balances', async () => {
  const { closing, items } = await statement()
  const response = await customer.person.fetch(`/dashboard/api/a/:accountId/statement/csv?${PERIOD}`)
  expect(response.headers.get('content-disposition')).toMatch(
    /^attachment; filename="statement-\d{4}-\d\d-01-to-.*\.csv"$/,
  )
  const rows = (await response.text())
    .trimEnd()
    .split('\r\n')
    .map((row) => row.split(','))
  expect(rows[0]?.slice(0, 5)).toEqual(['day_utc', 'time_utc', 'kind', 'amount_usd', 'balance_usd'])
  expect(rows.slice(2, -1).map(([, , kind, amount, balance]) => ({ kind, amount, balance }))).toEqual(
    items.map(({ kind, amount, balance }) => ({ kind, amount, balance })),
  )
  expect([rows[1]?.[4], rows.at(-1)?.[4]]).toEqual(['0', closing])
})

test('administrators also see the references of a statement’s movements', async () => {
  const path = `/dashboard/api/admin/accounts/${customer.accountId}/statement`
  const seen = (await office.first.json('GET', `${path}?${PERIOD}`)).body as Statement
  const own = await statement()
  expect(seen.items.map((item): Movement => ({ ...item, reference: null }))).toEqual(own.items)
  expect(seen.items.filter(({ reference }) => reference !== null).length).toBe(own.items.length - 1)
  expect((await office.first.fetch(`${path}/csv`)).status).toBe(200)
  for (const member of [path, `${path}/csv`]) expect((await customer.person.json('GET', member)).status).toBe(404)
  expect((await office.first.json('GET', '/dashboard/api/admin/accounts/acct_none/statement')).status).toBe(404)
})
