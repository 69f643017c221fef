/** Pages whose script file cannot be loaded, as in a tab that was open during an upgrade: one reload, then an explanation. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpCustomer } from '@test/usage/customer'
import type { Page } from 'playwright-core'

let gateway: TestGateway
const browser = testBrowser()
let cookie: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
  cookie = (await signUpCustomer(gateway, '5')).person.cookie
})
afterAll(() => gateway.stop())

/** Refuses scripts that `page` has not fetched yet, for as long as `isBroken` says so. */
async function refuseNewScripts(page: Page, isBroken: () => boolean): Promise<void> {
  const known = new Set(await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name)))
  await page.route('**/dashboard/assets/*.js', (route) =>
    known.has(route.request().url()) || !isBroken() ? route.continue() : route.abort(),
  )
}

async function openModels(): Promise<Page> {
  const page = await browser.open('/dashboard/models', { url: gateway.url, cookie })
  await page.getByRole('heading', { name: 'Models', exact: true }).waitFor()
  return page
}

const toBudgets = (page: Page) => page.getByRole('link', { name: 'Budgets', exact: true }).click()
const budgets = (page: Page) => page.getByRole('heading', { name: 'Budgets', exact: true, level: 1 }).waitFor()

test('a page whose script file failed to load once reloads by itself', async () => {
  const page = await openModels()
  let loads = 0
  await refuseNewScripts(page, () => loads === 0)
  page.on('domcontentloaded', () => loads++)
  await toBudgets(page)
  await budgets(page)
  expect(loads).toBe(1)
})

test('a page whose script file is missing says so, and its button tries again', async () => {
  const page = await openModels()
  let isBroken = true
  await refuseNewScripts(page, () => isBroken)
  await toBudgets(page)
  const alert = page.getByRole('alert').filter({ hasText: 'This page could not be fetched' })
  await alert.waitFor()
  await expectAccessible(page)
  isBroken = false
  await alert.getByRole('button', { name: 'Try again' }).click()
  await budgets(page)
})

test('a public page whose script file is missing also says so', async () => {
  const page = await browser.open('/dashboard/sign-in', { url: gateway.url })
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  let isBroken = true
  await refuseNewScripts(page, () => isBroken)
  await page.getByRole('link', { name: /Forgot/ }).click()
  const alert = page.getByRole('alert').filter({ hasText: 'This page could not be fetched' })
  await alert.waitFor()
  isBroken = false
  await alert.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: /password/i }).waitFor()
})
