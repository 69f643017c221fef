/** Budgets in Chromium: setting a limit, granting more, what developers see, and what a key's page shows. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectAccessible, expectGoodLooks, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'

let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

function open({ cookie }: Person, accountId: string) {
  return browser.open(`/dashboard/a/${accountId}/budgets`, { url: gateway.url, cookie })
}

test('a budget is set and raised by a grant; an invalid one is refused at its field', async () => {
  const owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  const { accountId } = owner.viewer
  const page = await open(owner, accountId)
  await page.getByRole('button', { name: 'Edit the budget of This account' }).click()
  await page.getByLabel('Day').fill('7')
  await page.getByLabel('Week').fill('5')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('may not be above that of the week').waitFor()
  await page.getByLabel('Week').fill('25')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Day: $0.00 of $7.00').waitFor()
  await page.getByRole('button', { name: 'Grant more to This account' }).click()
  await page.getByLabel('Amount in USD').fill('2.50')
  await page.getByRole('button', { name: 'Grant', exact: true }).click()
  await page.getByText('Day: $0.00 of $7.00 and $2.50 granted').waitFor()
  await page.reload()
  await page.getByText('Week: $0.00 of $25.00').waitFor()
  await expectGoodLooks(page, [
    { width: 320, colorScheme: 'light' },
    { width: 768, colorScheme: 'dark' },
  ])
})

test('the default budget of new members is also given to members without one', async () => {
  const [owner, developer] = [
    await signUpPerson(gateway, { name: 'Ada' }),
    await signUpPerson(gateway, { name: 'Charles' }),
  ]
  const { accountId } = owner.viewer
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${developer.viewer.userId}, 'developer')`
  await owner.json('PUT', `/dashboard/api/a/${accountId}/budgets/member/${owner.viewer.userId}`, { dayUsd: '9' })
  const page = await open(owner, accountId)
  await page.getByRole('listitem').filter({ hasText: 'Charles' }).getByText('Not set').waitFor()
  await page.getByRole('button', { name: 'Edit the budget of New members' }).click()
  await page.getByLabel('Month').fill('40')
  await page.getByLabel('Give it to members who have no budget of their own as well').check()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('listitem').filter({ hasText: 'Charles' }).getByText('Month: $0.00 of $40.00').waitFor()
  expect(await page.getByRole('listitem').filter({ hasText: 'Ada' }).textContent()).not.toContain('Month')
})

test('developers see their own budgets and change nothing', async () => {
  const [owner, developer] = [
    await signUpPerson(gateway, { name: 'Ada' }),
    await signUpPerson(gateway, { name: 'Charles' }),
  ]
  const { accountId } = owner.viewer
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${developer.viewer.userId}, 'developer')`
  const page = await open(developer, accountId)
  await page.getByRole('listitem').filter({ hasText: 'Charles' }).waitFor()
  expect(await page.getByText('Not set').count()).toBe(1)
  expect(await page.getByRole('button', { name: /Edit the budget/ }).count()).toBe(0)
})

test('a key’s page shows the budgets that limit it with their remaining amounts, and tags are added', async () => {
  const person = await signUpPerson(gateway)
  const made = await person.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'Robot', monthlyBudgetUsd: '20' })
  const { id } = (made.body as { item: { id: string } }).item
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
