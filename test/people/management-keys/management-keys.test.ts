/** Management keys in Chromium: made with scopes after a proof, used with the API, and revoked. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import type { Page } from 'playwright-core'

let gateway: TestGateway
const browser = testBrowser()
let owner: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
  owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
})
afterAll(() => gateway.stop())

const open = (path: string): Promise<Page> =>
  browser.open(`/dashboard${path}`, { url: gateway.url, cookie: owner.cookie })
const database = () => gateway.gateway.database

/** Asks the management API with a key; gives what programs look at. */
async function ask(key: string, method: string, path: string, body?: object): Promise<[status: number, code: unknown]> {
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = (await response.json()) as { error?: { code: unknown } }
  return [response.status, answer.error?.code]
}

test('a management key is made after a proof, shown once, limited to its scopes, and revoked', async () => {
  await database().sql`UPDATE sessions SET proved_at = now() - interval '1 hour' WHERE user_id = ${owner.viewer.userId}`
  const page = await open('/keys')
  await page.getByText('No management keys.').waitFor()
  await page.getByRole('button', { name: 'Create management key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create management key' })
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('Enter a name.').waitFor()
  await dialog.getByLabel('Name').fill('terraform')
  await dialog.getByRole('combobox', { name: 'API keys' }).click()
  await page.getByRole('option', { name: 'Read and change' }).click()
  await dialog.getByRole('combobox', { name: 'Budgets' }).click()
  await page.getByRole('option', { name: 'Read', exact: true }).click()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await proof.getByLabel('Your password').waitFor()
  await page.keyboard.press('Escape')
  await proof.waitFor({ state: 'hidden' })
  await dialog.getByText('with a code or your password').waitFor()
  expect(await dialog.getByLabel('Name').inputValue()).toBe('terraform')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await proof.getByLabel('Your password').fill(owner.password)
  await proof.getByRole('button', { name: 'Continue' }).click()
  const shown = page.getByRole('dialog', { name: 'Your new management key' })
  const key = (await shown.getByText(/^svc-mgmt-/).textContent()) ?? ''
  await expectAccessible(page)
  await shown.getByRole('button', { name: 'I have copied the key' }).click()
  await page.getByText('keys:write').waitFor()
  expect(await page.content()).not.toContain(key)

  const budget = `budgets/account/${owner.viewer.accountId}`
  expect(await ask(key, 'POST', 'keys', { name: 'Robot', monthlyBudgetUsd: null })).toEqual([403, 'scope_missing'])
  expect(await ask(key, 'POST', 'keys', { name: 'Robot', monthlyBudgetUsd: '0' })).toEqual([200, undefined])
  expect(await ask(key, 'GET', budget)).toEqual([200, undefined])
  expect((await ask(key, 'PUT', budget, { dayUsd: '5' }))[0]).toBe(403)
  expect((await ask(key, 'GET', 'members'))[0]).toBe(403)
  expect((await ask(key, 'POST', 'chat/completions', { model: 'svc/alpha', messages: [] }))[0]).toBe(401)
  await page.reload()
  await page.getByRole('row', { name: /Robot.*Service key/ }).waitFor()

  await page.getByRole('button', { name: 'Revoke terraform' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('No management keys.').waitFor()
  expect((await ask(key, 'GET', 'keys'))[0]).toBe(401)
})

test('a service key needs a budget, or a confirmation that it has none', async () => {
  const page = await open('/keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create API key' })
  await dialog.getByLabel('Name').fill('night shift')
  await dialog.getByLabel(/^Service key/).check()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('say what it may spend in a month').waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('It may spend without a monthly budget').check()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog', { name: 'Your new API key' }).waitFor()
  const keys = await gateway.apiKeys.list(owner.viewer.accountId)
  expect(keys.find(({ name }) => name === 'night shift')?.createdBy).toBeNull()
})

test('an account’s rules for all keys are set in the settings, and stored', async () => {
  const page = await open(`/a/${owner.viewer.accountId}/settings`)
  await page.getByRole('combobox', { name: 'Models that keys may call' }).click()
  await page.getByRole('option', { name: 'svc/alpha' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Greatest age of a key, in days').fill('90')
  await expectAccessible(page)
  const section = page.locator('section', { hasText: 'Rules for all API keys' })
  await section.getByRole('button', { name: 'Save' }).click()
  await page.getByText('This applies from the next request on.').waitFor()
  const { body } = await owner.json('GET', '/dashboard/api/a/:accountId/key-policy')
  expect(body).toMatchObject({ allowedModels: ['svc/alpha'], allowedProviders: null, maxKeyAgeDays: 90 })
})
