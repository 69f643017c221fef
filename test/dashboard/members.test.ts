/** The members page in Chromium: an account becomes an organisation, roles change, memberships end, people switch accounts. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectAccessible, testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { chatCompletion } from '@test/support/upstream'
import type { Page } from 'playwright-core'
import type { AccountRole } from '@/db/auth-schema'

let gateway: TestGateway
const browser = testBrowser()

beforeAll(async () => {
  gateway = await startGateway({ respond: () => Response.json(chatCompletion('Hello')) })
})
afterAll(() => gateway.stop())

function open(person: Person, path: string): Promise<Page> {
  return browser.open(path, { url: gateway.url, cookie: person.cookie })
}

async function newOrganisation(name = 'Engines Ltd'): Promise<Person> {
  const owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  await owner.json('POST', '/dashboard/api/a/:accountId/organisation', { name, country: 'GB' })
  return owner
}

async function join(owner: Person, role: AccountRole, name: string): Promise<Person> {
  const person = await signUpPerson(gateway, { name })
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${owner.viewer.accountId}, ${person.viewer.userId}, ${role})`
  return person
}

const membersOf = ({ viewer }: Person) => `/dashboard/a/${viewer.accountId}/members`

describe('an account', () => {
  test('an account becomes an organisation by keyboard alone', async () => {
    const owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
    const page = await open(owner, '/dashboard')
    await page.getByRole('link', { name: 'Members' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /Ada Lovelace \(you\).*Owner/ }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('Company name').focus()
    await page.keyboard.press('Enter')
    await page.getByText('Enter the name of the company.').waitFor()
    await page.getByText('Choose the country.').waitFor()
    await expectAccessible(page)
    await page.keyboard.type('Engines Ltd')
    await page.keyboard.press('Tab')
    await page.keyboard.type('united k')
    await page.getByRole('option', { name: 'United Kingdom (GB)' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('GB 123')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('cannot be undone').waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Make it an organisation' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Engines Ltd, United Kingdom, VAT id GB 123').waitFor()
    await page.getByRole('heading', { name: 'Roles' }).waitFor()
    await expectAccessible(page)
  })

  test('a person chooses one of their accounts, and it stays chosen', async () => {
    const person = await newOrganisation('First Ltd')
    const other = await newOrganisation('Second Ltd')
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${other.viewer.accountId}, ${person.viewer.userId}, 'viewer')`
    await other.json('POST', '/dashboard/api/a/:accountId/keys', { name: 'A key of the second' })
    const page = await open(person, '/dashboard/keys')
    await page.getByText('No API keys yet').waitFor()
    const tab = await page.context().newPage()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Account: First Ltd' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: /Second Ltd/ }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/a/${other.viewer.accountId}`)
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('A key of the second').waitFor()
    // Another tab has its own, and leaves this one alone.
    await tab.goto(`${gateway.url}/dashboard/a/${person.viewer.accountId}/keys`)
    await tab.getByText('No API keys yet').waitFor()
    await page.reload()
    await page.getByText('A key of the second').waitFor()
    await tab.reload()
    await tab.getByText('No API keys yet').waitFor()
    expect(await tab.getByText('A key of the second').count()).toBe(0)
  })
})

test('a person works in three accounts in three tabs, each separate', async () => {
  const person = await newOrganisation('First Ltd')
  const others = [await newOrganisation('Second Ltd'), await newOrganisation('Third Ltd')]
  const accounts = [person, ...others].map(({ viewer }) => viewer.accountId)
  for (const accountId of accounts.slice(1)) {
    await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
      VALUES (${accountId}, ${person.viewer.userId}, 'admin')`
  }
  const first = await open(person, '/dashboard/keys')
  const tabs = [first, await first.context().newPage(), await first.context().newPage()]
  // All are open before any is used: what one asks and changes is no other's.
  for (const [index, tab] of tabs.entries()) await tab.goto(`${gateway.url}/dashboard/a/${accounts[index]}/keys`)
  for (const [index, tab] of tabs.entries()) {
    await tab.getByRole('button', { name: 'Create your first key' }).click()
    const dialog = tab.getByRole('dialog')
    await dialog.getByLabel('Name').fill(`Key of tab ${index}`)
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'I have copied the key' }).click()
  }
  for (const [index, tab] of tabs.entries()) {
    await tab.reload()
    await tab.getByRole('link', { name: `Key of tab ${index}` }).waitFor()
    expect(await tab.getByText(/^Key of tab/).count()).toBe(1)
  }
})

test('an owner lets developers see all usage, by keyboard alone', async () => {
  const owner = await newOrganisation()
  const developer = await join(owner, 'developer', 'Grace Hopper')
  const policy = () => developer.json('GET', `/dashboard/api/a/${owner.viewer.accountId}/member-policy`)
  const page = await open(owner, membersOf(owner))
  const choice = page.getByRole('switch', { name: 'Developers see all usage' })
  await choice.waitFor()
  await expectAccessible(page)
  await choice.focus()
  await page.keyboard.press('Space')
  await page.getByText('Developers see all usage now.').waitFor()
  expect((await policy()).body).toEqual({ developersSeeAllUsage: true })
  expect(await choice.evaluate((element) => element === document.activeElement)).toBe(true)
  await page.keyboard.press('Space')
  await page.getByText('Developers see their own usage.').waitFor()
  expect((await policy()).body).toEqual({ developersSeeAllUsage: false })
  const theirs = await open(developer, membersOf(owner))
  await theirs.getByRole('row', { name: /Ada Lovelace/ }).waitFor()
  expect(await theirs.getByRole('switch').count()).toBe(0)
})

describe('a member', () => {
  test('a member gets another role, at once or after a confirmation', async () => {
    const owner = await newOrganisation()
    const person = await join(owner, 'viewer', 'Grace Hopper')
    const page = await open(owner, membersOf(owner))
    const choose = async (label: string) => {
      await page.getByRole('combobox', { name: 'Role of Grace Hopper' }).click()
      await page.getByRole('option', { name: label }).click()
    }
    await choose('Developer')
    await page.getByText('The role of Grace Hopper is Developer now.').waitFor()
    await choose('Owner')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('take the role of owner from others').waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Make owner' }).click()
    await page.getByText('The role of Grace Hopper is Owner now.').waitFor()
    const me = await person.json('GET', '/dashboard/api/session/me')
    expect(JSON.stringify(me.body)).toContain(`"accountId":"${owner.viewer.accountId}"`)
    // With a second owner one may lower one's own role, and then sees no choice any more.
    await page.getByRole('combobox', { name: 'Role of Ada Lovelace' }).click()
    await page.getByRole('option', { name: 'Viewer' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Lower my role' }).click()
    await page.getByText('Your role is Viewer now.').waitFor()
    await page
      .getByRole('combobox', { name: /^Role of/ })
      .first()
      .waitFor({ state: 'detached' })
  })

  test('before a member gets a role that may not have keys, the dialog lists the member’s keys and offers to keep them', async () => {
    const owner = await newOrganisation()
    const person = await join(owner, 'developer', 'Grace Hopper')
    await person.json('POST', `/dashboard/api/a/${owner.viewer.accountId}/keys`, { name: 'Nightly' })
    const page = await open(owner, membersOf(owner))
    await page.getByRole('combobox', { name: 'Role of Grace Hopper' }).click()
    await page.getByRole('option', { name: 'Viewer' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Nightly').waitFor()
    await expectAccessible(page)
    await dialog.getByRole('checkbox', { name: 'Keep keys working' }).check()
    await dialog.getByText('Nightly').waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Change role' }).click()
    await page.getByText('The role of Grace Hopper is Viewer now.').waitFor()
    const theirs = await open(person, `/dashboard/a/${owner.viewer.accountId}/keys`)
    await theirs.getByRole('link', { name: 'Nightly' }).click()
    await theirs.getByRole('button', { name: 'Deactivate' }).click()
    await theirs.getByRole('dialog').getByRole('button', { name: 'Deactivate key' }).click()
    await theirs.getByText('“Nightly” is deactivated.').waitFor()
  })

  test('before a member is removed, the dialog lists the keys that end; then the member loses the account', async () => {
    const owner = await newOrganisation()
    const person = await join(owner, 'developer', 'Grace Hopper')
    await person.json('POST', `/dashboard/api/a/${owner.viewer.accountId}/keys`, { name: 'Nightly' })
    const theirs = await open(person, `/dashboard/a/${owner.viewer.accountId}/keys`)
    await theirs.getByText('Nightly').waitFor()
    const page = await open(owner, membersOf(owner))
    await page.getByRole('button', { name: 'Remove Grace Hopper' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This ends at once').waitFor()
    await dialog.getByText('API key', { exact: false }).first().waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await dialog.getByText('Nightly').waitFor()
    await expectAccessible(page)
    await page.setViewportSize({ width: 1280, height: 800 })
    await dialog.getByRole('button', { name: 'Remove member' }).click()
    await page.getByText('Grace Hopper is removed.').waitFor()
    await page.getByRole('row', { name: /Grace Hopper/ }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('row', { name: /Nightly.*Deactivated/ }).waitFor()
    await theirs.reload()
    await theirs.getByText('There is no page at this address').waitFor()
    expect(await theirs.getByText('Nightly').count()).toBe(0)
  })

  test('a member who leaves an account is back in their own account', async () => {
    const owner = await newOrganisation()
    const person = await join(owner, 'viewer', 'Grace Hopper')
    const page = await open(person, membersOf(owner))
    await page.getByRole('button', { name: 'Leave this account' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click()
    await page.waitForURL(`**/a/${person.viewer.accountId}`)
  })

  test('a viewer sees the members, but no buttons for changes', async () => {
    const owner = await newOrganisation()
    const person = await join(owner, 'developer', 'Grace Hopper')
    const page = await open(person, membersOf(owner))
    await page.getByRole('row', { name: /Ada Lovelace/ }).waitFor()
    expect(await page.getByRole('combobox').count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Leave this account' }).waitFor()
    await expectAccessible(page)
  })
})
