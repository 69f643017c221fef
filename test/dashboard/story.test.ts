/** A customer's whole way in Chromium, from an empty database: sign up, buy credit, create a key, use it, see usage, deactivate it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { signUpPerson } from '@test/support/person'
import { chatStream, eventStream, usageOf } from '@test/support/upstream'
import OpenAI, { AuthenticationError } from 'openai'
import type { Page } from 'playwright-core'

let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({
    respond: () => eventStream(...chatStream(['Once ', 'upon ', 'a time'], usageOf(40, 3))),
  })
})
afterAll(() => gateway.stop())

test("a customer's whole way: sign up → order → confirm → key → first streamed request → usage row → deactivate key → 401", async () => {
  const page = await browser.open('/dashboard', { url: gateway.url })
  await signUp(page)
  const reference = await orderCredit(page)
  await confirmAsAdministrator(reference)
  await page.getByText('The credit is on your account').waitFor()
  await menu(page, 'Overview')
  await page.getByText('1 of 3 steps done').waitFor()
  const key = await createKey(page)
  expect(await streamAnswer(key)).toBe('Once upon a time')
  await menu(page, 'Overview')
  await page.getByText('$49.99').waitFor()
  await menu(page, 'Usage')
  const row = page.getByRole('row', { name: /svc\/alpha.*Novel.*OK/ })
  await row.waitFor()
  await row.getByRole('link').click()
  await page.getByRole('dialog').getByText('The answer was complete.').waitFor()
  await page.keyboard.press('Escape')
  await deactivateKey(page)
  await expect(streamAnswer(key)).rejects.toBeInstanceOf(AuthenticationError)
})

async function signUp(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('Name').fill('Mary Shelley')
  await page.getByLabel('E-mail address').fill('mary@frankenstein.example')
  await page.getByLabel('Password', { exact: true }).fill('a monster in the Alps')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('0 of 3 steps done').waitFor()
}

async function orderCredit(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Add credit' }).click()
  await page.getByText('$50', { exact: true }).click()
  await page.getByRole('radio', { name: 'Bank transfer' }).click()
  await page.getByRole('button', { name: 'Order $50.00 of credit' }).click()
  await page.getByText('Transfer exactly this amount').waitFor()
  return (await page.getByRole('heading', { level: 1 }).textContent())?.replace('Order ', '') ?? ''
}

async function confirmAsAdministrator(reference: string): Promise<void> {
  const { cookie } = await signUpPerson(gateway, { role: 'admin' })
  const page = await browser.open('/dashboard', { url: gateway.url, cookie })
  await page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name: 'Orders' }).click()
  await page.getByRole('link', { name: reference }).click()
  await page.getByRole('dialog', { name: 'Order' }).getByRole('button', { name: 'Confirm payment' }).click()
  const question = page.getByRole('dialog', { name: 'Confirm payment' })
  await question.getByLabel('Reason').fill('On the statement of today')
  await question.getByRole('button', { name: 'Confirm payment' }).click()
  await page.getByRole('dialog', { name: 'Order' }).getByText('Paid', { exact: true }).first().waitFor()
}

async function createKey(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Create a key' }).click()
  const opens = page.getByRole('button', { name: 'Create your first key' })
  const dialog = page.getByRole('dialog')
  await opens.or(dialog).first().waitFor()
  if (await opens.isVisible()) await opens.click()
  await dialog.getByLabel('Name').fill('Novel')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const key = (await dialog.getByText(/^svc-[0-9A-Za-z]{36}$/).textContent()) ?? ''
  await dialog.getByRole('button', { name: 'I have copied the key' }).click()
  return key
}

async function streamAnswer(apiKey: string): Promise<string> {
  const client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const messages = [{ role: 'user', content: 'Begin a novel about a monster that reads Milton in the woods' }] as const
  const stream = await client.chat.completions.create({ model: 'svc/alpha', messages: [...messages], stream: true })
  let text = ''
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
  return text
}

async function deactivateKey(page: Page): Promise<void> {
  await menu(page, 'API keys')
  await page.getByRole('link', { name: 'Novel' }).click()
  await page.getByRole('button', { name: 'Deactivate' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Deactivate/ })
    .click()
  await page.getByText('Deactivated', { exact: true }).waitFor()
}

function menu(page: Page, name: string): Promise<void> {
  return page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name }).click()
}
