/** The pages of sign-in and settings in Chromium: signing up and in, and every error on the way. Slow: both schemes. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { loggedToken } from '@test/console/http/support'
import { expectAccessible, expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { totpCode } from '@test/support/totp'
import type { Page } from 'playwright-core'

let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
afterAll(() => gateway.stop())

/** Waits for the heading of a page. */
function heading(page: Page, name: string): Promise<void> {
  return page.getByRole('heading', { level: 1, name }).waitFor()
}

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

describe('signing up and in', () => {
  test('a new person signs up, gets to the requested page, signs out, and in again', async () => {
    const page = await browser.open('/dashboard/settings', { url: gateway.url })
    await heading(page, 'Sign in')
    await page.getByRole('link', { name: 'Create an account' }).click()
    await heading(page, 'Create an account')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('Enter your name.').waitFor()
    expect(await page.evaluate(() => document.activeElement?.getAttribute('autocomplete'))).toBe('name')
    await page.getByLabel('Name').fill('Ada <b>Lovelace</b>')
    await page.getByLabel('E-mail address').fill('ada@example.test')
    await page.getByLabel('Password', { exact: true }).fill('password123')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('This password is easy to guess. Choose another one.').waitFor()
    await page.getByLabel('Password', { exact: true }).fill('an engine of numbers')
    await page.getByRole('button', { name: 'Create account' }).click()
    await heading(page, 'Settings')
    expect(await page.getByLabel('Name').inputValue()).toBe('Ada <b>Lovelace</b>')
    await page.getByRole('button', { name: /Ada/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await heading(page, 'Sign in')
    await signIn(page, 'ada@example.test', 'not the password')
    await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor()
    await expectAccessible(page)
    await signIn(page, 'ada@example.test', 'an engine of numbers')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
  })

  test('the sign-in never redirects to another site', async () => {
    const { email, password } = await signUpPerson(gateway)
    const page = await browser.open('/dashboard/sign-in?next=//evil.example/x', { url: gateway.url })
    await signIn(page, email, password)
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(new URL(page.url()).origin).toBe(gateway.url)
  })

  test('closed sign-up is shown as closed', async () => {
    const page = await browser.open('/healthz', { url: gateway.url })
    await page.route('**/api/session/options', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), signUp: 'closed' } })
    })
    await page.goto(`${gateway.url}/dashboard/sign-up`)
    await page.getByText('Sign-up is closed.').waitFor()
    expect(await page.getByRole('button', { name: 'Create account' }).count()).toBe(0)
  })

  test('a forgotten password is reset by a mailed link; its token leaves the address bar', async () => {
    const { email } = await signUpPerson(gateway)
    const page = await browser.open('/dashboard/forgot-password', { url: gateway.url })
    await page.getByLabel('E-mail address').fill(email)
    await page.getByRole('button', { name: 'Send the link' }).click()
    await heading(page, 'Check your mail')
    const token = await loggedToken(gateway, email, 'reset-password')
    await page.goto(`${gateway.url}/dashboard/reset-password#token=${token}`)
    await heading(page, 'Choose a new password')
    expect(page.url()).not.toContain('token')
    await page.getByLabel('New password').fill('an engine of letters')
    await page.getByRole('button', { name: 'Change password' }).click()
    await heading(page, 'Password changed')
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signIn(page, email, 'an engine of letters')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
  })

  test('a page with a broken link says what to do', async () => {
    const page = await browser.open('/dashboard/reset-password#token=abcdefghijk', { url: gateway.url })
    await page.getByLabel('New password').fill('an engine of letters')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('This link is no longer valid').waitFor()
    await expectAccessible(page)
  })
})

describe('settings', () => {
  test('a second factor is set up, and then required', async () => {
    const { email, password, cookie } = await signUpPerson(gateway)
    const page = await browser.open('/dashboard/settings', { url: gateway.url, cookie, width: 360 })
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
    await page.getByLabel('Your password').fill(password)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
    await expectAccessible(page)
    const secret = ((await page.getByText(/^([A-Z2-7]{4} ?)+$/).textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code the app shows now').fill(totpCode(secret))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByLabel('I have kept the codes').check()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Remove the app' }).waitFor()
    const other = await browser.open('/dashboard/sign-in', { url: gateway.url })
    await signIn(other, email, password)
    await heading(other, 'Enter your code')
    await expectAccessible(other)
    await other.getByLabel('Code of your authenticator app').fill('000000')
    await other.getByRole('button', { name: 'Continue' }).click()
    await other.getByText('The code is wrong or too old.').waitFor()
    await other.getByLabel('Code of your authenticator app').fill(totpCode(secret, 1))
    await other.getByRole('button', { name: 'Continue' }).click()
    await other.getByRole('navigation', { name: 'Main' }).waitFor()
  })

  test('the password is changed, and other sessions end after a confirmation', async () => {
    const person = await signUpPerson(gateway)
    const page = await browser.open('/dashboard/settings', { url: gateway.url, cookie: person.cookie })
    await page.getByLabel('Current password').fill('not the password')
    await page.getByLabel('New password').fill('an engine of letters')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The password is wrong.').waitFor()
    await page.getByLabel('Current password').fill(person.password)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Your password was changed.').waitFor()
    const other = await browser.open('/dashboard/sign-in', { url: gateway.url })
    await signIn(other, person.email, 'an engine of letters')
    await other.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: /^End the session of Chrome/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
    await page.getByText('The session was ended.').waitFor()
    await other.reload()
    await heading(other, 'Sign in')
  })

  test('settings that failed to load show the reason and can be loaded again', async () => {
    const { cookie } = await signUpPerson(gateway)
    const page = await browser.open('/dashboard/settings', { url: gateway.url, cookie })
    await heading(page, 'Settings')
    await page.route('**/api/session/sessions', (route) =>
      route.fulfill({ status: 404, body: '{"error":{"message":"Gone."}}' }),
    )
    await page.reload()
    await page.getByText('This could not be loaded').waitFor()
    await page.unroute('**/api/session/sessions')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('This browser').waitFor()
  })
})

describe('every page', () => {
  const PAGES = [
    ['/dashboard/sign-in', 'Sign in'],
    ['/dashboard/sign-up', 'Create an account'],
    ['/dashboard/forgot-password', 'Forgot your password?'],
    ['/dashboard/reset-password#token=abcdefghijk', 'Choose a new password'],
    ['/dashboard/verify-email#token=abcdefghijk', 'Confirm your address'],
    ['/dashboard/confirm-address#token=abcdefghijk', 'Confirm your new address'],
    ['/dashboard/undo-address#token=abcdefghijk', 'Put this address back?'],
    ['/dashboard/leaked-key', 'Found a key in public?'],
    ['/dashboard/leaked-key/off#token=abcdefghijk', 'Switch the key off?'],
    ['/dashboard/settings', 'Settings'],
  ] as const

  test.each(PAGES)('%s is accessible in both schemes and fits a phone', async (path, title) => {
    const session = path === '/dashboard/settings' ? { cookie: (await signUpPerson(gateway)).cookie } : {}
    const page = await browser.open(path, { url: gateway.url, ...session })
    await heading(page, title)
    await expectGoodLooks(page)
  })
})
