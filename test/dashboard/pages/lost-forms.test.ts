/** Text typed into a form stays if the session ends, or if the page is left by mistake. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Page } from 'playwright-core'

let gateway: TestGateway
const browser = testBrowser()
let customer: SignedInCustomer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json({}) })
})
beforeEach(async () => {
  customer = await signUpCustomer(gateway, '5')
})
afterAll(() => gateway.stop())

/** The form of a new key, with a name typed into it. */
async function openForm(): Promise<Page> {
  const page = await browser.open('/dashboard/keys', { url: gateway.url, cookie: customer.person.cookie })
  await page.getByRole('button', { name: 'Create key' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('typed with care')
  return page
}

const endSession = () => customer.person.json('POST', '/dashboard/api/session/sign-out', {})
const dialogs = (page: Page) => page.getByRole('dialog')
const signInAgain = (page: Page) => dialogs(page).filter({ hasText: 'Sign in to go on' })

test('if the session ends before a form is sent, the form is sent after signing in again', async () => {
  const page = await openForm()
  await endSession()
  await dialogs(page).getByRole('button', { name: 'Create key' }).click()
  const dialog = signInAgain(page)
  await dialog.waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await dialog.getByLabel('Password', { exact: true }).fill('wrong password')
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Password', { exact: true }).fill(customer.person.password)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('dialog').getByLabel('API key').waitFor()
  await page.getByText('typed with care').first().waitFor()
})

test('if the session ended, closing the dialog leads to the sign-in', async () => {
  const page = await openForm()
  await endSession()
  await dialogs(page).getByRole('button', { name: 'Create key' }).click()
  await signInAgain(page).getByRole('button', { name: 'Leave, and lose what you typed' }).click()
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
})

async function changeName(): Promise<Page> {
  const page = await browser.open('/dashboard/models', { url: gateway.url, cookie: customer.person.cookie })
  await page.getByRole('heading', { name: 'Models', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Alerts', exact: true }).click()
  await page.getByLabel('Low credit, in USD', { exact: true }).fill('3')
  return page
}

test('leaving a changed form by a link asks first', async () => {
  const page = await changeName()
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  const question = dialogs(page).filter({ hasText: 'Leave without saving?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(page.url()).toContain('/alerts')
  expect(await page.getByLabel('Low credit, in USD', { exact: true }).inputValue()).toContain('3')
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await question.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Budgets', exact: true }).waitFor()
})

test('leaving a changed form by the browser’s back button asks first', async () => {
  const page = await changeName()
  await page.evaluate(() => history.back())
  const question = dialogs(page).filter({ hasText: 'Leave without saving?' })
  await question.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Models', exact: true }).waitFor()
})

test('leaving a saved form asks no question', async () => {
  const page = await changeName()
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.getByText(/saved/i).first().waitFor()
  await page.getByRole('link', { name: 'Budgets', exact: true }).click()
  await page.getByRole('heading', { name: 'Budgets', exact: true }).waitFor()
})

test('if the answer to a new key was lost, pressing again shows the key that was made', async () => {
  const page = await openForm()
  let isLost = false
  await page.route('**/dashboard/api/a/*/keys', async (route) => {
    if (isLost || route.request().method() !== 'POST') return route.continue()
    isLost = true
    // The gateway makes the key; its answer never comes.
    await route.fetch()
    await route.abort()
  })
  const create = dialogs(page).getByRole('button', { name: 'Create key' })
  await create.click()
  await dialogs(page).getByRole('alert').filter({ hasText: 'could not be reached' }).waitFor()
  await create.click()
  await dialogs(page).getByLabel('API key').waitFor()
  const { body } = await customer.person.json('GET', '/dashboard/api/a/:accountId/keys')
  const names = (body as { items: { name: string }[] }).items.map(({ name }) => name)
  expect(names.filter((name) => name === 'typed with care')).toHaveLength(1)
})
