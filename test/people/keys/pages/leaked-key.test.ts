/** The pages for keys found in public, in Chromium without a sign-in: reporting one by keyboard, and deactivating it by the mailed link. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectAccessible, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { createUser } from '@/accounts/users'

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

test('a finder reports a key by keyboard, and its owner deactivates it by the link, once', async () => {
  const { database } = gateway.gateway
  const email = 'ada@example.test'
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
