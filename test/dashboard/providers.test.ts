/** Testing a provider from its page, in Chromium: before, during and after the test, and its failures. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Office, openOffice } from '@test/console/administration/fixture'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'

let office: Office
const browser = testBrowser()

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())

function open(path: string) {
  return browser.open(`/dashboard${path}`, { url: office.gateway.url, cookie: office.first.cookie })
}

describe('the test of a provider', () => {
  test('a provider test is started by a click, shown while it runs, and explains failures', async () => {
    const page = await open('/admin/providers')
    const gate = Promise.withResolvers<void>()
    await page.route('**/api/admin/providers/provider1/test', async (route) => {
      await gate.promise
      await route.continue()
    })
    const button = page.getByRole('button', { name: 'Test provider1' })
    await button.click()
    await page.getByRole('status', { name: 'Loading' }).first().waitFor()
    gate.resolve()
    const table = page.getByRole('table', { name: 'What works at provider1' })
    await table.waitFor()
    const cells = await table.getByRole('row').nth(1).getByRole('cell').allInnerTexts()
    // The provider of this office answers everything with the same words, in one piece.
    expect(cells.slice(1, 3)).toEqual(['Works', 'Fails'])
    await page.getByText('svc/alpha, stream: came in one piece').waitFor()
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [768, 'dark'],
      [360, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await expectAccessible(page)
      await expectNoSidewaysScroll(page)
    }
    const { items } = await office.administration.searchAudit({ action: 'provider.test', limit: 10 })
    expect(items).toMatchObject([{ actorEmail: office.first.email, subject: 'provider1' }])
  })

  test('a provider test that could not run shows the reason and can be repeated', async () => {
    const page = await open('/admin/providers')
    const route = '**/api/admin/providers/provider1/test'
    const refused = { error: { message: 'The history is away.', type: 'x', param: null, code: null } }
    await page.route(route, (intercepted) => intercepted.fulfill({ status: 503, json: refused }))
    await page.getByRole('button', { name: 'Test provider1' }).click()
    await page.getByText('The history is away.').waitFor()
    await expectAccessible(page)
    await page.unroute(route)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('table', { name: 'What works at provider1' }).waitFor()
    expect(await page.getByText('The history is away.').count()).toBe(0)
  })
})
