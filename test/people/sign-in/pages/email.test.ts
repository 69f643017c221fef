/** Changing the sign-in address and undoing the change, in Chromium with real mails: by keyboard, at three widths, in both schemes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { fillIn, goRound, hasFocus, tabTo } from '@test/dashboard/pages/keyboard'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { until } from '@test/support/until'
import type { Page } from 'playwright-core'
import { createUser } from '@/accounts/users'

const PASSWORD = 'a horse on a battery'
const NEW_PASSWORD = 'an engine of letters'
const FORMER = 'ada@example.test'
const NEW = 'ada.lovelace@new.example.test'

let server: MailServer
let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  server = await startMailServer()
  const environment = { SMTP_URL: server.url, MAIL_FROM: 'svc@example.test' }
  gateway = await startGateway({ respond: () => new Response('{}'), environment })
})
afterAll(async () => {
  await gateway.stop()
  await server.stop()
})

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor()

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await heading(page, 'Sign in')
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** How many mails with a link to `page` an address has got. */
const mailed = (email: string, page: string) =>
  server.mails.filter(({ to, text }) => to === email && text.includes(`/dashboard/${page}#token=`)).length

const linkTo = (email: string, page: string) => server.find(email, new RegExp(`(/dashboard/${page}#token=\\w{32})`))

const addressInDatabase = async (email: string) =>
  (await gateway.gateway.database.sql`SELECT FROM users WHERE email = ${email}`).length

async function judge(page: Page): Promise<void> {
  for (const width of [320, 768, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    // What is as wide as the window decides is drawn anew a moment later.
    await page.waitForFunction(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth)
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await expectAccessible(page)
  }
}

test('a change of address by keyboard is requested, cancelled, confirmed, and undone once by the former address', async () => {
  await createUser(gateway.gateway.database, { email: FORMER, password: PASSWORD })
  const page = await browser.open('/dashboard/settings', { url: gateway.url })
  await signIn(page, FORMER, PASSWORD)
  await heading(page, 'Settings')

  const opener = page.getByRole('button', { name: 'Change the address' })
  const dialog = page.getByRole('dialog', { name: 'Change the address' })
  const ask = async () => {
    await tabTo(page, opener)
    await page.keyboard.press('Enter')
    await goRound(page, dialog)
    await fillIn(page, dialog, { 'New e-mail address': NEW, 'Your password': PASSWORD })
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    await until(() => hasFocus(opener), 'the focus to be back')
    await page.getByText(`Open the link in the mail to ${NEW}`).waitFor()
  }
  await tabTo(page, opener)
  await page.keyboard.press('Enter')
  await goRound(page, dialog)
  await judge(page)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await until(() => hasFocus(opener), 'the focus to be back')
  await ask()
  await judge(page)

  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('The link of before is void.').waitFor()
  await until(() => mailed(NEW, 'confirm-address') === 2, 'the second mail')
  await tabTo(page, page.getByRole('button', { name: 'Cancel the change' }))
  await page.keyboard.press('Enter')
  const question = page.getByRole('dialog', { name: 'Cancel the change?' })
  await tabTo(page, question.getByRole('button', { name: 'Cancel the change' }))
  await page.keyboard.press('Enter')
  await page.getByText('Your address stays as it is.').waitFor()
  await page.getByText(`Open the link in the mail to ${NEW}`).waitFor({ state: 'hidden' })
  const cancelled = await browser.open(await linkTo(NEW, 'confirm-address'), { url: gateway.url })
  await cancelled.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await cancelled.keyboard.press('Enter')
  await cancelled.getByText('This link is no longer valid').waitFor()
  await judge(cancelled)

  await ask()
  await until(() => mailed(NEW, 'confirm-address') === 3, 'the third mail')
  await page.goto(gateway.url + (await linkTo(NEW, 'confirm-address')))
  await heading(page, 'Confirm your new address')
  expect(page.url()).not.toContain('token')
  expect([await addressInDatabase(FORMER), await addressInDatabase(NEW)]).toEqual([1, 0])
  await judge(page)
  await page.getByLabel('Password', { exact: true }).fill('wrong')
  await page.keyboard.press('Enter')
  await page.getByText('The password is wrong.').waitFor()
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.keyboard.press('Enter')
  await heading(page, 'Address changed')
  await judge(page)
  await page.getByRole('link', { name: 'Go on' }).click()
  await heading(page, 'Settings')
  const address = page.getByLabel('Address', { exact: true })
  await until(async () => (await address.inputValue()) === NEW, 'the new address to be shown')

  await undo(await linkTo(FORMER, 'undo-address'))
  await page.reload()
  await heading(page, 'Sign in')
})

/** Puts the former address back, chooses a password, signs in with it, and tries the link again. */
async function undo(link: string): Promise<void> {
  const undoing = await browser.open(link, { url: gateway.url })
  await heading(undoing, 'Put this address back?')
  expect(undoing.url()).not.toContain('token')
  expect([await addressInDatabase(FORMER), await addressInDatabase(NEW)]).toEqual([0, 1])
  await judge(undoing)
  await tabTo(undoing, undoing.getByRole('button', { name: 'Put it back' }))
  await undoing.keyboard.press('Enter')
  await heading(undoing, 'Choose a new password')
  await judge(undoing)
  await undoing.keyboard.type(NEW_PASSWORD)
  await undoing.keyboard.press('Enter')
  await heading(undoing, 'Password changed')
  await undoing.getByRole('link', { name: 'Sign in' }).click()
  await signIn(undoing, FORMER, NEW_PASSWORD)
  await undoing.getByRole('navigation', { name: 'Main' }).waitFor()

  const again = await browser.open(link, { url: gateway.url })
  await again.getByRole('button', { name: 'Put it back' }).click()
  await again.getByText('This link is no longer valid').waitFor()
  await judge(again)
}

test('without mail, the settings say who can change the address', async () => {
  const page = await browser.open('/dashboard/settings', { url: gateway.url })
  await createUser(gateway.gateway.database, { email: 'bob@example.test', password: PASSWORD })
  const options = { signUp: 'open', isMailConfigured: false, isPasswordResetPossible: false, passwordMinChars: 8 }
  await page.route('**/api/session/options', (asked) => asked.fulfill({ json: { ...options, passwordMaxChars: 256 } }))
  await page.reload()
  await signIn(page, 'bob@example.test', PASSWORD)
  await page.getByText('This service sends no mail. Ask its operator to change the address.').waitFor()
  expect(await page.getByRole('button', { name: 'Change the address' }).count()).toBe(0)
})
