/** The API documentation page: what it shows first, its scheme, its audience, and that its examples can be run. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import type { Page } from 'playwright-core'

const INTERNAL = '/docs?internal=true'
const FIRST = 'Create a chat completion'
/** Operations with what else there is: a parameter of the path, one of the query, no body, a body of a person's. */
const READ = [
  'Stream generated content (family 3)',
  'Balance and recent usage',
  'Rename an API key',
  'Delete an API key',
]

let gateway: TestGateway
const browser = testBrowser()
let customer: Customer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('The sky scatters blue light.')) })
  customer = await gateway.customer('10')
})
afterAll(() => gateway.stop())

type Look = { colorScheme?: 'light' | 'dark'; width?: number }

async function open(look: Look = {}, path = INTERNAL): Promise<Page> {
  const page = await browser.open(path, { url: gateway.url, ...look })
  await page.getByText(FIRST).waitFor()
  return page
}

async function authorize(page: Page): Promise<void> {
  await page.locator('.auth-wrapper .authorize').click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input').first().fill(customer.key)
  await dialog.getByRole('button', { name: 'Authorize' }).first().click()
  await dialog.getByRole('button', { name: 'Close', exact: true }).first().click()
}

test('the docs page loads only its own compressed files', async () => {
  const page = await (await fetch(`${gateway.url}/docs`)).text()
  const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string)
  expect(addresses.length).toBeGreaterThan(3)
  for (const address of addresses) {
    expect(address).toStartWith('/')
    const response = await fetch(gateway.url + address)
    expect([address, response.status]).toEqual([address, 200])
    if (/\.(js|css)$/.test(address)) expect(response.headers.get('content-encoding')).toBe('br')
  }
})

test('the prepared example gets an answer once a key is entered', async () => {
  const page = await open()
  await authorize(page)
  await page.getByText(FIRST).click()
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor()
  await page.locator('.live-responses-table').getByText('The sky scatters blue light.').waitFor()
})

test('the docs page shows the public reference, and switches to the internal routes and back', async () => {
  const page = await open({}, '/docs')
  expect(await page.locator('h3.opblock-tag[data-tag="Dashboard"]').count()).toBe(0)
  await page.getByText('Authentication.').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Show internal routes' }).click()
  await page.locator('h3.opblock-tag[data-tag="Dashboard"]').waitFor()
  await page.getByRole('link', { name: 'Hide internal routes' }).click()
  await page.waitForURL((url) => url.search === '')
  await page.getByText(FIRST).waitFor()
  expect(await page.locator('h3.opblock-tag[data-tag="Dashboard"]').count()).toBe(0)
})

test('with internal routes shown, inference comes first and is open, page routes come last and are closed', async () => {
  const page = await open()
  const tags = page.locator('h3.opblock-tag')
  expect(await tags.first().getAttribute('data-tag')).toBe('Inference')
  expect(await tags.last().getAttribute('data-tag')).toBe('Administration')
  expect(await tags.first().getAttribute('data-is-open')).toBe('true')
  for (const tag of ['Dashboard', 'Administration'])
    await page.locator(`h3.opblock-tag[data-tag="${tag}"][data-is-open="false"]`).waitFor()
  expect(await page.getByText('/dashboard/api/a/{accountId}/keys').count()).toBe(0)
})

test('with every section open, the docs page has all operations and keeps its scroll position', async () => {
  const page = await open()
  const { paths } = (await (await fetch(`${gateway.url}/docs/json?internal=true`)).json()) as {
    paths: Record<string, object>
  }
  for (const tag of ['Dashboard', 'Administration']) {
    const heading = page.locator(`h3.opblock-tag[data-tag="${tag}"] button`)
    await heading.click()
    await page.locator(`h3.opblock-tag[data-tag="${tag}"][data-is-open="true"]`).waitFor()
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(0)
  }
  const operations = Object.values(paths).flatMap((path) => Object.keys(path))
  // The library draws lists of 150 rows and more in part.
  expect(operations.length).toBeGreaterThan(150)
  await until(async () => (await page.locator('.opblock').count()) >= operations.length, 'every operation')
})

const LOOKS: Look[] = [{ colorScheme: 'light' }, { colorScheme: 'dark', width: 360 }]

test.each(LOOKS)('the docs page is accessible in %j', async (look) => {
  const page = await open(look)
  await page.locator('h3.opblock-tag[data-tag="Dashboard"] button').click()
  await page.getByText('/dashboard/api/a/{accountId}/keys/{id}').first().waitFor()
  // What programs may do too is there twice.
  for (const summary of READ) await page.getByText(summary).last().click()
  await page.getByText(FIRST).click()
  await page.getByRole('button', { name: 'Execute' }).first().click()
  await page.getByText('Server response').waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await page.locator('.auth-wrapper .authorize').click()
  await page.getByRole('dialog').waitFor()
  await expectAccessible(page)
})

test('the docs page is dark or light as the dashboard, or as the system if nothing was chosen', async () => {
  const isDark = (page: Page) => page.evaluate(() => document.documentElement.classList.contains('dark-mode'))
  const page = await open({ colorScheme: 'dark' })
  expect(await isDark(page)).toBe(true)
  await page.emulateMedia({ colorScheme: 'light' })
  await until(async () => !(await isDark(page)), 'the page to turn light')
  await page.evaluate(() => localStorage.setItem('mantine-color-scheme-value', 'dark'))
  await page.reload()
  await page.getByText(FIRST).waitFor()
  expect(await isDark(page)).toBe(true)
})
