/** The books as page, file and command: equal figures, which match the balances in Redis. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { run } from '@test/cli/run'
import { adjustment, newDay, type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { test } from '@test/ledger/accounts/within-day'
import type { JsonAnswer } from '@test/support/person'
import { ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { tellBooks } from '@/console/administration/books/tell-books'
import { nano, parseUsd } from '@/lib/money'

const BOOKS = '/dashboard/api/admin/books'

let office: Office
let customer: SignedInCustomer

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())

type Told = ReturnType<typeof tellBooks>

async function read(query = ''): Promise<Told> {
  return (await office.first.json('GET', `${BOOKS}${query}`)).body as Told
}

function admin(...args: string[]) {
  const { redisUrl, databaseUrl } = office.gateway.stores
  return run(args, { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl })
}

const command = (...args: string[]) => admin('books', ...args)

test('without accounts the books are zero, for the days of this month', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const books = await read()
  expect(books).toMatchObject({ by: 'day', from: `${today.slice(0, 7)}-01`, to: today, models: [] })
  expect(books.periods.map(({ period }) => period).at(-1)).toBe(today)
  expect(books.total).toMatchObject({ opening: '0', revenue: '0', closing: '0', cost: null, margin: null, cash: [] })
})

test('the books page, its file and the command show the same figures, which equal the balances in Redis', async () => {
  const { gateway, administration, first } = office
  customer = await signUpCustomer(gateway, '5')
  await newDay(office)
  const order = await pendingOrder(office, 20, customer.accountId)
  await first.json('POST', `/dashboard/api/admin/orders/${order.orderId}/confirm`, {
    ...{ amount: '20', key: crypto.randomUUID(), reason: 'It is on the statement' },
  })
  await administration.request(office.ada, adjustment(customer.accountId, -2))
  await ask(gateway, customer.key)
  await flushed(gateway, customer.accountId)
  const { available, held } = await gateway.balance(customer.accountId)

  const books = await read()
  expect(books.total).toMatchObject({ opening: '0', purchases: '20', grants: '5', corrections: '-2', requests: 1 })
  expect(books.total.cash).toMatchObject([
    { way: 'manual', currency: 'USD', isTest: false, received: '20', refunded: '0' },
  ])
  expect(parseUsd(books.total.closing)).toBe(nano(available + held))
  // Nobody knows what the model costs.
  expect(books.models).toMatchObject([{ model: 'svc/alpha', cost: null, margin: null, uncosted: books.total.charged }])

  const printed = await command()
  expect(printed.json).toEqual(books)
  const file = await first.fetch(`${BOOKS}/csv`)
  expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(file.headers.get('content-disposition')).toContain(`books-by-day-${books.from}-to-${books.to}.csv`)
  const text = await file.text()
  expect((await command('--csv')).stdout).toBe(text)
  const rows = text
    .trimEnd()
    .split('\r\n')
    .map((row) => row.split(','))
  const today = books.to
  const cell = (line: string, detail = '') =>
    rows.find((row) => row[0] === today && row[2] === line && row[3] === detail)?.[5]
  expect(cell('closing')).toBe(books.total.closing)
  expect(cell('purchases', 'manual')).toBe('20')
  expect(cell('grants', 'credit')).toBe('5')
  expect(cell('corrections', 'adjustment')).toBe('-2')
  expect(cell('revenue')).toBe(books.total.revenue)
  expect(cell('refunds')).toBe('0')
  // Unknown is empty, and not zero.
  expect(cell('provider_cost', 'svc/alpha')).toBe('')
  expect(cell('charged_at_unknown_cost', 'svc/alpha')).toBe(books.total.charged)

  const month = today.slice(0, 7)
  const byMonth = await read('?by=month')
  expect(byMonth).toMatchObject({ from: `${today.slice(0, 4)}-01-01`, to: today, total: books.total })
  expect(byMonth.periods.at(-1)).toMatchObject({ period: month, ...books.total })
  expect((await command('--month', month)).json).toEqual(books)
  expect((await command('--by', 'month')).json).toEqual(byMonth)
})

test('the books of a past period do not contain later movements', async () => {
  const books = await read('?from=2024-01-31&to=2024-02-02')
  expect(books.periods.map(({ period }) => period)).toEqual(['2024-01-31', '2024-02-01', '2024-02-02'])
  expect(books.total).toMatchObject({ opening: '0', closing: '0' })
  expect(books.now.liability).not.toBe('0')
  const months = await read('?by=month&from=2024-01-31&to=2024-02-02')
  expect(months).toMatchObject({ from: '2024-01-01', to: '2024-02-29' })
  expect(months.periods.map(({ period }) => period)).toEqual(['2024-01', '2024-02'])
})

test('an invalid period of the books is refused with the faulty field', async () => {
  const refused: [string, string][] = [
    ['from=2026-02-30', 'from: must be a day such as 2026-03-01'],
    ['to=soon', 'to: must be a day such as 2026-03-01'],
    ['from=2024-03-01&to=2024-02-01', 'from: must not be after to, or in the future'],
    ['from=2099-01-01', 'from: must not be after to, or in the future'],
    ['from=2020-01-01&to=2021-06-01', 'from: must be at most 366 days before to'],
    ['by=month&from=2001-01-01&to=2020-01-01', 'from: must be at most 120 months before to'],
  ]
  for (const [query, words] of refused) {
    const { status, body }: JsonAnswer = await office.first.json('GET', `${BOOKS}?${query}`)
    expect([query, status, JSON.stringify(body)]).toEqual([query, 400, expect.stringContaining(words)])
    expect((await office.first.fetch(`${BOOKS}/csv?${query}`)).status).toBe(400)
  }
  expect((await command('--month', '2026-13')).stderr).toContain('--month must be a month such as 2026-11')
  expect((await command('--month', '2026-11', '--from', '2026-11-02')).stderr).toContain('say one of them')
  expect((await command('--from', '2026-02-30')).stderr).toContain('--from must be a day such as 2026-03-01')
})

test('the commands on the page for owners of the service have the described effect', async () => {
  const page = await Bun.file('docs/operations/selling-credit.md').text()
  const lines = [...page.matchAll(/^bun run admin (.+)$/gm)].map(([, line = '']) => line)
  expect(lines).toHaveLength(3)
  for (const line of lines) {
    const { json, stdout, stderr } = await admin(...line.split(' '))
    expect({ line, stderr }).toEqual({ line, stderr: '' })
    if (!line.startsWith('ledger')) expect(stdout).toContain('liability')
    // The Redis is shared with other test files, whose accounts this history doesn't know.
    else expect((json.violations as { kind: string }[]).filter(({ kind }) => kind !== 'unknown_to_history')).toEqual([])
  }
})
