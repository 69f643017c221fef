/** An administrator's two checks in Chromium: setting up the authenticator app, and the proof before money moves. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { balanceOf, type Office, openOffice } from '@test/console/administration/fixture'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { signUpPerson } from '@test/support/person'
import { totpCode } from '@test/support/totp'

let office: Office
const browser = testBrowser()

beforeAll(async () => {
  office = await openOffice()
})
afterAll(() => office.stop())

test('an administrator’s first visit sets up the app, shows the backup codes, and opens administration', async () => {
  const person = await signUpPerson(office.gateway, { role: 'admin', totp: 'unset' })
  const page = await browser.open('/dashboard/admin/accounts', { url: office.gateway.url, cookie: person.cookie })
  await page.getByRole('heading', { name: 'Set up an authenticator app' }).waitFor()
  await expectAccessible(page)
  await page.getByLabel('Your password').fill(person.password)
  await page.getByRole('button', { name: 'Continue' }).click()
  const secret = (await page.getByText(/^([A-Z2-7]{1,4} ){7,}/).textContent()) ?? ''
  await page.getByLabel('Code the app shows now').fill(totpCode(secret.replaceAll(' ', '')))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByLabel('I have kept the codes').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'Accounts' }).waitFor()
})

test('a new proof is entered in front of the dialog, which keeps its input, and then the money moves', async () => {
  const { accountId } = await office.gateway.customer('10')
  const { sql } = office.gateway.gateway.database
  await sql`UPDATE sessions SET proved_at = now() - interval '6 minutes' WHERE user_id = ${office.first.viewer.userId}`
  const page = await browser.open(`/dashboard/admin/accounts/${accountId}`, {
    url: office.gateway.url,
    cookie: office.first.cookie,
    width: 360,
  })
  await page.getByRole('button', { name: 'Adjust credit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Adjust credit' })
  await dialog.getByLabel('Amount').fill('5')
  await dialog.getByRole('textbox', { name: /^Reason/ }).fill('goodwill')
  await dialog.getByRole('button', { name: 'Adjust credit' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await proof.getByLabel('Code of your authenticator app').waitFor()
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await proof.getByRole('button', { name: 'Use your password instead' }).click()
  await proof.getByLabel('Your password').fill('not the password')
  await proof.getByRole('button', { name: 'Continue' }).click()
  await proof.getByText('The password is wrong.').waitFor()
  expect(await balanceOf(office, accountId)).toBe(10)
  expect(await dialog.getByRole('textbox', { name: /^Reason/ }).inputValue()).toBe('goodwill')
  await proof.getByLabel('Your password').fill(office.first.password)
  await proof.getByRole('button', { name: 'Continue' }).click()
  await proof.waitFor({ state: 'hidden' })
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText('$15.00').first().waitFor()
  expect(await balanceOf(office, accountId)).toBe(15)
})

test('closing the proof dialog moves no money, and the page says why', async () => {
  const { accountId } = await office.gateway.customer('10')
  const { sql } = office.gateway.gateway.database
  await sql`UPDATE sessions SET proved_at = now() - interval '6 minutes' WHERE user_id = ${office.second.viewer.userId}`
  const page = await browser.open(`/dashboard/admin/accounts/${accountId}`, {
    url: office.gateway.url,
    cookie: office.second.cookie,
  })
  await page.getByRole('button', { name: 'Adjust credit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Adjust credit' })
  await dialog.getByLabel('Amount').fill('5')
  await dialog.getByRole('textbox', { name: /^Reason/ }).fill('goodwill')
  await dialog.getByRole('button', { name: 'Adjust credit' }).click()
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await proof.getByRole('button', { name: 'Close' }).click()
  await dialog.getByText('with a code or your password').waitFor()
  expect(await balanceOf(office, accountId)).toBe(10)
})
