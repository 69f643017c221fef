/** Key rules of one member, in Chromium: set on the members page, and shown where the member makes keys. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { chooseOne, goRound, hasFocus, tabTo } from '@test/dashboard/pages/keyboard'
import { expectAccessible, expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import type { Page } from 'playwright-core'

let gateway: TestGateway
const browser = testBrowser()
let owner: Person
let grace: Person

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Response('{}'),
    catalog({ models, providers }) {
      providers.spare = { ...providers.provider1, keys: ['spare-secret-canary'] }
      models.push({ ...models[0], id: 'svc/beta', targets: [{ provider: 'spare', model: 'beta-upstream' }] })
    },
  })
  grace = await signUpPerson(gateway, { name: 'Grace Hopper' })
})
beforeEach(async () => {
  owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  await owner.json('POST', '/dashboard/api/a/:accountId/organisation', { name: 'Engines Ltd', country: 'GB' })
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${owner.viewer.accountId}, ${grace.viewer.userId}, 'developer')`
})
afterAll(() => gateway.stop())

const open = (person: Person, path: string): Promise<Page> =>
  browser.open(`/dashboard/a/${owner.viewer.accountId}${path}`, { url: gateway.url, cookie: person.cookie })
const rules = () => `/dashboard/api/a/${owner.viewer.accountId}/members/${grace.viewer.userId}/key-policy`
const openerIn = (page: Page) =>
  page.getByRole('button', { name: 'Key rules for Grace Hopper' }).filter({ visible: true })
const dialogIn = (page: Page) => page.getByRole('dialog', { name: 'Rules for API keys: Grace Hopper' })

test('key rules of a member are set, shown and removed by the keyboard alone', async () => {
  const page = await open(owner, '/members')
  const [opener, dialog] = [openerIn(page), dialogIn(page)]
  await tabTo(page, opener)
  await page.keyboard.press('Enter')
  await dialog.getByPlaceholder('Every model').waitFor()
  await expectAccessible(page)
  await goRound(page, dialog)
  const providers = dialog.getByRole('combobox', { name: 'Providers that may answer' })
  await chooseOne(page, providers, 'provider1')
  await expectAccessible(page)
  await tabTo(page, dialog.getByRole('button', { name: 'Save' }))
  await page.keyboard.press('Enter')
  await page.getByText('This applies from the next request of Grace Hopper.').waitFor()
  await dialog.waitFor({ state: 'hidden' })
  await until(() => hasFocus(opener), 'the focus to be back at the button')
  expect((await owner.json('GET', rules())).body).toMatchObject({
    allowedModels: null,
    allowedProviders: ['provider1'],
  })

  await page.reload()
  await tabTo(page, opener)
  await page.keyboard.press('Enter')
  await dialog.getByText('provider1').waitFor()
  await tabTo(page, providers)
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Tab')
  await tabTo(page, dialog.getByRole('button', { name: 'Save' }))
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'hidden' })
  expect((await owner.json('GET', rules())).body).toMatchObject({ allowedModels: null, allowedProviders: null })
})

test('key rules beyond the account’s are refused at their field', async () => {
  await owner.json('PUT', '/dashboard/api/a/:accountId/key-policy', { allowedProviders: ['provider1'] })
  const page = await open(owner, '/members')
  await openerIn(page).click()
  const dialog = dialogIn(page)
  const field = dialog.getByRole('combobox', { name: 'Providers that may answer' })
  await chooseOne(page, field, 'spare')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText("The provider 'spare' is beyond the rules for all keys of this account.").waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  // The focus goes to the field, which opens its list.
  await until(() => hasFocus(field), 'the focus to be at the field')
  await page.keyboard.press('Tab')
  await page.getByRole('listbox').waitFor({ state: 'hidden' })
  await expectAccessible(page)
})

test('if key rules cannot be loaded, the dialog says so instead of showing none, and can load them again', async () => {
  await owner.json('PUT', rules(), { allowedModels: ['svc/alpha'] })
  const page = await open(owner, '/members')
  let isBroken = true
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  await page.route(`**${rules()}`, async (route) => {
    if (!isBroken) return await route.continue()
    asked.resolve()
    await answered.promise
    await route.fulfill({ status: 400, json: { error: { message: 'The store is away.', code: 'away' } } })
  })
  await openerIn(page).click()
  const dialog = dialogIn(page)
  await asked.promise
  // While they are on their way there is nothing to save.
  await dialog.waitFor()
  expect(await dialog.getByRole('button', { name: 'Save' }).count()).toBe(0)
  await expectAccessible(page)
  answered.resolve()
  const again = dialog.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  expect(await dialog.getByRole('button', { name: 'Save' }).count()).toBe(0)
  await expectAccessible(page)
  isBroken = false
  await again.click()
  await dialog.getByText('svc/alpha').waitFor()
})

test('only owners and admins set a member’s key rules, and only in organisations', async () => {
  const theirs = await open(grace, '/members')
  await theirs.getByRole('row', { name: /Ada Lovelace/ }).waitFor()
  expect(await theirs.getByRole('button', { name: /^Key rules/ }).count()).toBe(0)
  const alone = await browser.open(`/dashboard/a/${grace.viewer.accountId}/members`, {
    ...{ url: gateway.url, cookie: grace.cookie },
  })
  await alone.getByRole('row', { name: /Grace Hopper/ }).waitFor()
  expect(await alone.getByRole('button', { name: /^Key rules/ }).count()).toBe(0)
})

describe('a member who makes a key', () => {
  async function newKey(person: Person): Promise<Page> {
    const page = await open(person, '/keys')
    await page.getByRole('button', { name: 'Create your first key' }).click()
    await page.getByRole('dialog', { name: 'Create API key' }).getByLabel('Name').waitFor()
    return page
  }

  test('a member who makes a key sees the rules that apply; an owner’s service key shows only the account’s rules', async () => {
    const free = await newKey(grace)
    const loaded = () =>
      free.evaluate(
        () => performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/key-policy')).length,
      )
    await until(async () => (await loaded()) === 2, 'the rules of the account and of the member to be loaded')
    // What was loaded is drawn by the time that a later click is.
    await free.getByRole('button', { name: 'Limits' }).click()
    await free.getByLabel('Last day').waitFor()
    expect(await free.getByText(/^Rules for/).count()).toBe(0)
    await owner.json('PUT', '/dashboard/api/a/:accountId/key-policy', { allowedProviders: ['provider1'] })
    await owner.json('PUT', rules(), { allowedModels: ['svc/alpha'] })
    const page = await newKey(grace)
    await page.getByText('Rules for all keys of this account: Providers that may answer: provider1.').waitFor()
    await page.getByText('Rules for your keys: Models that keys may call: svc/alpha.').waitFor()
    await expectAccessible(page)
    await owner.json('PUT', rules().replace(grace.viewer.userId, owner.viewer.userId), { allowedModels: ['svc/alpha'] })
    const own = await newKey(owner)
    await own.getByText(/^Rules for your keys/).waitFor()
    await own.getByLabel(/^Service key/).click()
    await own.getByText(/^Rules for your keys/).waitFor({ state: 'detached' })
    await own.getByText(/^Rules for all keys of this account/).waitFor()
  })

  test('if the key rules cannot be loaded, the member sees this, and can still make a key', async () => {
    const page = await open(grace, '/keys')
    await page.route(`**${rules()}`, (route) => route.fulfill({ status: 400, json: { error: { message: 'No.' } } }))
    await page.getByRole('button', { name: 'Create your first key' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create API key' })
    await dialog.getByText('The rules for keys could not be loaded. They hold all the same.').waitFor()
    await expectAccessible(page)
    await dialog.getByLabel('Name').fill('nightly')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'Your new API key' }).waitFor()
  })

  test('the pages for key rules fit every width, for members and owners', async () => {
    const looks = [
      { width: 768, colorScheme: 'dark' },
      { width: 1280, colorScheme: 'light' },
      { width: 360, colorScheme: 'dark' },
    ] as const
    await owner.json('PUT', rules(), {
      allowedModels: ['svc/alpha', 'svc/beta'],
      allowedProviders: ['provider1', 'spare'],
    })
    const page = await open(owner, '/members')
    await openerIn(page).waitFor()
    await expectGoodLooks(page, looks)
    await openerIn(page).click()
    await dialogIn(page).getByText('svc/beta').waitFor()
    await expectGoodLooks(page, looks)
    const making = await newKey(grace)
    await making.getByText(/^Rules for your keys/).waitFor()
    await expectGoodLooks(making, looks)
  })
})
