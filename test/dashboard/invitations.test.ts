/** Answering an invitation in Chromium with real mails, and every failure on the way. The team's story has the whole way. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { expectAccessible, expectGoodLooks, expectNoSidewaysScroll, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { cookieOf, type Person, personWith } from '@test/support/person'
import { until } from '@test/support/until'
import type { Page } from 'playwright-core'
import { createUser } from '@/accounts/users'

const PASSWORD = 'a horse on a battery'
const INVITATION = /(http:\S+\/dashboard\/invitation#token=\w+)/
let gateway: TestGateway
const browser = testBrowser()
let mailServer: MailServer

beforeAll(async () => {
  mailServer = await startMailServer()
  const environment = { SMTP_URL: mailServer.url, MAIL_FROM: 'mail@gateway.example.test' }
  gateway = await startGateway({ respond: () => new Response('{}'), environment })
})
afterAll(async () => {
  await gateway.stop()
  await mailServer.stop()
})

const newAddress = () => `${crypto.randomUUID()}@example.test`

type View = { width?: number; colorScheme?: 'light' | 'dark'; cookie?: string }

function open(path: string, view: View = {}): Promise<Page> {
  return browser.open(path, { url: gateway.url, ...view })
}

/** Somebody with a confirmed address, without a detour over pages. */
async function newPerson(name: string, email = newAddress()): Promise<Person> {
  await createUser(gateway.gateway.database, { email, password: PASSWORD, name })
  const response = await fetch(`${gateway.url}/dashboard/api/session/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url },
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  return personWith(gateway, cookieOf(response), { email, password: PASSWORD })
}

test('the operator sees a warning if PUBLIC_URL for links is not set', () => {
  expect(gateway.logLines.join()).toContain('mail_links_without_host')
})

describe('an invited person', () => {
  let owner: Person
  let person: Person
  let link: string

  beforeEach(async () => {
    owner = await newPerson('Ada Lovelace')
    person = await newPerson('Charles Babbage')
    await owner.json('POST', '/dashboard/api/a/:accountId/organisation', { name: 'Engines Ltd', country: 'GB' })
    const invited = { email: person.email, role: 'billing' }
    expect((await owner.json('POST', '/dashboard/api/a/:accountId/invitations', invited)).status).toBe(200)
    link = await mailServer.find(person.email, INVITATION)
  })

  test('an invited person signs in and accepts by keyboard alone', async () => {
    const page = await open(link)
    await page.getByRole('link', { name: 'Sign in' }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('E-mail address').fill(person.email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Accept' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Account: Engines Ltd' }).waitFor()
    await page.getByRole('heading', { level: 1 }).waitFor()
    // It is answered: whoever signs in next goes where they want.
    await page.goto(`${gateway.url}/dashboard`)
    await page.waitForURL(`**/a/${owner.viewer.accountId}`)
  })

  test('an invited person declines, and the link is void', async () => {
    const page = await open(link, { cookie: person.cookie })
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.waitForURL(`**/a/${person.viewer.accountId}`)
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByText('This invitation is not valid, or no longer.').waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Go to the dashboard' }).click()
    await page.waitForURL(`**/a/${person.viewer.accountId}`)
  })

  test('every void invitation link gets the same explanation, whatever its token', async () => {
    const page = await open('/docs', { cookie: person.cookie })
    for (const token of ['x'.repeat(9_000), '%00', '%zz']) {
      await page.goto('about:blank')
      await page.goto(`${gateway.url}/dashboard/invitation#token=${token}`)
      await page.getByText('This invitation is not valid, or no longer. Ask for a new one.').waitFor()
      await page.getByText('It works once, for 7 days').waitFor()
    }
  })

  test('an invited person who is signed in as somebody else signs out and continues', async () => {
    const other = await newPerson('Mallory')
    const page = await open(link, { cookie: other.cookie, width: 360, colorScheme: 'dark' })
    await page.getByText('This invitation is not valid, or no longer.').waitFor()
    await page.getByText(`Signed in as ${other.email}`).waitFor()
    await expectAccessible(page)
    await expectNoSidewaysScroll(page)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByLabel('E-mail address').fill(person.email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Join Engines Ltd' }).waitFor()
  })

  test('an invited person sees which step failed, and tries again', async () => {
    const page = await open('/dashboard/settings', { cookie: person.cookie })
    const broken = { error: { message: 'Out for lunch.', type: 'x', param: null, code: null } }
    await page.route('**/dashboard/api/invitations/*', (asked) => asked.fulfill({ status: 500, json: broken }))
    await page.goto(link)
    await page.getByText('Out for lunch.').waitFor()
    await expectAccessible(page)
    await page.unroute('**/dashboard/api/invitations/*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.route('**/dashboard/api/invitations/*', (asked) => asked.fulfill({ status: 409, json: broken }))
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByText('Out for lunch.').waitFor()
    await expectAccessible(page)
  })

  test('the invitation page and the sender’s list of invitations fit every width', async () => {
    const looks = [
      { width: 360, colorScheme: 'dark' },
      { width: 768, colorScheme: 'light' },
      { width: 1280, colorScheme: 'dark' },
    ] as const
    const long = 'Count Leopold Maximilian von und zu Hohenlohe-Langenburg-Schillingsfürst & Sons (Holdings) Ltd.'
    await gateway.gateway.database.sql`UPDATE accounts SET name = ${long} WHERE id = ${owner.viewer.accountId}`
    const page = await open(link, { cookie: person.cookie })
    await page.getByRole('heading', { name: `Join ${long}` }).waitFor()
    await expectGoodLooks(page, looks)
    const list = await open(`/dashboard/a/${owner.viewer.accountId}/members`, { cookie: owner.cookie })
    await list.getByRole('listitem').filter({ hasText: person.email }).waitFor()
    await expectGoodLooks(list, looks)
  })

  test('an invitation is resent or revoked by its sender', async () => {
    const page = await open(`/dashboard/a/${owner.viewer.accountId}/members`, { cookie: owner.cookie })
    await page.getByRole('button', { name: `Send again to ${person.email}` }).click()
    await page.getByText('Another mail is on its way').waitFor()
    const mails = () => mailServer.mails.filter(({ to, text }) => to === person.email && INVITATION.test(text))
    await until(() => mails().length === 2, 'the other mail')
    await page.getByRole('button', { name: `Revoke the invitation of ${person.email}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke invitation' }).click()
    await page.getByText('No invitation is waiting for an answer.').waitFor()
    await page.getByLabel('E-mail address').fill('nobody')
    await page.getByRole('button', { name: 'Send invitation' }).click()
    expect(await page.getByLabel('E-mail address').getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('E-mail address').fill(owner.email)
    await page.getByRole('button', { name: 'Send invitation' }).click()
    await page.getByText('This person is a member already.').waitFor()
    await expectAccessible(page)
  })
})
