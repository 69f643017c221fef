/** A team's whole way in Chromium with real mails: two people share an account, a budget, and a key that is rotated under load. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type MailServer, startMailServer } from '@test/support/mail-server'
import { until } from '@test/support/until'
import { chatCompletion, usageOf } from '@test/support/upstream'
import { addCredit } from '@test/usage/customer'
import type { Page } from 'playwright-core'

const PASSWORD = 'a horse on a battery'
const VERIFY = /(http:\S+\/dashboard\/verify-email#token=\w+)/
const INVITATION = /(http:\S+\/dashboard\/invitation#token=\w+)/
const LOW_CREDIT = /has fallen below 10\.00 USD[\s\S]*?(\/dashboard\/a\/acct_\w+\/credit)/
const CALLERS = 4
/** So many answers by each text of the key, before the story goes on. */
const ENOUGH = 20
let gateway: TestGateway
const browser = testBrowser()
let mailServer: MailServer

beforeAll(async () => {
  mailServer = await startMailServer()
  const environment = { SMTP_URL: mailServer.url, MAIL_FROM: 'mail@gateway.example.test' }
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello', usageOf(50, 50))), environment })
})
afterAll(async () => {
  await gateway.stop()
  await mailServer.stop()
})

test("a team's whole way: organisation → invitation → budget → key → rotation under load → alert by mail → the budget refuses", async () => {
  const [founderEmail, colleagueEmail] = ['ada@engines.example', 'charles@engines.example']
  const founder = await browser.open('/dashboard/sign-up', { url: gateway.url })
  await signUp(founder, 'Ada Lovelace', founderEmail)
  const accountId = await shareAccount(founder)
  await addCredit(gateway, accountId, '10')
  await founder.getByLabel('E-mail address').fill(colleagueEmail)
  await founder.getByRole('button', { name: 'Send invitation' }).click()
  await founder.getByRole('listitem').filter({ hasText: colleagueEmail }).getByText('Developer').waitFor()
  await expectAccessible(founder)
  const colleague = await browser.open(await mailServer.find(colleagueEmail, INVITATION), { url: gateway.url })
  await colleague.getByRole('heading', { name: 'You are invited' }).waitFor()
  expect(colleague.url()).not.toContain('token')
  await expectAccessible(colleague)
  await colleague.getByRole('link', { name: 'Create an account' }).click()
  await signUp(colleague, 'Charles Babbage', colleagueEmail)
  await colleague.getByRole('heading', { name: 'Join Analytical Engines Ltd' }).waitFor()
  await colleague.getByText('Ada Lovelace invites you').waitFor()
  await expectAccessible(colleague)
  await colleague.getByRole('button', { name: 'Accept' }).click()
  await colleague.getByRole('button', { name: 'Account: Analytical Engines Ltd' }).waitFor()
  await menu(colleague, 'Members')
  await colleague.getByRole('row', { name: /Charles Babbage \(you\).*Developer/ }).waitFor()
  await founder.reload()
  await founder.getByRole('row', { name: /Charles Babbage/ }).waitFor()
  await founder.getByText('No invitation is waiting for an answer.').waitFor()

  await setBudget(founder, '5')
  const key = await createKey(colleague)
  await colleague.getByText('Its member, day: $0.00 of $5.00').waitFor()
  await expectAccessible(colleague)
  const latest = await rotateUnderLoad(colleague, key)

  // What was called for has taken the credit below the first threshold, which nobody had to set.
  await founder.goto(gateway.url + (await mailServer.find(founderEmail, LOW_CREDIT)))
  await founder.getByRole('heading', { name: 'Credit', exact: true }).waitFor()
  expect(mailServer.mails.filter(({ to, text }) => to === colleagueEmail && LOW_CREDIT.test(text))).toEqual([])

  await setBudget(founder, '0')
  const refused = await call(latest)
  expect([refused.status, await refused.json()]).toMatchObject([402, { error: { scope: 'member', window: 'day' } }])
})

async function signUp(page: Page, name: string, email: string): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor()
  // A mail program opens another tab.
  await page.goto('about:blank')
  await page.goto(await mailServer.find(email, VERIFY))
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Confirm and sign in' }).click()
}

async function shareAccount(page: Page): Promise<string> {
  await menu(page, 'Members')
  await page.getByLabel('Company name').fill('Analytical Engines Ltd')
  await page.getByRole('combobox', { name: 'Country' }).fill('united k')
  await page.getByRole('option', { name: 'United Kingdom (GB)' }).click()
  await page.getByRole('button', { name: 'Make it an organisation' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Make it an organisation' }).click()
  await page.getByText('No invitation is waiting for an answer.').waitFor()
  return /\/a\/(acct_\w+)\//.exec(page.url())?.[1] ?? ''
}

async function setBudget(page: Page, usd: string): Promise<void> {
  await menu(page, 'Budgets')
  await page.getByRole('button', { name: 'Edit the budget of Charles Babbage' }).click()
  await page.getByRole('dialog').getByLabel('Day').fill(usd)
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
}

/** Makes a key, and goes to its page. */
async function createKey(page: Page): Promise<string> {
  await menu(page, 'API keys')
  await page.getByRole('button', { name: 'Create your first key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Engine')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = await shownKey(page)
  await page.getByRole('link', { name: 'Engine' }).click()
  return key
}

async function shownKey(page: Page): Promise<string> {
  const dialog = page.getByRole('dialog')
  const key = (await dialog.getByText(/^svc-[0-9A-Za-z]{36}$/).textContent()) ?? ''
  await dialog.getByRole('button', { name: 'I have copied the key' }).click()
  return key
}

/** Programs call all the time, and are given the new text one after the other: not one request of theirs is refused. */
async function rotateUnderLoad(page: Page, first: string): Promise<string> {
  const statuses = new Map<string, number[]>([[first, []]])
  const keys = Array.from({ length: CALLERS }, () => first)
  let isOver = false
  const callers = keys.map(async (_, index) => {
    while (!isOver) {
      const key = keys[index] ?? first
      statuses.get(key)?.push((await call(key)).status)
    }
  })
  const answered = (key: string, count: number) =>
    until(() => (statuses.get(key)?.length ?? 0) >= count, `${count} answers`)
  await answered(first, ENOUGH)
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  const latest = await shownKey(page)
  statuses.set(latest, [])
  for (let index = 0; index < CALLERS; index++) {
    keys[index] = latest
    await answered(latest, (index + 1) * ENOUGH)
  }
  isOver = true
  await Promise.all(callers)
  expect([...new Set([...statuses.values()].flat())]).toEqual([200])
  return latest
}

async function call(key: string): Promise<Response> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'svc/alpha', max_tokens: 300, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  return new Response(await response.arrayBuffer(), { status: response.status })
}

function menu(page: Page, name: string): Promise<void> {
  return page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click()
}
