/** Two people edit one form: a colleague's saved change is not overwritten, typed text stays, and one click takes either. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import type { Locator, Page } from 'playwright-core'
import { chooseOne, tabTo } from './keyboard'

const IN_ACCOUNT = '/dashboard/api/a/:accountId'
let gateway: TestGateway
let person: Person
let keyId: string
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => Response.json({}),
    catalog({ providers }) {
      providers.spare = { ...providers.provider1, keys: ['spare-secret-canary'] }
    },
  })
})
beforeEach(async () => {
  person = await signUpPerson(gateway)
  const { body } = await person.json('POST', `${IN_ACCOUNT}/keys`, { name: 'Robot', monthlyBudgetUsd: '5' })
  keyId = (body as { item: { id: string } }).item.id
})
afterAll(() => gateway.stop())

function open(path: string, width?: number): Promise<Page> {
  const options = { url: gateway.url, cookie: person.cookie, ...(width !== undefined && { width }) }
  return browser.open(`/dashboard${path}`, options)
}

async function shown(path: string): Promise<unknown> {
  return (await person.json('GET', `${IN_ACCOUNT}${path}`)).body
}

const press = (place: Page | Locator, name: string) => place.getByRole('button', { name, exact: true }).click()

/** Two pages with the dialog of the key; the first has an unsaved budget of 25, the second has saved another name and a budget of 10. */
async function bothEdit(width?: number) {
  const [mine, theirs] = [await open(`/keys/${keyId}`, width), await open(`/keys/${keyId}`)]
  for (const page of [mine, theirs]) await press(page, 'Edit')
  const [dialog, other] = [mine.getByRole('dialog'), theirs.getByRole('dialog')]
  await dialog.getByLabel('Monthly budget').fill('25')
  await other.getByLabel('Monthly budget').fill('10')
  await other.getByLabel('Name').fill('Renamed')
  await press(other, 'Save')
  await theirs.getByRole('heading', { name: 'Renamed', exact: true }).waitFor()
  await press(dialog, 'Save')
  const both = dialog.getByRole('group', { name: 'Saved meanwhile' })
  await both.getByText('Saved: 10').waitFor()
  await both.getByText('You typed: 25').waitFor()
  await both.getByText('Saved: Renamed').waitFor()
  expect(await shown(`/keys/${keyId}`)).toMatchObject({ item: { name: 'Renamed', limits: { monthlyBudgetUsd: '10' } } })
  return { mine, dialog, both }
}

describe('a key that two people edit', () => {
  test('one click saves the typed text, and the colleague’s other changes stay', async () => {
    const { mine, dialog, both } = await bothEdit()
    await expectAccessible(mine)
    expect(await dialog.getByLabel('Monthly budget').inputValue()).toBe('25')
    await press(both, 'Save what I typed')
    await dialog.waitFor({ state: 'detached' })
    expect(await shown(`/keys/${keyId}`)).toMatchObject({
      item: { name: 'Renamed', limits: { monthlyBudgetUsd: '25' } },
    })
  })

  test('one click takes what the colleague saved, on a phone too', async () => {
    const { mine, dialog, both } = await bothEdit(360)
    await expectAccessible(mine)
    await press(both, 'Take what was saved')
    await both.waitFor({ state: 'detached' })
    expect(await dialog.getByLabel('Monthly budget').inputValue()).toBe('10')
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Renamed')
    expect(await dialog.getByRole('alert').count()).toBe(0)
    await press(dialog, 'Save')
    await dialog.waitFor({ state: 'detached' })
    expect(await shown(`/keys/${keyId}`)).toMatchObject({ item: { limits: { monthlyBudgetUsd: '10' } } })
  })
})

test('the form of rules for all keys shows typed text beside what a colleague saved, and either can be taken', async () => {
  const page = await open(`/a/${person.viewer.accountId}/settings`)
  const age = page.getByLabel('Greatest age of a key, in days')
  const form = page.locator('form').filter({ has: age })
  await age.fill('30')
  await person.json('PUT', `${IN_ACCOUNT}/key-policy`, { maxKeyAgeDays: 90, allowedProviders: ['provider1'] })
  await press(form, 'Save')
  await form.getByText('Saved: 90').waitFor()
  expect(await age.inputValue()).toBe('30')
  await press(form, 'Save what I typed')
  await form.getByText('Saved: 90').waitFor({ state: 'detached' })
  expect(await shown('/key-policy')).toMatchObject({ maxKeyAgeDays: 30, allowedProviders: ['provider1'] })
  await age.fill('40')
  await person.json('PUT', `${IN_ACCOUNT}/key-policy`, { maxKeyAgeDays: 50 })
  await press(form, 'Save')
  await press(form, 'Take what was saved')
  await form.getByText('Saved: 50').waitFor({ state: 'detached' })
  expect(await age.inputValue()).toBe('50')
})

test('the form of allowed addresses does not overwrite a colleague’s list', async () => {
  const page = await open(`/a/${person.viewer.accountId}/settings`)
  const field = page.getByLabel('Addresses and networks')
  const form = page.locator('form').filter({ has: field })
  await field.fill('0.0.0.0/0\n::/0')
  const theirs = ['0.0.0.0/0', '::/0', '203.0.113.7/32']
  await person.json('PUT', `${IN_ACCOUNT}/allowed-addresses`, { allowedAddresses: theirs })
  await press(form, 'Save')
  await form.getByText('You typed').waitFor()
  expect(await shown('/allowed-addresses')).toMatchObject({ allowedAddresses: theirs })
})

test('the form of a member’s key rules shows typed text beside what a colleague saved, and either can be taken', async () => {
  await person.json('POST', `${IN_ACCOUNT}/organisation`, { name: 'Engines Ltd', country: 'GB' })
  const rules = `/members/${person.viewer.userId}/key-policy`
  const theirs = (policy: object) => person.json('PUT', `${IN_ACCOUNT}${rules}`, policy)
  const page = await open('/members')
  const dialog = page.getByRole('dialog')
  const opener = page.getByRole('button', { name: `Key rules for ${person.viewer.name}` }).filter({ visible: true })
  const providers = dialog.getByRole('combobox', { name: 'Providers that may answer' })
  await opener.click()
  await chooseOne(page, providers, 'provider1')
  await theirs({ allowedModels: ['svc/alpha'], allowedProviders: ['spare'] })
  await press(dialog, 'Save')
  await dialog.getByText('Saved: spare').waitFor()
  await dialog.getByText('You typed: provider1').waitFor()
  await dialog.getByText('Saved: svc/alpha').waitFor()
  await expectAccessible(page)
  await press(dialog, 'Save what I typed')
  await dialog.waitFor({ state: 'detached' })
  expect(await shown(rules)).toMatchObject({ allowedModels: ['svc/alpha'], allowedProviders: ['provider1'] })

  await opener.click()
  await tabTo(page, providers)
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Tab')
  await theirs({ allowedModels: null })
  await press(dialog, 'Save')
  await press(dialog, 'Take what was saved')
  await dialog.getByRole('group', { name: 'Saved meanwhile' }).waitFor({ state: 'detached' })
  await press(dialog, 'Save')
  await dialog.waitFor({ state: 'detached' })
  expect(await shown(rules)).toMatchObject({ allowedModels: null, allowedProviders: ['provider1'] })
})

test('a budget that a colleague changed meanwhile is shown beside the typed text', async () => {
  const page = await open('/budgets')
  const { accountId } = person.viewer
  await page.getByRole('button', { name: 'Edit the budget of This account' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Day').fill('3')
  await person.json('PUT', `${IN_ACCOUNT}/budgets/account/${accountId}`, { dayUsd: '4', monthUsd: '50' })
  await press(dialog, 'Save')
  await dialog.getByText('Saved: 50').waitFor()
  await dialog.getByText('You typed: 3').waitFor()
  await press(dialog, 'Save what I typed')
  await dialog.waitFor({ state: 'detached' })
  expect(await shown(`/budgets/account/${accountId}`)).toMatchObject({
    windows: [{ limitUsd: '3' }, { limitUsd: null }, { limitUsd: '50' }, { limitUsd: null }],
  })
})
