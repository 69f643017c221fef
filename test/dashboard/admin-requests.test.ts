/** The administrators' page of an account's charged requests, in Chromium: filters, likely duplicates, and an empty state. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { usageRecord } from '@test/usage/sample-records'
import { writeUsageBatch } from '@/usage/write-batch'

const LOOKS = [
  { width: 1280, colorScheme: 'light' },
  { width: 320, colorScheme: 'dark' },
] as const

let gateway: TestGateway
const browser = testBrowser()
let administrator: Person
let customer: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
  ;[administrator, customer] = await Promise.all([signUpPerson(gateway, { role: 'admin' }), signUpPerson(gateway)])
  const { accountId } = customer.viewer
  const now = Date.now()
  await writeUsageBatch(gateway.gateway.database.sql, [
    usageRecord({ accountId, atMs: now - 60_000, cost: 5_000, facts: { requestId: 'req_first' } }),
    usageRecord({ accountId, atMs: now - 30_000, cost: 5_000, facts: { requestId: 'req_again' } }),
    usageRecord({
      accountId,
      atMs: now,
      cost: 6_000,
      facts: { requestId: 'req_other', labels: { tags: ['team=search'] } },
    }),
  ])
})
afterAll(() => gateway.stop())

test('the administrators’ list of requests shows charges, marks likely duplicates, and can be filtered', async () => {
  const path = `/dashboard/admin/accounts/${customer.viewer.accountId}/requests`
  const page = await browser.open(path, { url: gateway.url, cookie: administrator.cookie })
  await page.getByText('Looks like req_first').waitFor()
  await page.getByText('Looks like req_again').waitFor()
  expect(await page.getByRole('listitem').count()).toBe(3)
  await expectGoodLooks(page, LOOKS)
  await page.getByLabel('Tag').fill('team=search')
  await page.getByText('req_first').first().waitFor({ state: 'detached' })
  expect(await page.getByRole('listitem').count()).toBe(1)
  await page.getByLabel('Cost (USD)').fill('1')
  await page.getByText('No request matches these filters').waitFor()
  await expectGoodLooks(page, LOOKS)
})

test('only administrators have the list of requests, and an invalid filter is named in an error', async () => {
  const path = `/dashboard/api/admin/accounts/${customer.viewer.accountId}/requests`
  expect((await customer.json('GET', path)).status).toBe(404)
  expect((await administrator.json('GET', `${path}?cost=free`)).body).toMatchObject({ error: { param: 'cost' } })
  expect((await administrator.json('GET', `${path}?from=today`)).body).toMatchObject({ error: { param: 'from' } })
  expect((await administrator.json('GET', `${path}?cursor=x`)).body).toMatchObject({ error: { param: 'cursor' } })
})
