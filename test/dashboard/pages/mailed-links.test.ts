/** Pages of mailed links in Chromium: further addresses for alerts, keys found in public, and what keeps a link's token. */
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

test('a finder reports a key by keyboard, and its owner deactivates it by the link, once', async () => {
  const { database } = gateway.gateway
  const email = 'grace@example.test'
  const user = await createUser(database, { email, password: 'a horse on a battery' })
  const userId = user.kind === 'created' ? user.userId : ''
  const [row] = await database.sql<{ account_id: string }[]>`SELECT account_id FROM users WHERE id = ${userId}`
  const made = await gateway.apiKeys.create({ accountId: row?.account_id ?? '', name: 'ci', createdBy: userId })
  if (made.kind !== 'created') throw new Error(made.kind)

  const page = await browser.open('/dashboard/leaked-key', { url: gateway.url, width: 320, colorScheme: 'dark' })
  await page.getByLabel('Text of the key').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Paste the text of the key.').waitFor()
  await page.keyboard.type(made.key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  await expectAccessible(page)
  await expectNoSidewaysScroll(page)

  const path = await server.find(email, /(\/dashboard\/leaked-key\/off#token=\w{32})/)
  const off = await browser.open(path, { url: gateway.url, width: 768 })
  await off.getByRole('button', { name: 'Switch it off' }).click()
  await off.getByRole('heading', { name: 'The key is off' }).waitFor()
  await expectAccessible(off)
  expect(await database.sql`SELECT status FROM api_keys WHERE id = ${made.keyId}`).toMatchObject([
    { status: 'deactivated' },
  ])

  const again = await browser.open(path, { url: gateway.url })
  await again.getByRole('button', { name: 'Switch it off' }).click()
  await again.getByText('This link is no longer valid').waitFor()
  await expectAccessible(again)
})

test.each([
  ['verify-email', 'Enter the password that you chose when you signed up.'],
  ['reset-password', 'At least 8 characters.'],
  ['invitation', 'Sign in with the address that the invitation was sent to'],
])('the page /%s of a mailed link asks before it acts, also if it is drawn anew before', async (path, words) => {
  const page = await browser.open('/healthz', { url: gateway.url })
  await page.addInitScript(drawAnew)
  await page.goto(`${gateway.url}/dashboard/${path}#token=sesame`)
  await page.getByText(words).waitFor()
  expect(new URL(page.url()).hash).toBe('')
})

/** Runs in the page, as a busy machine would act: when the token is taken out of the address, something more urgent than the page has to be drawn before React goes on. */
function drawAnew(): void {
  const original = history.replaceState
  let isDone = false
  history.replaceState = function (...given) {
    original.apply(this, given)
    if (isDone) return
    isDone = true
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => history.replaceState(null, '', `${location.pathname}/`)
    port2.postMessage('')
    // Longer than React draws without looking whether there is something more urgent.
    for (let times = 0; times < 100_000_000; times++);
  }
}
