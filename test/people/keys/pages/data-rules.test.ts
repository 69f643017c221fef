/** Data rules in Chromium by keyboard: for all keys in the settings, for one member, and for one key. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { tabTo } from '@test/dashboard/pages/keyboard'
import { expectAccessible, expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Locator, Page } from 'playwright-core'

const ZERO = 'Only providers that keep no content'
const UNTRAINED = 'Only providers that train no models on content'
const REGIONS = 'Regions where content may be processed'
const RULES = { zeroRetention: true, noTraining: true, regions: ['eu', 'us-east-1'] }
const LOOKS = [
  { width: 360, colorScheme: 'light' },
  { width: 768, colorScheme: 'dark' },
  { width: 1280, colorScheme: 'light' },
] as const

let gateway: TestGateway
const browser = testBrowser()
let owner: SignedInCustomer

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
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
  await owner.person.json('PUT', '/dashboard/api/a/:accountId/key-policy', { noTraining: true, regions: ['eu'] })
  const list = await open('/keys')
  await list.getByRole('button', { name: 'Create key' }).first().click()
  await list.getByText(`Rules for all keys of this account: ${UNTRAINED}; ${REGIONS}: eu.`).waitFor()
})
