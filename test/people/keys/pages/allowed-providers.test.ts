/** The providers that may answer keys, in Chromium by keyboard: for all keys in the settings, and narrower for one key. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { chooseOne as choose, hasFocus, tabTo } from '@test/dashboard/pages/keyboard'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import { type SignedInCustomer, signUpCustomer } from '@test/usage/customer'
import type { Locator, Page } from 'playwright-core'

const POLICY = '/dashboard/api/a/:accountId/key-policy'

let gateway: TestGateway
const browser = testBrowser()
let owner: SignedInCustomer

beforeAll(async () => {
  const starting = startGateway({
    respond: () => new Response('{}'),
    catalog({ models, providers }) {
      providers.spare = { ...providers.provider1, keys: ['spare-secret-canary'] }
      models.push({ ...models[0], id: 'svc/beta', targets: [{ provider: 'spare', model: 'beta-upstream' }] })
    },
  })
  gateway = await starting
})
beforeEach(async () => {
  owner = await signUpCustomer(gateway, '5', { name: 'Ada Lovelace' })
})
afterAll(() => gateway.stop())

const open = (path: string): Promise<Page> =>
  browser.open(`/dashboard${path}`, { url: gateway.url, cookie: owner.person.cookie })

async function press(page: Page, button: Locator): Promise<void> {
  await tabTo(page, button)
  await page.keyboard.press('Enter')
}

test('allowed providers for all keys are chosen, kept after removal from the catalogue, and reset', async () => {
  const page = await open(`/a/${owner.accountId}/settings`)
  const section = page.locator('section', { hasText: 'Rules for all API keys' })
  const field = section.getByRole('combobox', { name: 'Providers that may answer' })
  await choose(page, field, 'spare')
  await expectAccessible(page)
  await press(page, section.getByRole('button', { name: 'Save' }))
  await page.getByText('This applies from the next request on.').waitFor()
  expect((await owner.person.json('GET', POLICY)).body).toMatchObject({ allowedProviders: ['spare'] })

  await gateway.gateway.database.sql`
    UPDATE accounts SET allowed_providers = '{spare,gone}' WHERE id = ${owner.accountId}`
  await page.reload()
  await section.getByText('gone').waitFor()
  await choose(page, field, 'provider1')
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
  await choose(page, field, 'spare')
  await press(page, dialog.getByRole('button', { name: 'Save' }))
  await dialog.getByText("The provider 'spare' is beyond the rules for all keys of this account.").waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
  await until(() => hasFocus(field), 'the focus to be at the field')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Tab')
  await page.getByRole('listbox').waitFor({ state: 'hidden' })
  await expectAccessible(page)
  await choose(page, field, 'provider1')
  await expectAccessible(page)
  await press(page, dialog.getByRole('button', { name: 'Save' }))
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('Allowed providers').waitFor()
  await page.getByText('provider1', { exact: true }).waitFor()
  const key = await gateway.apiKeys.find(owner.accountId, owner.keyId)
  expect(key?.allowedProviders).toEqual(['provider1'])
  await expectAccessible(page)
})
