/** The margins page in Chromium: empty, with a gain, with a loss, and with unknown costs. */
import { afterAll, beforeAll, test } from 'bun:test'
import { type Office, openOffice } from '@test/console/administration/fixture'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { type RecordChanges, usageRecord } from '@test/usage/sample-records'
import { nano } from '@/lib/money'
import { writeUsageBatch } from '@/usage/write-batch'

let office: Office
const browser = testBrowser()

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())

function open(path: string) {
  return browser.open(`/dashboard${path}`, { url: office.gateway.url, cookie: office.first.cookie })
}

test('the margins page shows margins and count gaps: empty, known, negative, and unknown', async () => {
  const page = await open('/admin/margins')
  await page.getByText('Nothing was sold in these days').waitFor()
  await page.goto(`${office.gateway.url}/dashboard/admin/reconciliation`)
  await page.getByText('Nothing to reconcile').waitFor()

  const { accountId } = await office.gateway.customer('10')
  const record = (facts: RecordChanges['facts'] = {}) =>
    usageRecord({ accountId, atMs: Date.now(), cost: 2e9, ...(facts && { facts }) })
  const counts = {
    gaps: ['input_over' as const],
    providerInput: 9_999,
    providerOutput: 5,
    localInput: 80,
    localOutput: 4,
  }
  await writeUsageBatch(office.gateway.gateway.database.sql, [
    record({ providerCost: nano(3e9), counts, outrun: { calls: 1, cost: nano(5e8) } }),
    record({ model: 'svc/beta' }),
  ])
  await page.goto(`${office.gateway.url}/dashboard/admin/margins`)
  await page
    .getByRole('row', { name: 'svc/alpha 1 $2.00 $3.00 $0.50 for 1 call thrown away −$1.00 Loss', exact: true })
    .waitFor()
  await page.getByRole('row', { name: 'svc/beta 1 $2.00 Unknown Unknown', exact: true }).waitFor()
  await page.getByText('In no margin: the catalogue states no cost').waitFor()
  await expectAccessible(page)
  await page.setViewportSize({ width: 360, height: 900 })
  await page.reload()
  await page.getByRole('cell', { name: 'svc/beta' }).first().waitFor()
  await expectNoSidewaysScroll(page)

  await page.goto(`${office.gateway.url}/dashboard/admin/reconciliation?gap=input_over`)
  await page.getByText('Input 9,999 by the provider, 80 here').waitFor()
  await page.getByText("Charged $2.00: the provider's counts · the provider asks $3.00").waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  await page.goto(`${office.gateway.url}/dashboard/admin/reconciliation?gap=clamped`)
  await page.getByText('No request matches these filters').waitFor()
})
