/** Where the focus moves after the pressed button has disappeared, by keyboard. keyboard.test.ts shows more for dialogs. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { signInAgain } from '@test/console/http/support'
import { fillIn, goRound, hasFocus, keepKey, tabTo, takeFirst } from '@test/dashboard/pages/keyboard'
import { testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import type { Page } from 'playwright-core'

let gateway: TestGateway
const browser = testBrowser()
let owner: Person

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
})
beforeEach(async () => {
  owner = await signUpPerson(gateway)
})
afterAll(() => gateway.stop())

const open = (path: string): Promise<Page> =>
  browser.open(`/dashboard${path}`, { url: gateway.url, cookie: owner.cookie })

test('after the first key is created, the focus moves to the heading of the keys', async () => {
  const page = await open('/keys')
  await tabTo(page, page.getByRole('button', { name: 'Create your first key' }))
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Create API key' })
  await goRound(page, dialog)
  await fillIn(page, dialog, { Name: 'First' })
  await page.keyboard.press('Enter')
  await keepKey(page, page.getByRole('dialog', { name: 'Your new API key' }))
  await until(() => hasFocus(page.getByRole('heading', { name: 'API keys' })), 'the focus to be at the heading')
  await page.keyboard.press('Tab')
  expect(await hasFocus(page.getByRole('button', { name: 'Create key' }))).toBe(true)
})

test('after the account became an organisation, the focus moves to the heading of the members', async () => {
  const page = await open('/members')
  await page.getByLabel('Company name').fill('Engines Ltd')
  await page.getByRole('combobox', { name: 'Country' }).fill('gb')
  await takeFirst(page)
  await tabTo(page, page.getByRole('button', { name: 'Make it an organisation' }))
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await goRound(page, dialog)
  await tabTo(page, dialog.getByRole('button', { name: 'Make it an organisation' }))
  await page.keyboard.press('Enter')
  await until(() => hasFocus(page.getByRole('heading', { name: 'Members' })), 'the focus to be at the heading')
})

test('after a session is ended, the focus moves to the next session, and after the last one to the heading', async () => {
  for (let count = 0; count < 2; count++) await signInAgain(gateway, owner)
  const page = await open('/settings')
  const ends = page.getByRole('button', { name: /^End the session of/ })
  await until(async () => (await ends.count()) === 2, 'the other sessions')
  await tabTo(page, ends.first())
  for (const left of [1, 0]) {
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await goRound(page, dialog)
    await tabTo(page, dialog.getByRole('button', { name: 'End session' }))
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'hidden' })
    await until(async () => (await ends.count()) === left, 'the session to be gone')
    const next = left > 0 ? ends.first() : page.getByRole('heading', { name: 'Sessions' })
    await until(() => hasFocus(next), 'the focus to be beside what has gone')
  }
})

test('after a page is opened by a link, the focus moves to its title', async () => {
  await owner.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'Robot' })
  const page = await open('/keys')
  await tabTo(page, page.getByRole('link', { name: 'Robot' }))
  await page.keyboard.press('Enter')
  await until(() => hasFocus(page.getByRole('heading', { name: 'Robot', level: 1 })), 'the focus to be at the title')
})

test('after a section is saved, the focus moves to the section’s heading', async () => {
  const page = await open(`/a/${owner.viewer.accountId}/settings`)
  await tabTo(page, page.getByRole('combobox', { name: 'Keep responses for' }))
  await page.keyboard.press('Enter')
  const shorter = page.getByRole('option', { name: '7 days', exact: true })
  await shorter.waitFor()
  // An open list marks its present choice a moment later than it shows it.
  await until(async () => {
    await page.keyboard.press('ArrowUp')
    return (await shorter.getAttribute('data-combobox-selected')) !== null
  }, 'the shorter time to be marked')
  await page.keyboard.press('Enter')
  await tabTo(page, page.locator('section', { hasText: 'Keep responses for' }).getByRole('button', { name: 'Save' }))
  await page.keyboard.press('Enter')
  await page.getByText('Responses are kept for').waitFor()
  await until(() => hasFocus(page.getByRole('heading', { name: 'Stored responses' })), 'the focus to be at the heading')
})

test('after saving, the focus moves to the form’s heading, and after a refusal back to the form’s button', async () => {
  const page = await open('/settings')
  const save = page.getByRole('button', { name: 'Save name' })
  for (const isRefused of [true, false]) {
    await tabTo(page, page.getByRole('textbox', { name: 'Name' }))
    await page.keyboard.type(' the Second')
    if (isRefused) await page.route('**/session/me', (route) => route.fulfill({ status: 500, json: {} }), { times: 1 })
    await tabTo(page, save)
    await page.keyboard.press('Enter')
    await (isRefused ? page.getByRole('alert') : page.getByText('Your name was changed.')).waitFor()
    const next = isRefused ? save : page.getByRole('heading', { name: 'Profile' })
    await until(() => hasFocus(next), 'the focus to be where the form is')
  }
})
