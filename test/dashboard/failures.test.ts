/** The pages of failed requests in Chromium, also for administrators, and the administrators' list of charged requests. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { DESK_AND_PHONE, expectAccessible, expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import { usageRecord } from '@test/usage/sample-records'
import type { Page } from 'playwright-core'
import { writeUsageBatch } from '@/usage/write-batch'

/** Also between the two, where a table is narrowest. */
const LOOKS = [...DESK_AND_PHONE, { width: 1024, colorScheme: 'light' }] as const

let gateway: TestGateway
const browser = testBrowser()
let customer: SignedInCustomer
let administrator: Person
let lastId: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('ok')) })
  customer = await signUpCustomer(gateway, '5')
  administrator = await signUpPerson(gateway, { role: 'admin' })
  for (let count = 0; count < 30; count++) await fail({ model: 'svc/none' })
  gateway.upstream.respond(() => Response.json({}, { status: 500, headers: { 'request-id': 'prov_1' } }))
  await fail({})
  lastId = await fail({ temperature: 'hot' })
  await gateway.gateway.deps.failures.flush()
  await gateway.gateway.database
    .sql`UPDATE failed_request_counts SET requests = requests + 12 WHERE code = 'model_not_found'`
})
afterAll(() => gateway.stop())

async function fail(changes: Record<string, unknown>): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${customer.key}` },
    body: JSON.stringify({ model: 'svc/alpha', messages: [{ role: 'user', content: 'Hello' }], ...changes }),
  })
  await response.text()
  return response.headers.get('x-request-id') ?? ''
}

function open(path: string, { cookie }: Person = customer.person): Promise<Page> {
  return browser.open(`/dashboard${path}`, { url: gateway.url, cookie })
}

test('failed requests are listed with their reason, can be filtered, and have a count if the list is a sample', async () => {
  const page = await open('/failures')
  await page.getByText('44 in the last 30 days').waitFor()
  await page.getByText('Newest first. 12 more were not kept: 12 of 404 model_not_found.').waitFor()
  expect(await page.getByRole('listitem').count()).toBe(32)
  await page.getByText(lastId, { exact: false }).waitFor()
  await expectGoodLooks(page, LOOKS)
  await page.getByRole('button', { name: '400 invalid_request: 1' }).click()
  await page.waitForURL('**/failures?status=400&code=invalid_request')
  await page.getByText('1 in the last 30 days', { exact: true }).waitFor()
  expect(await page.getByRole('listitem').count()).toBe(1)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('44 in the last 30 days').waitFor()
})

test('failed requests are found by their id on the usage page, and by their key on its page', async () => {
  const page = await open('/usage')
  await page.getByRole('textbox', { name: 'Find by request id' }).fill(lastId)
  await page.getByRole('textbox', { name: 'Find by request id' }).press('Enter')
  const drawer = page.getByRole('dialog', { name: 'Usage record' })
  await drawer.getByText('This request failed and cost nothing.').waitFor()
  await drawer.getByText('400 invalid_request').waitFor()
  await page.goto(`${gateway.url}/dashboard/usage`)
  await page.getByRole('textbox', { name: 'Find by request id' }).fill('prov_1')
  await page.getByRole('textbox', { name: 'Find by request id' }).press('Enter')
  await drawer.getByText('The provider’s id: prov_1').waitFor()
  await expectAccessible(page)
  await page.goto(`${gateway.url}/dashboard/keys/${customer.keyId}`)
  await page.getByRole('link', { name: 'Those that failed' }).click()
  await page.waitForURL(`**/failures?key=${customer.keyId}`)
  await page.getByText('44 in the last 30 days').waitFor()
})

test("an account's page leads an administrator to its failed requests", async () => {
  const page = await open(`/admin/accounts/${customer.accountId}`, administrator)
  await page.getByRole('main').getByRole('link', { name: 'Failed requests' }).click()
  await page.waitForURL(`**/admin/accounts/${customer.accountId}/failures`)
  await page.getByText('44 in the last 30 days').waitFor()
  await expectAccessible(page)
})

test('the list of failed requests is empty at first, and says so if a filter matches nothing', async () => {
  const page = await open('/failures', administrator)
  await page.getByText('No request has failed in the last 30 days').waitFor()
  await page.goto(`${gateway.url}/dashboard/failures?code=x`)
  await page.getByText('No failed request matches these filters').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('No request has failed in the last 30 days').waitFor()
})

test('the administrators’ list of requests shows charges, marks likely duplicates, and can be filtered', async () => {
  const payer = await signUpPerson(gateway)
  const { accountId } = payer.viewer
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
  const page = await open(`/admin/accounts/${accountId}/requests`, administrator)
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
  const path = `/dashboard/api/admin/accounts/${customer.accountId}/requests`
  expect((await customer.person.json('GET', path)).status).toBe(404)
  expect((await administrator.json('GET', `${path}?cost=free`)).body).toMatchObject({ error: { param: 'cost' } })
  expect((await administrator.json('GET', `${path}?from=today`)).body).toMatchObject({ error: { param: 'from' } })
  expect((await administrator.json('GET', `${path}?cursor=x`)).body).toMatchObject({ error: { param: 'cursor' } })
})
