/** Every dialog of an account's pages by keyboard: opening it, moving the focus within it, leaving it by Escape, and sending it. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { storeBatch } from '@test/people/batches/stored'
import { testBrowser } from '@test/support/browser'
import { startGateway, type TestGateway } from '@test/support/gateway'
import { type Person, signUpPerson } from '@test/support/person'
import { until } from '@test/support/until'
import { addCredit } from '@test/usage/customer'
import type { Page } from 'playwright-core'
import { invite } from '@/people/members/invitations'
import { fillIn, goRound, hasFocus, holdsFocus, keepKey, MAX_STOPS, tabTo } from './keyboard'

const INVITED = 'charles@example.test'

type Dialog = {
  /** Below the account. */
  path: string
  /** The name of the button. */
  opener: string
  /** The entry of the menu that the button opens. */
  entry?: string
  title: string
  /** What is typed into which field. */
  fields?: Record<string, string>
  /** The button that sends it; without one the last field's Enter does. */
  action?: string
  /** What is read afterwards; of a key that is shown once, its dialog. */
  says: string | { title: string }
  /** Where the focus is afterwards, where the button has gone with what was done. */
  focus?: { role: 'heading' | 'button' | 'link' | 'combobox'; name: string }
}

const ROBOT = '/keys/:keyId'
const BATCH = '/batches/:batchId'
const SAVED = 'The changes hold from the next request on.'
const NEW_KEY = { title: 'Your new API key' }

const DIALOGS: readonly Dialog[] = [
  { path: '/keys', opener: 'Create key', title: 'Create API key', fields: { Name: 'Nightly' }, says: NEW_KEY },
  {
    ...{ path: '/keys', opener: 'Actions for Robot', entry: 'Deactivate', title: 'Deactivate “Robot”?' },
    ...{ action: 'Deactivate key', says: '“Robot” is deactivated.' },
  },
  {
    ...{ path: '/keys', opener: 'Actions for Robot', entry: 'Delete…', title: 'Delete “Robot”?' },
    ...{
      fields: { 'Type Robot to confirm': 'Robot' },
      says: '“Robot” is deleted.',
      focus: { role: 'heading', name: 'API keys' },
    },
  },
  {
    ...{ path: '/keys', opener: 'Create management key', title: 'Create management key', fields: { Name: 'ci' } },
    says: { title: 'Your new management key' },
  },
  {
    ...{ path: '/keys', opener: 'Revoke terraform', title: 'Revoke “terraform”?', action: 'Revoke key' },
    ...{ says: '“terraform” is revoked.', focus: { role: 'button', name: 'Revoke ansible' } },
  },
  { path: ROBOT, opener: 'Edit', title: 'Edit “Robot”', fields: { 'Monthly budget': '7' }, says: SAVED },
  { path: ROBOT, opener: 'Rotate', title: 'Rotate “Robot”', action: 'Rotate key', says: NEW_KEY },
  {
    ...{ path: ROBOT, opener: 'Transfer', title: 'Transfer “Robot”', fields: { To: 'Grace' } },
    ...{ action: 'Transfer key', says: "is another member's key now" },
  },
  {
    ...{ path: BATCH, opener: 'Cancel', title: 'Cancel this batch?', action: 'Cancel batch' },
    ...{ says: 'The batch is cancelled.', focus: { role: 'heading', name: 'Batch' } },
  },
  {
    ...{ path: '/credit', opener: 'Move credit', title: 'Move credit', action: 'Move credit' },
    ...{ fields: { To: 'Grace', 'Amount in US dollars': '2.5' }, says: '$2.50 was moved to Grace Hopper.' },
  },
  {
    ...{ path: '/members', opener: 'Remove Grace Hopper', title: 'Remove Grace Hopper?', action: 'Remove member' },
    ...{ says: 'Grace Hopper is removed.', focus: { role: 'button', name: 'Key rules for Ada Lovelace' } },
  },
  {
    ...{ path: '/members', opener: `Revoke the invitation of ${INVITED}`, title: 'Revoke this invitation?' },
    ...{
      action: 'Revoke invitation',
      says: 'The invitation is revoked.',
      focus: { role: 'heading', name: 'Invite somebody' },
    },
  },
  {
    ...{ path: '/budgets', opener: 'Edit the budget of This account', title: 'Budget: This account' },
    ...{ fields: { Month: '90' }, says: 'The budget applies from the next request on.' },
  },
  {
    ...{ path: '/budgets', opener: 'Grant more to This account', title: 'Grant more: This account' },
    ...{ fields: { 'Amount in USD': '1' }, says: 'The grant applies until the window ends.' },
  },
]

let gateway: TestGateway
const browser = testBrowser()
let owner: Person
let other: Person
let keyId: string
let batchId: string

beforeAll(async () => {
  gateway = await startGateway({ respond: () => new Response('{}') })
  other = await signUpPerson(gateway, { name: 'Grace Hopper' })
})
beforeEach(async () => {
  owner = await signUpPerson(gateway, { name: 'Ada Lovelace' })
  const { accountId, userId, email } = owner.viewer
  const ask = (method: string, path: string, body: object) =>
    owner.json(method, `/dashboard/api/a/:accountId/${path}`, body)
  await ask('POST', 'organisation', { name: 'Engines Ltd', country: 'GB' })
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${accountId}, ${other.viewer.userId}, 'developer')`
  await gateway.gateway.database.sql`INSERT INTO memberships (account_id, user_id, role)
    VALUES (${other.viewer.accountId}, ${userId}, 'owner')`
  await addCredit(gateway, accountId, '10')
  const by = { actor: { userId, email } }
  await invite(gateway.gateway.database, { accountId, by }, { email: INVITED, role: 'viewer' })
  const key = await ask('POST', 'keys', { name: 'Robot' })
  keyId = (key.body as { item: { id: string } }).item.id
  const lines = [{ customId: 'one', state: 'waiting' }] as const
  batchId = await storeBatch(gateway, { accountId, keyId, madeBy: userId, status: 'in_progress', lines })
  for (const name of ['ansible', 'terraform']) await ask('POST', 'management-keys', { name, scopes: ['keys:read'] })
  await ask('PUT', `budgets/account/${accountId}`, { dayUsd: '5' })
})
afterAll(() => gateway.stop())

function open(path: string): Promise<Page> {
  const { accountId } = owner.viewer
  const whole = `/dashboard/a/${accountId}${path.replace(':keyId', keyId).replace(':batchId', batchId)}`
  return browser.open(whole, { url: gateway.url, cookie: owner.cookie })
}

test.each(DIALOGS)(
  'the dialog works by keyboard at $path: $title',
  async ({ path, opener, entry, title, fields = {}, action, says, focus }) => {
    const page = await open(path)
    const button = page.getByRole('button', { name: opener, exact: true })
    const dialog = page.getByRole('dialog', { name: title })
    const openDialog = async () => {
      await page.keyboard.press('Enter')
      if (entry) {
        const item = page.getByRole('menuitem', { name: entry })
        await item.waitFor()
        for (let stops = 0; stops < MAX_STOPS && !(await hasFocus(item)); stops++)
          await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
      }
      await until(() => holdsFocus(dialog), 'the focus to be in the dialog')
    }
    await tabTo(page, button)
    await openDialog()
    await goRound(page, dialog)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await until(() => hasFocus(button), 'the focus to be back')
    await openDialog()
    await fillIn(page, dialog, fields)
    if (action) await tabTo(page, dialog.getByRole('button', { name: action }))
    await page.keyboard.press('Enter')
    if (typeof says === 'string') await page.getByText(says).waitFor()
    else await keepKey(page, page.getByRole('dialog', { name: says.title }))
    await dialog.waitFor({ state: 'hidden' })
    const next = focus ? page.getByRole(focus.role, { name: focus.name, exact: true }) : button
    await until(() => hasFocus(next), 'the focus to be back, or beside what has gone')
  },
)

describe('the focus stays', () => {
  test('the focus stays on a choice whose dialog is cancelled', async () => {
    const page = await open('/members')
    const role = page.getByRole('combobox', { name: 'Role of Grace Hopper' })
    await tabTo(page, role)
    await page.keyboard.press('Enter')
    const owners = page.getByRole('option', { name: 'Owner' })
    await owners.waitFor()
    const isChosen = async () => (await owners.getAttribute('data-combobox-selected')) === 'true'
    for (let stops = 0; stops < MAX_STOPS && !(await isChosen()); stops++) await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Make Grace Hopper an owner?' })
    await goRound(page, dialog)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await until(() => hasFocus(role), 'the focus to be back')
    expect(await role.inputValue()).toBe('Developer')
  })

  test('the focus stays on a switch after it is switched off and on', async () => {
    const page = await open('/alerts')
    const budgets = page.getByRole('switch', { name: 'Budgets' })
    await tabTo(page, budgets)
    for (const isOn of [false, true]) {
      await page.keyboard.press('Space')
      await until(async () => (await budgets.isChecked()) === isOn, 'the switch to change')
      expect(await hasFocus(budgets)).toBe(true)
    }
    const low = page.getByLabel('Low credit, in USD', { exact: true })
    await tabTo(page, low)
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('80')
    await page.keyboard.press('Enter')
    await page.getByText('The alerts were saved.').waitFor()
    expect(await hasFocus(low)).toBe(true)
  })

  test.each([
    ['/keys', 'Revoke terraform', 'Revoke key'],
    ['/budgets', 'Grant more to This account', 'Grant'],
  ])('if a request of the dialog %s is refused, the focus stays on its button', async (path, opener, action) => {
    const page = await open(path)
    await tabTo(page, page.getByRole('button', { name: opener }))
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await until(() => holdsFocus(dialog), 'the focus to be in the dialog')
    const refusal = { error: { message: 'Out for lunch.', type: 'x', param: null, code: null } }
    await page.route('**/dashboard/api/a/**', (asked) => asked.fulfill({ status: 409, json: refusal }))
    const send = dialog.getByRole('button', { name: action, exact: true })
    await tabTo(page, send)
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').getByText('Out for lunch.').waitFor()
    await until(() => hasFocus(send), 'the focus to be back')
  })
})
