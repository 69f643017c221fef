/** Late and lost answers: at the end, pages show the current state, and text typed into a form is kept. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit, ask, flushed, type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Page } from 'playwright-core'
import { holdAnswer, settled } from './hold-answers'

let gateway: TestGateway
const browser = testBrowser()
let customer: SignedInCustomer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(10, 5))) })
})
beforeEach(async () => {
  customer = await signUpCustomer(gateway, '5')
})
afterAll(() => gateway.stop())

const menu = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).click()

/** A page that has loaded next to nothing yet. */
async function openModels(): Promise<Page> {
  const page = await browser.open('/dashboard/models', { url: gateway.url, cookie: customer.person.cookie })
  await page.getByRole('heading', { name: 'Models', exact: true }).waitFor()
  return page
}

async function charge(): Promise<void> {
  await ask(gateway, customer.key)
  await flushed(gateway, customer.accountId)
}

test('an invitation sent while the list loads is in the list', async () => {
  const organisation = { name: 'Engines Ltd', country: 'GB' }
  await customer.person.json('POST', '/dashboard/api/a/:accountId/organisation', organisation)
  const page = await openModels()
  const list = await holdAnswer(page, 'GET', '/invitations')
  await menu(page, 'Members')
  await list.given
  await page.getByLabel('E-mail address').fill('ada@example.test')
  const answered = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.getByRole('button', { name: 'Send invitation' }).click()
  expect((await answered).status()).toBe(200)
  await list.release()
  await page.getByRole('listitem').filter({ hasText: 'ada@example.test' }).waitFor()
})

test('switches pressed one after the other keep their state, whichever answer arrives last', async () => {
  const page = await openModels()
  await menu(page, 'Alerts')
  const [budgets, weekly] = ['Budgets', 'Usage of the week'].map((name) => page.getByRole('switch', { name }))
  const first = await holdAnswer(page, 'PUT', '/alerts/own')
  await budgets?.press('Space')
  await first.given
  await weekly?.press('Space')
  await page.getByRole('switch', { name: 'Usage of the week', checked: true }).waitFor()
  await first.release()
  await page.getByRole('switch', { name: 'Budgets', checked: false }).waitFor()
  await page.getByRole('switch', { name: 'Usage of the week', checked: true }).waitFor()
})

describe('a request that is charged while the page loads', () => {
  test('a request charged after the list loaded and before the first live event is shown', async () => {
    await charge()
    const page = await openModels()
    const released = Promise.withResolvers<void>()
    await page.route('**/events', async (route) => {
      await released.promise
      await route.continue()
    })
    await menu(page, 'Usage')
    const records = page.getByRole('link', { name: /^Usage record: / })
    await records.first().waitFor()
    await charge()
    await settled(page)
    expect(await records.count()).toBe(1)
    released.resolve()
    await records.nth(1).waitFor()
  })

  test('a request charged while the list loads is shown', async () => {
    await charge()
    const page = await openModels()
    const list = await holdAnswer(page, 'GET', '/usage')
    const told = Promise.withResolvers<void>()
    await page.exposeFunction('told', () => told.resolve())
    await page.evaluate(() => {
      const original = window.EventSource
      window.EventSource = class extends original {
        constructor(url: string | URL) {
          super(url)
          this.addEventListener(
            'usage',
            ({ data }) => JSON.parse(data).seq >= 2 && (window as never as { told(): void }).told(),
          )
        }
      }
    })
    await menu(page, 'Usage')
    await list.given
    await charge()
    await told.promise
    await list.release()
    await page
      .getByRole('link', { name: /^Usage record: / })
      .nth(1)
      .waitFor()
  })
})

test('while new figures load, the old ones are marked as loading', async () => {
  await charge()
  const page = await openModels()
  await menu(page, 'Usage')
  const cost = page.locator('[aria-busy]').filter({ hasText: 'Input tokens' })
  await cost.and(page.locator('[aria-busy="false"]')).waitFor()
  const totals = await holdAnswer(page, 'GET', '/usage/totals')
  await page.getByRole('combobox', { name: 'Time' }).click()
  await page.getByRole('option', { name: 'Last 7 days' }).click()
  await totals.given
  await cost.and(page.locator('[aria-busy="true"]')).waitFor()
  await totals.release()
  await cost.and(page.locator('[aria-busy="false"]')).waitFor()
})

test('without live events the balance is read from the page’s own request', async () => {
  const page = await openModels()
  await page.clock.install()
  await menu(page, 'Overview')
  await page.getByText('$5.00').first().waitFor()
  await addCredit(gateway, customer.accountId, '1')
  await page.getByText('$6.00').first().waitFor()
  await page.route('**/events', (route) => route.fulfill({ status: 429 }))
  await menu(page, 'Models')
  await addCredit(gateway, customer.accountId, '7')
  // What was loaded before is asked for again once it is ten seconds old.
  await page.clock.fastForward(11_000)
  await menu(page, 'Overview')
  await page.getByText('$13.00').first().waitFor()
})

test('a page with typed text stays if the session cannot be checked', async () => {
  const page = await openModels()
  await page.getByRole('button', { name: /^Account of / }).click()
  await page.getByRole('menuitem', { name: 'Settings' }).click()
  await page.getByLabel('Current password').fill('half a passw')
  await page.route('**/session/me', (route, request) =>
    request.method() === 'GET'
      ? route.fulfill({ status: 429, json: { error: { message: 'Too many.' } } })
      : route.fallback(),
  )
  await page.getByLabel('Name', { exact: true }).fill('Another Name')
  await page.getByRole('button', { name: 'Save name' }).click()
  await page.getByText('Your name was changed.').waitFor()
  expect(await page.getByLabel('Current password').inputValue()).toBe('half a passw')
})

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

async function changeThreshold(): Promise<Page> {
  const page = await openModels()
  await menu(page, 'Alerts')
  await page.getByLabel('Low credit, in USD', { exact: true }).fill('3')
  return page
}

test('leaving a changed form by a link asks first', async () => {
  const page = await changeThreshold()
  await menu(page, 'Budgets')
  const question = dialogs(page).filter({ hasText: 'Leave without saving?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(page.url()).toContain('/alerts')
  expect(await page.getByLabel('Low credit, in USD', { exact: true }).inputValue()).toContain('3')
  await menu(page, 'Budgets')
  await question.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Budgets', exact: true }).waitFor()
})

test('leaving a changed form by the browser’s back button asks first', async () => {
  const page = await changeThreshold()
  await page.evaluate(() => history.back())
  const question = dialogs(page).filter({ hasText: 'Leave without saving?' })
  await question.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Models', exact: true }).waitFor()
})

test('leaving a saved form asks no question', async () => {
  const page = await changeThreshold()
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.getByText(/saved/i).first().waitFor()
  await menu(page, 'Budgets')
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
