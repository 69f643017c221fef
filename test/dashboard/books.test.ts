/** The books page in Chromium: without bookings, with every kind of booking, by month, on a phone, and as a file. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { adjustment, type Office, openOffice, pendingOrder } from '@test/console/administration/fixture'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { usageRecord } from '@test/usage/sample-records'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'

let office: Office
const browser = testBrowser()

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())

test('the books page shows the equation of the books, cash, days and models, and marks unknown figures', async () => {
  const page = await browser.open('/dashboard/admin/books', { url: office.gateway.url, cookie: office.first.cookie })
  await page.getByText('Nothing was booked in this time').waitFor()
  await expectAccessible(page)

  const { gateway, first, administration } = office
  const { accountId } = await gateway.customer('10')
  const order = await pendingOrder(office, 20, accountId)
  await first.json('POST', `/dashboard/api/admin/orders/${order.orderId}/confirm`, {
    ...{ amount: '20', key: crypto.randomUUID(), reason: 'It is on the statement' },
  })
  await administration.request(office.ada, adjustment(accountId, -1))
  const record = (model: string, providerCost?: number) =>
    usageRecord({
      ...{ accountId, atMs: Date.now(), cost: 2e9 + 1 },
      facts: { model, ...(providerCost !== undefined && { providerCost: nano(providerCost) }) },
    })
  await writeUsageBatch(gateway.gateway.database.sql, [record('svc/alpha', 15e8), record('svc/beta')])

  // The page begins with this month, which may have begun since the first requests.
  await page.goto(`${gateway.url}/dashboard/admin/books?period=year&by=month`)
  const row = (name: string | RegExp) => page.getByRole('row', { name })
  await row('Opening liability $0.000000000').waitFor()
  await row('Credit bought Paid for, less tax $20.000000000').waitFor()
  await row(/Credit granted .* \$10\.000000000/).waitFor()
  await row(/Corrections .* −\$1\.000000000/).waitFor()
  await row('Refunds $0.000000000').waitFor()
  await row('Revenue What requests were charged −$4.000000002').waitFor()
  await row('Closing liability The sum of all balances $24.999999998').waitFor()
  expect(await page.getByText('Disputes').count()).toBe(0)
  await row('Confirmed by an operator, USD 20.00 0.00 0.00 0.00 0.00').waitFor()
  await row('svc/alpha 1 $2.00 $1.50 $0.50').waitFor()
  await row('svc/beta 1 $2.00 Unknown Unknown').waitFor()
  await row(new RegExp(`^${new Date().toISOString().slice(0, 7)} `)).waitFor()
  await expectAccessible(page)

  await page.getByText('By day', { exact: true }).first().click()
  await row(new RegExp(`^${new Date().toISOString().slice(0, 10)} `)).waitFor()
  expect(new URL(page.url()).searchParams.get('by')).toBe('day')
  const link = await page.getByRole('link', { name: 'Download CSV' }).getAttribute('href')
  const file = await first.fetch(link ?? '')
  expect(await file.text()).toContain(',liability,closing,,USD,24.999999998')

  await page.setViewportSize({ width: 360, height: 900 })
  await page.reload()
  await row(/Closing liability/).waitFor()
  await expectNoSidewaysScroll(page)
  await page.goto(`${gateway.url}/dashboard/admin/books?period=days&from=2024-02-01&to=2024-02-03`)
  await page.getByText('Nothing was booked in this time').waitFor()
})
