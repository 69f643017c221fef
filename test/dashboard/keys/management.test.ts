/** Management keys, service keys and rules for all keys in a real browser: three widths, both schemes, by the keyboard. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { expectAccessible, expectNoSidewaysScroll, openBrowser, type TestBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { chatCompletion } from '@test/support/upstream'
import type { Page } from 'playwright-core'

setDefaultTimeout(300_000)

let gateway: TestGateway
let browser: TestBrowser
let owner: Person

beforeAll(async () => {
  ;[gateway, browser] = await Promise.all([
    startGateway({ respond: () => Response.json(chatCompletion('Hello')) }),
    openBrowser(),
  ])
  owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser.close()
  await gateway.stop()
})

type View = { width?: number; colorScheme?: 'light' | 'dark' }

function open(path: string, view: View = {}): Promise<Page> {
  return browser.open(`/dashboard/a/${owner.viewer.accountId}${path}`, {
    ...{ url: gateway.url, cookie: owner.cookie },
    ...view,
  })
}

const database = () => gateway.gateway.database

test('a management key is made after a proof, shown once, listed with its scopes, and revoked', async () => {
  await database().sql`UPDATE sessions SET proved_at = now() - interval '1 hour' WHERE user_id = ${owner.viewer.userId}`
  const page = await open('/keys')
  await page.getByText('No management keys.').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Create management key' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Create management key' })
  await dialog.getByLabel('Name').fill('terraform')
  await dialog.getByRole('combobox', { name: 'API keys' }).click()
  await page.getByRole('option', { name: 'Read and change' }).click()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await proof.getByRole('button', { name: 'Use your password instead' }).click()
  await proof.getByLabel('Your password').fill(owner.password)
  await proof.getByRole('button', { name: 'Continue' }).click()
  const shown = page.getByRole('dialog', { name: 'Your new management key' })
  const text = await shown.getByText(/^svc-mgmt-/).textContent()
  await expectAccessible(page)
  await shown.getByRole('button', { name: 'I have copied the key' }).click()
  await page.getByText('keys:write').waitFor()
  const headers = { authorization: `Bearer ${text}` }
  expect((await fetch(`${gateway.url}/v1/keys`, { headers })).status).toBe(200)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Revoke terraform' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('No management keys.').waitFor()
  expect((await fetch(`${gateway.url}/v1/keys`, { headers })).status).toBe(401)
})

test('a service key needs a budget, or the word that there is none', async () => {
  const page = await open('/keys')
  await page.getByRole('button', { name: 'Create your first key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create API key' })
  await dialog.getByLabel('Name').fill('robot')
  await dialog.getByLabel(/^Service key/).check()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('say what it may spend in a month').waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('It may spend without a monthly budget').check()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog', { name: 'Your new API key' }).waitFor()
  const keys = await gateway.apiKeys.list(owner.viewer.accountId)
  expect(keys.map(({ name, createdBy }) => [name, createdBy])).toEqual([['robot', null]])
})

test('rules for all keys are set in the settings, and kept', async () => {
  const page = await browser.open('/dashboard/settings', { url: gateway.url, cookie: owner.cookie })
  await page.getByRole('combobox', { name: 'Models that keys may call' }).click()
  await page.getByRole('option', { name: 'svc/alpha' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Greatest age of a key, in days').fill('90')
  await expectAccessible(page)
  const section = page.locator('section', { hasText: 'Rules for all API keys' })
  await section.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This holds from the next request on.').waitFor()
  const [row] = await database()
    .sql`SELECT to_json(allowed_models) AS allowed_models, max_key_age_days FROM accounts WHERE id = ${owner.viewer.accountId}`
  expect(row).toMatchObject({ allowed_models: ['svc/alpha'], max_key_age_days: 90 })
})

test.each([
  [360, 'light'],
  [768, 'dark'],
  [1280, 'light'],
] as const)('%i px, %s: nothing is wider than the page', async (width, colorScheme) => {
  const path = '/dashboard/api/a/:accountId/management-keys'
  const name = `a long name without any blank ${'x'.repeat(60)} ${width}`
  const made = await owner.json('POST', path, {
    name,
    scopes: ['keys:write', 'members:read', 'usage:read', 'audit:read'],
  })
  expect(made).toMatchObject({ status: 200 })
  const page = await open('/keys', { width, colorScheme })
  await page.getByText(name).first().waitFor()
  await until(async () => (await page.getByText('Made by Ada Lovelace').count()) > 0, 'the keys')
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})
