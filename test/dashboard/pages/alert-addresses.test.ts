/** Further addresses for alerts in Chromium: adding, confirming by the mailed link, and removing. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { signInAgain } from '@test/console/http/support'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { until } from '@test/support/until'
import { createUser } from '@/accounts/users'

const PASSWORD = 'a horse on a battery'
const LINK = /(\/dashboard\/confirm-alerts#token=\w{32})/
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

test('an alert address is added by keyboard, resent, confirmed by its recipient, and removed', async () => {
  const [email, team] = ['ada@example.test', 'team@example.test']
  await createUser(gateway.gateway.database, { email, password: PASSWORD, name: 'Ada Lovelace' })
  const { cookie, viewer } = await signInAgain(gateway, { email, password: PASSWORD })
  const path = `/dashboard/a/${viewer.accountId}/alerts`
  const page = await browser.open(path, { url: gateway.url, cookie, width: 320, colorScheme: 'dark' })
  await page.getByText('Nobody else gets them.').waitFor()
  await expectAccessible(page)
  const field = page.getByLabel('Another address')
  await field.focus()
  await page.keyboard.type('no address')
  await page.keyboard.press('Enter')
  await page.locator('[aria-invalid="true"]').waitFor()
  await field.fill(team)
  await page.keyboard.press('Enter')
  const row = page.getByRole('group', { name: team })
  await row.getByText('Waits for confirmation').waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)
  const first = await server.find(team, LINK)
  await row.getByRole('button', { name: 'Send again' }).click()
  const link = await until(async () => {
    const found = await server.find(team, LINK)
    return found === first ? undefined : found
  }, 'another link')

  const broken = await browser.open(first, { url: gateway.url, width: 320 })
  await broken.getByText('This link is no longer valid').waitFor()
  await expectAccessible(broken)
  await expectNoSidewaysScroll(broken)
  const other = await browser.open(link, { url: gateway.url, width: 320, colorScheme: 'dark' })
  await other.getByText(/Ada Lovelace wants alerts of the account of .* to be sent to team@example\.test/).waitFor()
  await expectAccessible(other)
  await other.getByRole('button', { name: 'Yes, send them' }).click()
  await other.getByRole('heading', { name: 'Alerts are on' }).waitFor()
  await expectAccessible(other)
  await expectNoSidewaysScroll(other)

  const again = await browser.open(path, { url: gateway.url, cookie, width: 1280 })
  const confirmed = again.getByRole('group', { name: team })
  await confirmed.getByText('Confirmed').waitFor()
  expect(await confirmed.getByRole('button', { name: 'Send again' }).count()).toBe(0)
  await expectAccessible(again)
  await confirmed.getByRole('button', { name: 'Remove' }).click()
  await again.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await again.getByText('Nobody else gets them.').waitFor()
})
