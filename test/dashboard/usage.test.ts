/**
 * The overview and usage pages in Chromium: first steps, live figures, filters, charts, usage records, export. Slow:
 * thousands of records.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAccessible, expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit, ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import { usageRecord } from '@test/usage/sample-records'
import type { Page } from 'playwright-core'
import { writeUsageBatch } from '@/usage/write-batch'

const DAY_MS = 86_400_000
const RECORDS = 120

let gateway: TestGateway
const browser = testBrowser()
let customer: SignedInCustomer
let requestId: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))) })
  customer = await signUpCustomer(gateway, '5')
  const { accountId, keyId } = customer
  const models = ['svc/alpha', 'svc/beta', 'svc/a-model-with-a-long-name']
  // All before today, so that the real request is the newest, and none of them known to the ledger. Every tenth client
  // went away.
  const records = Array.from({ length: RECORDS }, (_, index) =>
    usageRecord({
      ...{ accountId, keyId, seq: 0, cost: 2_000_000 + index },
      atMs: Date.now() - DAY_MS - index * (DAY_MS / 6),
      facts: {
        ...{ requestId: `req_made_up_${index}`, model: models[index % 3] ?? '', requestedModel: 'auto-smart' },
        ...(index % 4 === 0 && {
          labels: { tags: ['env=prod', `team=${index % 8 === 0 ? 'books' : 'search'}`], app: 'My App' },
        }),
        ...(index % 10 === 0 && { status: 499, rule: 'disconnect_usage' as const, flags: ['estimated' as const] }),
      },
    }),
  )
  await writeUsageBatch(gateway.gateway.database.sql, records)
  requestId = await ask(gateway, customer.key)
  await flushed(gateway, accountId)
})
afterAll(() => gateway.stop())

/** Opens a page and waits until nothing on it is loading any more. */
async function open(path: string, { cookie } = customer.person): Promise<Page> {
  const page = await browser.open(path, { url: gateway.url, cookie })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForFunction(() => !document.querySelector('[aria-label="Loading"], .mantine-Skeleton-root'))
  return page
}

/** Chooses in the chart's list. */
async function splitBy(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Split by' }).click()
  await page.getByRole('option', { name, exact: true }).click()
}

describe('the overview', () => {
  test('the overview of a new account leads through the first steps, live', async () => {
    const person = await signUpPerson(gateway)
    const page = await open('/dashboard', person)
    await page.getByText('0 of 3 steps done').waitFor()
    await expectAccessible(page)
    await page.getByText('Nothing spent yet').waitFor()
    await addCredit(gateway, person.viewer.accountId, '7.5')
    await page.getByText('$7.50').waitFor()
    await page.getByText('1 of 3 steps done').waitFor()
    const key = await gateway.apiKeys.create({ accountId: person.viewer.accountId, name: 'first' })
    if (key.kind !== 'created') throw new Error(key.kind)
    await ask(gateway, key.key)
    await page.getByRole('heading', { name: 'Recent requests' }).waitFor()
    await page.getByText('Getting started').waitFor({ state: 'detached' })
  })

  test('the overview has figures, chart and recent requests, on a desk and on a phone', async () => {
    const page = await open('/dashboard')
    await page.getByRole('img', { name: /^Spend per day by model: \$[\d.]+ in 30 bars$/ }).waitFor()
    await page
      .getByRole('link', { name: /^Usage record: / })
      .first()
      .waitFor()
    await expectGoodLooks(page)
  })

  test('the overview warns of a low balance, with a link to buy credit', async () => {
    const poor = await signUpCustomer(gateway, '0.5')
    const page = await open('/dashboard', poor.person)
    const alert = page.getByRole('alert').filter({ hasText: 'Your credit is running low' })
    await alert.getByText('Less than $1 is left.').waitFor()
    expect(await alert.getByRole('link', { name: 'Add credit' }).getAttribute('href')).toBe(
      `/dashboard/a/${poor.accountId}/credit`,
    )
    await expectAccessible(page)
  })

  test('if the overview fails to load, it says why and can be loaded again', async () => {
    const page = await open('/dashboard/settings-that-do-not-exist')
    const refusal = { error: { message: 'The usage history is not available at the moment.', type: 'x', code: null } }
    let isBroken = true
    await page.route('**/dashboard/api/a/*/overview', (route) =>
      isBroken ? route.fulfill({ status: 403, json: refusal }) : route.continue(),
    )
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await page.getByText(refusal.error.message).waitFor()
    await expectAccessible(page)
    isBroken = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Spent this month').waitFor()
  })
})

describe('the usage page', () => {
  test('the usage page has sums, chart and requests page by page, on a desk and on a phone', async () => {
    const page = await open('/dashboard/usage?range=90d')
    await page.getByText(String(RECORDS + 1), { exact: true }).waitFor()
    const records = page.getByRole('link', { name: /^Usage record: / })
    await until(async () => (await records.count()) === 50, 'the first page of records')
    await expectGoodLooks(page)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.waitForFunction(() => document.querySelectorAll('main a[href*="request="]').length >= 100)
    expect(await records.count()).toBe(100)
  })

  test('the usage page keeps its filters in the URL', async () => {
    const page = await open('/dashboard/usage')
    await page.getByRole('combobox', { name: 'Outcome' }).click()
    await page.getByRole('option', { name: '499 client went away' }).click()
    await page.waitForURL('**/usage?status=499')
    const records = page.getByRole('link', { name: /^Usage record: / })
    await until(async () => (await records.count()) === RECORDS / 10, 'the narrowed list')
    await page.reload()
    await page.getByText('499 Client went away').first().waitFor()
    expect(await page.getByRole('combobox', { name: 'Outcome' }).inputValue()).toBe('499 client went away')
    expect(await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')).toContain('status=499')
    await page.getByRole('combobox', { name: 'Asked for' }).click()
    await page.getByRole('option', { name: 'svc/alpha' }).click()
    await page.getByText('No request matches these filters').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).first().click()
    await page.waitForURL((url) => url.search === '')
  })

  test('the usage page continues a search that stopped at its time limit', async () => {
    const page = await open('/dashboard')
    const next = new Map([
      [null, 'c1'],
      ['c1', 'c2'],
    ])
    const asked = new Set<string | null>()
    await page.route('**/dashboard/api/a/*/usage?**', async (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor')
      asked.add(cursor)
      const nextCursor = next.get(cursor) ?? null
      await route.fulfill({ json: { items: [], nextCursor, searchedTo: nextCursor && '2026-01-01T00:00:00Z' } })
    })
    await page.getByRole('link', { name: 'Usage', exact: true }).click()
    await page.getByText('No charged requests in this time').last().waitFor()
    expect([...asked]).toEqual([null, 'c1', 'c2'])
  })

  test('the usage chart is also shown as a table, by the chosen dimension', async () => {
    const page = await open('/dashboard/usage')
    await page.getByRole('radiogroup', { name: 'What is shown' }).getByText('Requests').click()
    await splitBy(page, 'Outcome')
    await page.getByRole('img', { name: /^Requests by outcome per day: 12[01] in \d+ bars$/ }).waitFor()
    await page.getByRole('button', { name: 'Show as table' }).click()
    const table = page.getByRole('table').filter({ hasText: 'Requests by outcome per day' })
    expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
      ...['Time', 'Succeeded', 'Client went away', 'Total'],
    ])
    await expectAccessible(page)
  })

  test('while another grouping loads, the usage chart keeps the title of its own data', async () => {
    const page = await open('/dashboard/usage')
    const arrived = Promise.withResolvers<void>()
    await page.route(/usage\/series\?.*group=status/, async (route) => {
      await arrived.promise
      await route.continue()
    })
    const asked = page.waitForRequest(/group=status/)
    await splitBy(page, 'Outcome')
    await asked
    const chart = page.getByRole('img', { name: / by .* per day: / })
    expect(await chart.getAttribute('aria-label')).toStartWith('Cost by model per day: ')
    arrived.resolve()
    await page.getByRole('img', { name: /^Cost by outcome per day: / }).waitFor()
  })

  test('the usage page filters by tag and app, and its chart groups by them', async () => {
    const page = await open('/dashboard/usage?range=90d')
    await page.getByRole('combobox', { name: 'Tag' }).click()
    await page.getByRole('option', { name: 'team=books' }).click()
    await page.waitForURL((url) => url.searchParams.get('tag') === 'team=books')
    const records = page.getByRole('link', { name: /^Usage record: / })
    await until(async () => (await records.count()) === RECORDS / 8, 'the narrowed list')
    await page.getByRole('combobox', { name: 'App' }).click()
    await page.getByRole('option', { name: 'My App' }).click()
    await page.waitForURL((url) => url.searchParams.get('app') === 'My App')
    const link = await page.getByRole('link', { name: 'Export CSV' }).getAttribute('href')
    const csv = await (await fetch(gateway.url + link, { headers: { cookie: customer.person.cookie } })).text()
    expect(csv.split('\r\n').filter((line) => line.includes('env=prod team=books,My App'))).toHaveLength(RECORDS / 8)
    await page.getByRole('button', { name: 'Clear filters' }).first().click()
    await splitBy(page, 'Tags')
    await page.getByRole('button', { name: 'Show as table' }).click()
    const table = page.getByRole('table').filter({ hasText: 'Cost by tags per day' })
    await table.getByRole('columnheader', { name: 'env=prod, team=books' }).waitFor()
    await table.getByRole('columnheader', { name: 'No tags' }).waitFor()
    expect(await page.getByRole('combobox', { name: 'Member' }).count()).toBe(0)
  })

  test('a usage record opens at its own URL, and closes', async () => {
    const page = await open('/dashboard/usage')
    await page
      .getByRole('link', { name: /^Usage record: / })
      .first()
      .click()
    await page.waitForURL(`**/usage?request=${requestId}`)
    await page.reload()
    const record = page.getByRole('dialog', { name: 'Usage record' })
    await record.getByText('You paid for the usage that the provider reported.', { exact: false }).waitFor()
    const rows = await record.getByRole('table').first().getByRole('row').allInnerTexts()
    expect(rows.map((row) => row.split(/\s*\t\s*/).filter((cell) => cell !== ''))).toEqual([
      ['Charged for', 'Count', 'Per 1M', 'Amount'],
      ['Input', '10', '$1.00', '$0.00001'],
      ['Output', '5', '$2.00', '$0.00001'],
      ['Total', '$0.00002'],
    ])
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await record.waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('')
    await page.goto(new URL('/dashboard/usage?request=req_unknown', gateway.url).href)
    await page.getByRole('dialog', { name: 'Usage record' }).getByText('No usage record', { exact: true }).waitFor()
  })

  test('the usage page finds a request by its id, and explains the field if nothing is found', async () => {
    const page = await open('/dashboard/usage')
    const field = page.getByRole('textbox', { name: 'Find by request id' })
    await field.fill('not an id')
    await field.press('Enter')
    await page.getByText('Paste the x-request-id of one request.').waitFor()
    await field.fill(`  ${requestId} `)
    await page.getByRole('button', { name: 'Find the request' }).click()
    await page.waitForURL(`**/usage?request=${requestId}`)
    await page.getByRole('dialog', { name: 'Usage record' }).getByText('Charged', { exact: true }).waitFor()
  })

  test('a disconnected client is not counted as an error; costs have their digits aligned', async () => {
    const page = await open('/dashboard/usage?range=90d')
    await page.getByText('0 with an error').waitFor()
    const costs = await page.locator('main table tbody tr td:last-child').allInnerTexts()
    expect(new Set(costs.map((cost) => cost.split('.')[1]?.length)).size).toBe(1)
    const times = await page.locator('main table tbody time').allInnerTexts()
    expect(times.every((time) => /\d{2}:\d{2}:\d{2}$/.test(time))).toBe(true)
  })

  test('new requests appear on the usage page as they are charged, and the export can be downloaded', async () => {
    const page = await open('/dashboard/usage?range=24h')
    const before = await page.getByRole('link', { name: /^Usage record: / }).count()
    await ask(gateway, customer.key)
    await page.waitForFunction(
      (count) => document.querySelectorAll('main table a[href*="request="]').length === count,
      before + 1,
    )
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export CSV' }).click()
    expect((await download).suggestedFilename()).toMatch(/^usage-.*\.csv$/)
    const lines = page.waitForEvent('download')
    await page.getByRole('link', { name: 'JSON lines' }).click()
    expect((await lines).suggestedFilename()).toMatch(/^usage-.*\.jsonl$/)
  })
})
