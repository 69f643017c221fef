/** Data rules and allowed providers in Chromium by keyboard: for all keys in the settings, for one member, and for one key. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { chooseOne, hasFocus, tabTo } from '@test/dashboard/pages/keyboard'
import { expectAccessible, expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Locator, Page } from 'playwright-core'

const ZERO = 'Only providers that keep no content'
const UNTRAINED = 'Only providers that train no models on content'
const REGIONS = 'Regions where content may be processed'
const RULES = { zeroRetention: true, noTraining: true, regions: ['eu', 'us-east-1'] }
const POLICY = '/dashboard/api/a/:accountId/key-policy'
const LOOKS = [
  { width: 360, colorScheme: 'light' },
  { width: 768, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const

let gateway: TestGateway
const browser = testBrowser()
let owner: SignedInCustomer

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => new Response('{}'),
    catalog({ models, providers }) {
      providers.spare = { ...providers.provider1, keys: ['spare-secret-canary'] }
      models.push({ ...models[0], id: 'svc/beta', targets: [{ provider: 'spare', model: 'beta-upstream' }] })
    },
  })
})
beforeEach(async () => {
  owner = await signUpCustomer(gateway, '5', { name: 'Ada Lovelace' })
  await owner.person.json('POST', '/dashboard/api/a/:accountId/organisation', { name: 'Engines Ltd', country: 'GB' })
})
afterAll(() => gateway.stop())

const open = (path: string): Promise<Page> =>
  browser.open(`/dashboard/a/${owner.accountId}${path}`, { url: gateway.url, cookie: owner.person.cookie })
const bodyAt = async (path: string) => (await owner.person.json('GET', `/dashboard/api/a/:accountId/${path}`)).body

/** Fills the three fields within `part` and saves. */
async function fill(page: Page, part: Locator): Promise<void> {
  for (const name of [ZERO, UNTRAINED]) {
    await tabTo(page, part.getByRole('checkbox', { name, exact: true }))
    await page.keyboard.press('Space')
  }
  await part.getByLabel(REGIONS).fill('eu, us-east-1')
  await expectAccessible(page)
  await tabTo(page, part.getByRole('button', { name: 'Save' }))
  await page.keyboard.press('Enter')
}

test('data rules for all keys are set in the settings, and an invalid region is refused at its field', async () => {
  const page = await open('/settings')
  const section = page.locator('section', { hasText: 'Rules for all API keys' })
  await section.getByLabel(REGIONS).fill('E!')
  await section.getByRole('button', { name: 'Save' }).click()
  await until(async () => (await section.getByLabel(REGIONS).getAttribute('aria-invalid')) === 'true', 'the error')
  await fill(page, section)
  await page.getByText('This applies from the next request on.').waitFor()
  expect(await bodyAt('key-policy')).toMatchObject(RULES)
  await page.reload()
  await until(() => section.getByLabel(ZERO, { exact: true }).isChecked(), 'the saved rule to be shown')
  expect(await section.getByLabel(REGIONS).inputValue()).toBe('eu, us-east-1')
  await expectGoodLooks(page, LOOKS)
})

test('data rules for the keys of a member are set in the list of members', async () => {
  const page = await open('/members')
  await page.getByRole('button', { name: 'Key rules for Ada Lovelace' }).filter({ visible: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Rules for API keys: Ada Lovelace' })
  await fill(page, dialog)
  await dialog.waitFor({ state: 'hidden' })
  expect(await bodyAt(`members/${owner.person.viewer.userId}/key-policy`)).toMatchObject(RULES)
})

test('data rules of a key are set and shown on its page, and a new key shows those of its account', async () => {
  const page = await open(`/keys/${owner.keyId}`)
  await page.getByText('Every region').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit “Test key”' })
  await fill(page, dialog)
  await dialog.waitFor({ state: 'hidden' })
  expect(await bodyAt(`keys/${owner.keyId}`)).toMatchObject({ item: { limits: RULES } })
  await page.getByText('us-east-1').waitFor()
  await expectGoodLooks(page, LOOKS)
  await owner.person.json('PUT', POLICY, { noTraining: true, regions: ['eu'] })
  const list = await open('/keys')
  await list.getByRole('button', { name: 'Create key' }).first().click()
  await list.getByText(`Rules for all keys of this account: ${UNTRAINED}; ${REGIONS}: eu.`).waitFor()
})

async function press(page: Page, button: Locator): Promise<void> {
  await tabTo(page, button)
  await page.keyboard.press('Enter')
}

test('allowed providers for all keys are chosen, kept after removal from the catalogue, and reset', async () => {
  const page = await open('/settings')
  const section = page.locator('section', { hasText: 'Rules for all API keys' })
  const field = section.getByRole('combobox', { name: 'Providers that may answer' })
  await chooseOne(page, field, 'spare')
  await expectAccessible(page)
  await press(page, section.getByRole('button', { name: 'Save' }))
  await page.getByText('This applies from the next request on.').waitFor()
  expect((await owner.person.json('GET', POLICY)).body).toMatchObject({ allowedProviders: ['spare'] })

  await gateway.gateway.database.sql`
    UPDATE accounts SET allowed_providers = '{spare,gone}' WHERE id = ${owner.accountId}`
  await page.reload()
  await section.getByText('gone').waitFor()
  await chooseOne(page, field, 'provider1')
  await press(page, section.getByRole('button', { name: 'Save' }))
  await until(async () => {
    const { body } = await owner.person.json('GET', POLICY)
    return Bun.deepEquals((body as { allowedProviders: unknown }).allowedProviders, ['spare', 'gone', 'provider1'])
  }, 'the list to be kept with the provider that is gone')

  await page.reload()
  await section.getByText('gone').waitFor()
  await tabTo(page, field)
  for (const _ of ['spare', 'gone', 'provider1']) await page.keyboard.press('Backspace')
  expect(await field.getAttribute('placeholder')).toBe('Every provider')
  await press(page, section.getByRole('button', { name: 'Save' }))
  await until(async () => {
    const { body } = await owner.person.json('GET', POLICY)
    return (body as { allowedProviders: unknown }).allowedProviders === null
  }, 'every provider to be allowed')
})

test('allowed providers of a key beyond those of the account are refused at the field; excluded ones are shown', async () => {
  await owner.person.json('PUT', POLICY, { allowedProviders: ['provider1'] })
  const page = await open(`/keys/${owner.keyId}`)
  await page.getByText('Every provider').waitFor()
  await press(page, page.getByRole('button', { name: 'Edit' }))
  const dialog = page.getByRole('dialog', { name: 'Edit “Test key”' })
  const field = dialog.getByRole('combobox', { name: 'Allowed providers' })
  await chooseOne(page, field, 'spare')
  await press(page, dialog.getByRole('button', { name: 'Save' }))
  await dialog.getByText("The provider 'spare' is beyond the rules for all keys of this account.").waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await until(() => hasFocus(field), 'the focus to be at the field')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Tab')
  await page.getByRole('listbox').waitFor({ state: 'hidden' })
  await expectAccessible(page)
  await chooseOne(page, field, 'provider1')
  await expectAccessible(page)
  await press(page, dialog.getByRole('button', { name: 'Save' }))
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('Allowed providers').waitFor()
  await page.getByText('provider1', { exact: true }).waitFor()
  const key = await gateway.apiKeys.find(owner.accountId, owner.keyId)
  expect(key?.allowedProviders).toEqual(['provider1'])
  await expectAccessible(page)
})
