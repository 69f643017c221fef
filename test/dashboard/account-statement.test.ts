/**
 * The account statement pages in Chromium: movements between two balances, the period, the file; also for
 * administrators. Slow: both schemes.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Office, openOffice } from '@test/console/administration/fixture'
import { DESK_AND_PHONE, expectAccessible, expectGoodLooks, testBrowser } from '@test/support/browser'
import type { Person } from '@test/support/person'
import { ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Page } from 'playwright-core'

/** Also between the two, where a table is narrowest. */
const LOOKS = [...DESK_AND_PHONE, { width: 1024, colorScheme: 'light' }] as const

let office: Office
const browser = testBrowser()
let customer: SignedInCustomer

beforeAll(async () => {
  office = await openOffice()
  customer = await signUpCustomer(office.gateway, '25')
  await ask(office.gateway, customer.key)
  await flushed(office.gateway, customer.accountId)
})
afterAll(() => office.stop())

function open(path: string, { cookie }: Person = customer.person): Promise<Page> {
  return browser.open(`/dashboard${path}`, { url: office.gateway.url, cookie })
}

async function rowsOf(page: Page): Promise<string[][]> {
  await page.getByRole('cell', { name: 'Closing balance' }).waitFor()
  const rows = await page.getByRole('row').all()
  return Promise.all(rows.slice(1).map(async (row) => (await row.getByRole('cell').allInnerTexts()).slice(1)))
}

test('the statement shows movements between two balances, on a desk and on a phone', async () => {
  const page = await open('/credit/statement')
  expect(await rowsOf(page)).toEqual([
    ['Opening balance', '', '$0.00000'],
    ['Credit by the operator', '$25.00000', '$25.00000'],
    ['Usage, 1 request', '−$0.00002', '$24.99998'],
    ['Closing balance', '', '$24.99998'],
  ])
  await expectGoodLooks(page, LOOKS)
})

test('a person chooses another period of the statement, shares its URL, and downloads it', async () => {
  const page = await open('/credit')
  await page.getByRole('link', { name: 'Account statement' }).click()
  await page.getByRole('combobox', { name: 'Period' }).click()
  await page.getByRole('option', { name: 'Last month' }).click()
  await page.waitForURL('**/credit/statement?period=last-month')
  await page.getByText('No money moved in this time').waitFor()
  await page.reload()
  await page.getByText('No money moved in this time').waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download CSV' }).click()
  expect((await download).suggestedFilename()).toMatch(/^statement-\d{4}-\d\d-01-to-\d{4}-\d\d-\d\d\.csv$/)
})

test("an account's page leads an administrator to its statement", async () => {
  const page = await open(`/admin/accounts/${customer.accountId}`, office.first)
  await page.getByRole('main').getByRole('link', { name: 'Statement' }).click()
  await page.waitForURL(`**/admin/accounts/${customer.accountId}/statement`)
  expect((await rowsOf(page)).at(-1)).toEqual(['Closing balance', '', '$24.99998'])
  await expectAccessible(page)
})
