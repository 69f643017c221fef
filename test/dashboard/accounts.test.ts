/** Several accounts of one person in Chromium: each tab shows its own, and buttons depend on the role. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import type { AccountRole } from '@/db/auth-schema'

let gateway: TestGateway
const browser = testBrowser()
let person: Person
/** Of the person first, then of two others. */
let accounts: { accountId: string; keyName: string }[]

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('ok')) })
  person = await signUpPerson(gateway, { name: 'Grace' })
  const others = await Promise.all([signUpPerson(gateway), signUpPerson(gateway)])
  for (const { viewer } of others) await join(viewer.accountId, person, 'admin')
  accounts = []
  for (const [index, { viewer, json }] of [person, ...others].entries()) {
    const keyName = `Key of account ${index}`
    await json('POST', '/dashboard/api/a/:accountId/keys', { name: keyName })
    accounts.push({ accountId: viewer.accountId, keyName })
  }
})
afterAll(() => gateway.stop())

async function join(accountId: string, { viewer }: Person, role: AccountRole): Promise<void> {
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${viewer.userId}, ${role})`
}

function open(path: string, { cookie }: Person = person) {
  return browser.open(`/dashboard${path}`, { url: gateway.url, cookie })
}

test('three tabs show three accounts separately, also after a reload', async () => {
  const first = await open(`/a/${accounts[0]?.accountId}/keys`)
  const tabs = [first, await first.context().newPage(), await first.context().newPage()]
  for (const again of [false, true]) {
    for (const [index, tab] of tabs.entries()) {
      if (again) await tab.reload()
      else if (index > 0) await tab.goto(`${gateway.url}/dashboard/a/${accounts[index]?.accountId}/keys`)
      await tab.getByRole('link', { name: accounts[index]?.keyName ?? '' }).waitFor()
    }
    for (const [index, tab] of tabs.entries()) {
      const text = await tab.locator('body').textContent()
      expect(accounts.filter(({ keyName }) => text?.includes(keyName))).toEqual([
        accounts[index] as (typeof accounts)[0],
      ])
    }
  }
  const [, second] = tabs
  await second?.getByRole('link', { name: 'Usage', exact: true }).click()
  await second?.waitForURL(`**/a/${accounts[1]?.accountId}/usage`)
})

test('a URL without an account leads to the last used account, and keeps its query', async () => {
  const page = await open(`/a/${accounts[1]?.accountId}/keys`)
  await page.getByRole('link', { name: accounts[1]?.keyName ?? '' }).waitFor()
  await page.goto(`${gateway.url}/dashboard/usage?status=error`)
  await page.waitForURL(`**/dashboard/a/${accounts[1]?.accountId}/usage?status=error`)
})

test('an account has no page for people who are not its members', async () => {
  const stranger = await signUpPerson(gateway)
  const page = await open(`/a/${accounts[0]?.accountId}/keys`, stranger)
  await page.getByText('There is no page at this address').waitFor()
  expect(await page.locator('body').textContent()).not.toContain(accounts[0]?.keyName ?? '')
  await expectAccessible(page)
})

test('a developer starts on the keys page and sees no money; a viewer sees no buttons for changes', async () => {
  const [developer, viewer] = [await signUpPerson(gateway), await signUpPerson(gateway)]
  const { accountId = '', keyName = '' } = accounts[0] ?? {}
  await join(accountId, developer, 'developer')
  await join(accountId, viewer, 'viewer')
  const page = await open(`/a/${accountId}`, developer)
  await page.waitForURL(`**/a/${accountId}/keys`)
  await page.getByRole('button', { name: 'Create your first key' }).waitFor()
  expect(await page.getByRole('link', { name: 'Credit', exact: true }).count()).toBe(0)
  await expectAccessible(page)
  const other = await open(`/a/${accountId}/keys`, viewer)
  await other.getByRole('link', { name: keyName }).waitFor()
  expect(await other.getByRole('button', { name: /Create key|Actions for/ }).count()).toBe(0)
  await expectAccessible(other)
})
