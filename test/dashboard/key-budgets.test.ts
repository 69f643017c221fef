/** The page of a key in Chromium: its budgets, and the tags of its usage. */
import { afterAll, beforeAll, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'

let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

async function createKey(person: Person, body: object): Promise<{ id: string }> {
  const answer = await person.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'Robot', ...body })
  return (answer.body as { item: { id: string } }).item
}

test('a key’s page shows the budgets that limit it with their remaining amounts, and tags are added', async () => {
  const person = await signUpPerson(gateway)
  const { id } = await createKey(person, { monthlyBudgetUsd: '20' })
  const { accountId, userId } = person.viewer
  const budgets = `/dashboard/api/a/${accountId}/budgets`
  await person.json('PUT', `${budgets}/member/${userId}`, { dayUsd: '3' })
  await person.json('PUT', `${budgets}/account/${accountId}`, { totalUsd: '100' })
  const page = await browser.open(`/dashboard/keys/${id}`, { url: gateway.url, cookie: person.cookie })
  await page.getByText('Its member, day: $0.00 of $3.00, $3.00 left').waitFor()
  await page.getByText('This key, month: $0.00 of $20.00, $20.00 left').waitFor()
  await page.getByText('The account, total: $0.00 of $100.00, $100.00 left').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Tags').fill('team=search, Env=prod')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText("'Env=prod' is no tag.").waitFor()
  await dialog.getByLabel('Tags').fill('team=search, env=prod')
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('team=search').waitFor()
  await expectAccessible(page)
})
